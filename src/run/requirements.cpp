// SPDX-License-Identifier: Apache-2.0
#include "run/requirements.h"

#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "base/strings.h"
#include "run/child_group.h"

namespace meridian::run {
namespace {

constexpr char kEnvironment[] = "/tmp/meridian-venv";

ChildGroup::Outcome run_quietly(const std::vector<std::string>& command) {
  ChildGroup child;
  child.start(command, {{"PIP_DISABLE_PIP_VERSION_CHECK", "1"}, {"PIP_NO_INPUT", "1"}}, "/tmp");
  return child.wait();
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

std::string install_requirements(const std::string& python, const std::filesystem::path& file) {
  std::printf("meridian: installing %s\n", file.c_str());
  std::fflush(stdout);
  // Without pip of its own: the system's is visible, and ensurepip is a package of its own.
  auto made =
      run_quietly({python, "-m", "venv", "--system-site-packages", "--without-pip", kEnvironment});
  if (made.code != 0) {
    throw base::Error(base::Code::failed_precondition,
                      "cannot make a virtual environment for requirements.txt (is python3-venv "
                      "installed?): " +
                          pip_reason(made.last_errors));
  }
  const std::string own_python = std::string(kEnvironment) + "/bin/python";
  const auto pip = run_quietly({own_python, "-m", "pip", "install", "-r", file.string()});
  if (pip.code != 0) {
    throw base::Error(base::Code::failed_precondition,
                      "cannot install requirements.txt: " + pip_reason(pip.last_errors));
  }
  const char* path = getenv("PATH");
  setenv("PATH",
         (std::string(kEnvironment) + "/bin:" + (path != nullptr ? path : "/usr/bin:/bin")).c_str(),
         1);
  setenv("VIRTUAL_ENV", kEnvironment, 1);
  return own_python;
}

}  // namespace meridian::run
