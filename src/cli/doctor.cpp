// `meridian doctor`: looks at the machine, judges, prints.
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor.h"

#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <ostream>

#include "base/file.h"
#include "base/json.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/format.h"
#include "cli/output.h"

namespace meridian::cli {
namespace {

namespace fs = std::filesystem;

struct Answer {
  int status = -1;
  std::string text;
};

// A shell command with its output; bounded in time by timeout(1).
Answer ask(const std::string& command) {
  Answer answer;
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(
      popen(("timeout 20 sh -c " + shell_quote(command) + " 2>&1").c_str(), "r"), nullptr);
  if (!pipe) return answer;
  char buffer[4096];
  while (const auto size = fread(buffer, 1, sizeof buffer, pipe.get()))
    answer.text.append(buffer, size);
  const int status = pclose(pipe.release());
  answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  answer.text = std::string(base::trim(answer.text));
  return answer;
}

std::string output_of(const std::string& command) {
  const auto answer = ask(command);
  return answer.status == 0 ? answer.text : "";
}

std::string last_line(const std::string& text) {
  return text.substr(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
}

void look_at_daemon(Context& context, Facts& facts) {
  try {
    context.session().sagemaker().call("ListTrainingJobs", {{"MaxResults", 1}});
    facts.environment_set =
        context.environment("AWS_ENDPOINT_URL") == context.session().installation().endpoint;
  } catch (const base::Error& error) {
    facts.daemon_error = base::split(error.what(), '\n').front();
  }
}

void look_at_data(Facts& facts) {
  std::error_code ignored;
  fs::path at = facts.data;
  facts.data_exists = fs::exists(at, ignored);
  facts.data_writable = access(at.c_str(), W_OK) == 0;
  while (!fs::exists(at, ignored) && at.has_relative_path()) at = at.parent_path();
  struct statvfs disk{};
  if (statvfs(at.c_str(), &disk) == 0)
    facts.free_bytes = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
}

void look_at_clients(Facts& facts) {
  const auto first = output_of("command -v aws");
  std::error_code ignored;
  facts.wrapper_first = !first.empty() && fs::equivalent(first, facts.data + "/bin/aws", ignored);
  const auto version = output_of("aws --version | sed -n 's|^aws-cli/\\([0-9.]*\\).*|\\1|p'");
  facts.aws_version = last_line(version);
  facts.python = output_of("command -v python3");
  facts.boto3_version = output_of("python3 -c 'import boto3; print(boto3.__version__)'");
}

void look_at_cgroups(Facts& facts) {
  const fs::path root = "/sys/fs/cgroup";
  std::error_code ignored;
  const bool v2 = fs::exists(root / "cgroup.controllers", ignored);
  const bool v1 = fs::exists(root / "memory", ignored);
  const bool unified = fs::exists(root / "unified", ignored);
  if (v2) facts.cgroups = Facts::Cgroups::v2;
  if (v1) facts.cgroups = unified ? Facts::Cgroups::hybrid : Facts::Cgroups::v1;
  facts.cgroups_writable = access((v1 ? root / "memory" : root).c_str(), W_OK) == 0;
}

void look_at_machine(Facts& facts) {
  std::error_code ignored;
  const auto self = fs::read_symlink("/proc/self/exe", ignored);
  facts.init_found = fs::exists(self.parent_path() / "meridian-init", ignored);
  if (const auto answer = ask("unshare --user --map-root-user --mount --uts --ipc true");
      answer.status != 0)
    facts.namespace_error = answer.text.empty() ? "unshare failed" : last_line(answer.text);
  if (facts.init_found) {
    const auto probe = ask(shell_quote((self.parent_path() / "meridian-init").string()) +
                           " files-probe " + shell_quote(fs::temp_directory_path().string()));
    if (probe.status != 0) facts.files_error = last_line(probe.text);
  } else {
    facts.files_error = "meridian-init is not there";
  }
  look_at_cgroups(facts);
  facts.outward_network = !output_of("command -v pasta || command -v slirp4netns").empty();
  facts.torch_version =
      last_line(output_of(facts.system_python + " -c 'import torch; print(torch.__version__)'"));
  facts.mpirun = !output_of("command -v mpirun").empty();
  facts.mpi4py = ask(facts.system_python + " -c 'import mpi4py'").status == 0;
  facts.podman = !output_of("command -v podman").empty();
}

base::Json to_json(const std::vector<Finding>& findings) {
  base::JsonArray all;
  for (const auto& finding : findings)
    all.emplace_back(base::JsonObject{{"level", finding.level == Level::good   ? "good"
                                                : finding.level == Level::note ? "note"
                                                                               : "bad"},
                                      {"what", finding.what},
                                      {"mend", finding.mend}});
  return all;
}

int doctor(Context& context, const std::string& format_name) {
  const auto format = parse_format(format_name);
  Facts facts;
  facts.data = context.data().string();
  look_at_daemon(context, facts);
  look_at_data(facts);
  look_at_clients(facts);
  look_at_machine(facts);
  const auto findings = judge(facts);
  bool any_bad = false;
  for (const auto& finding : findings) any_bad |= finding.level == Level::bad;
  if (format == Format::json || format == Format::yaml) {
    print_value(context.console.out(), to_json(findings), format);
    return any_bad ? 1 : 0;
  }
  for (const auto& finding : findings) {
    const char* mark = finding.level == Level::good   ? "ok  "
                       : finding.level == Level::note ? "note"
                                                      : "BAD ";
    context.console.out() << mark << "  " << finding.what << '\n';
    if (!finding.mend.empty()) context.console.out() << "      → " << finding.mend << '\n';
  }
  return any_bad ? 1 : 0;
}

}  // namespace

void add_doctor(Command root, Context& context) {
  auto format = std::make_shared<std::string>("table");
  auto command =
      root.add("doctor", "What is wrong here, and the command that mends it", "meridian doctor");
  command.option("-o,--format", *format, "table, json or yaml");
  command.run([format, &context] { return doctor(context, *format); });
}

}  // namespace meridian::cli
