// SPDX-License-Identifier: Apache-2.0
#include "run/script/requirements.h"

#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "base/strings.h"
#include "run/script/child_group.h"

namespace meridian::run {
namespace fs = std::filesystem;
namespace {

constexpr char kEnvironment[] = "/tmp/meridian-venv";

ChildGroup::Outcome run_in(const fs::path& directory, const std::vector<std::string>& command) {
  ChildGroup child;
  child.start(command, {{"PIP_DISABLE_PIP_VERSION_CHECK", "1"}, {"PIP_NO_INPUT", "1"}},
              directory.string());
  return child.wait();
}

// Without pip of its own: the system's is visible, and ensurepip is a package of its own.
void make_environment(const std::string& python) {
  const auto made = run_in(
      "/tmp", {python, "-m", "venv", "--system-site-packages", "--without-pip", kEnvironment});
  if (made.code == 0) return;
  throw base::Error(base::Code::failed_precondition,
                    "cannot make a virtual environment for the code's packages (is python3-venv "
                    "installed?): " +
                        pip_reason(made.last_errors));
}

void install(const std::string& python, const std::string& what,
             const std::vector<std::string>& words, const fs::path& code) {
  std::printf("meridian: installing %s\n", (code / what).c_str());
  std::fflush(stdout);
  std::vector<std::string> command{python, "-m", "pip", "install"};
  command.insert(command.end(), words.begin(), words.end());
  const auto pip = run_in(code, command);
  if (pip.code == 0) return;
  throw base::Error(base::Code::failed_precondition,
                    "cannot install " + what + ": " + pip_reason(pip.last_errors));
}

// A plain setup.py is built with what is installed already: a build environment of its own would
// have to be downloaded.
std::vector<std::string> package_words(const std::string& python, const fs::path& code) {
  std::error_code ignored;
  const bool own_environment =
      fs::exists(code / "pyproject.toml", ignored) ||
      run_in("/tmp",
             {"/bin/sh", "-c", "exec \"$0\" -c 'import setuptools, wheel' 2>/dev/null", python})
              .code != 0;
  if (own_environment) return {"."};
  return {"--no-build-isolation", "."};
}

}  // namespace

std::string pip_reason(std::string_view output) {
  std::string last, last_error;
  for (const std::string& line : base::split(output, '\n')) {
    const std::string text(base::trim(line));
    if (text.empty()) continue;
    last = text;
    if (text.starts_with("ERROR")) last_error = text;
  }
  return last_error.empty() ? last : last_error;
}

std::string install_packages(const std::string& python, const fs::path& code) {
  std::error_code ignored;
  const bool requirements = fs::exists(code / "requirements.txt", ignored);
  const bool package = fs::exists(code / "setup.py", ignored);
  if (!requirements && !package) return python;
  make_environment(python);
  const std::string own_python = std::string(kEnvironment) + "/bin/python";
  if (requirements) install(own_python, "requirements.txt", {"-r", "requirements.txt"}, code);
  if (package) install(own_python, "setup.py", package_words(own_python, code), code);
  const char* path = getenv("PATH");
  setenv("PATH",
         (std::string(kEnvironment) + "/bin:" + (path != nullptr ? path : "/usr/bin:/bin")).c_str(),
         1);
  setenv("VIRTUAL_ENV", kEnvironment, 1);
  return own_python;
}

}  // namespace meridian::run
