// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "cli/doctor.h"
#include "cli/format.h"

namespace meridian::cli {
namespace {

using Findings = std::vector<Finding>;

void good(Findings& all, std::string what) { all.push_back({Level::good, std::move(what), ""}); }
void note(Findings& all, std::string what, std::string mend) {
  all.push_back({Level::note, std::move(what), std::move(mend)});
}
void bad(Findings& all, std::string what, std::string mend) {
  all.push_back({Level::bad, std::move(what), std::move(mend)});
}

// "2.9.19" as {2, 9}; zeros where there is no number.
std::pair<std::int64_t, std::int64_t> major_minor(std::string_view version) {
  const auto parts = base::split(version, '.');
  const auto part = [&](std::size_t at) {
    return at < parts.size() ? base::to_int(parts[at]).value_or(0) : 0;
  };
  return {part(0), part(1)};
}

void judge_daemon(const Facts& facts, Findings& all) {
  if (facts.daemon_error.empty())
    good(all, "a daemon answers on " + facts.data);
  else
    bad(all, facts.daemon_error, "meridian --data " + shell_quote(facts.data) + " up --detach");
  if (!facts.init_found)
    bad(all, "meridian-init, which starts instances, is not beside this program",
        "./dev build, or install both programs into one directory");
}

void judge_data(const Facts& facts, Findings& all) {
  constexpr std::uint64_t little = 2ull << 30;
  if (facts.data_exists && !facts.data_writable)
    bad(all, "the data directory " + facts.data + " is not writable for you",
        "chown it to the user that runs `meridian up`, or choose another with --data");
  if (!facts.free_bytes) return;
  const auto free = base::format_bytes(*facts.free_bytes);
  if (*facts.free_bytes < little)
    bad(all, "only " + free + " are free where " + facts.data + " lies",
        "free some space, or choose another place with --data");
  else
    good(all, free + " free on the disk of " + facts.data);
}

void judge_clients(const Facts& facts, Findings& all) {
  if (facts.daemon_error.empty() && !facts.environment_set)
    note(all, "this shell does not point aws and boto3 to the installation",
         "eval \"$(meridian env)\"");
  if (facts.aws_version.empty())
    note(all, "there is no aws command on PATH", "apt-get install awscli");
  else if (aws_reads_endpoint(facts.aws_version))
    good(all, "aws " + facts.aws_version + " reads AWS_ENDPOINT_URL");
  else if (facts.wrapper_first)
    good(all, "aws " + facts.aws_version + " gets the endpoint through " + facts.data + "/bin/aws");
  else
    note(all, "aws " + facts.aws_version + " ignores AWS_ENDPOINT_URL and would call AWS itself",
         "eval \"$(meridian env)\" puts a wrapper first on PATH; or give --endpoint-url");
  if (facts.boto3_version.empty())
    note(all, (facts.python.empty() ? "python3" : facts.python) + " has no boto3",
         "apt-get install python3-boto3");
  else if (boto3_reads_endpoint(facts.boto3_version))
    good(all, "boto3 " + facts.boto3_version + " reads AWS_ENDPOINT_URL");
  else
    note(all,
         "boto3 " + facts.boto3_version + " of " + facts.python +
             " ignores AWS_ENDPOINT_URL and would call AWS itself",
         "boto3.client(…, endpoint_url=os.environ['AWS_ENDPOINT_URL']), or boto3 ≥ 1.28 in a "
         "virtual environment");
}

void judge_sandbox(const Facts& facts, Findings& all) {
  if (facts.namespace_error.empty())
    good(all, "user namespaces work: instances are isolated");
  else
    bad(all, "user namespaces are refused (" + facts.namespace_error + ")",
        "sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000");
  using Cgroups = Facts::Cgroups;
  if (facts.cgroups == Cgroups::none || !facts.cgroups_writable)
    note(all, "control groups can't be written: memory limits are per process only",
         "run the daemon as root, or as a systemd service with Delegate=yes "
         "(packaging/meridian.service)");
  else
    good(all, std::string("control groups (") +
                  (facts.cgroups == Cgroups::v2   ? "v2"
                   : facts.cgroups == Cgroups::v1 ? "v1"
                                                  : "hybrid") +
                  ") limit memory");
  if (facts.files_error.empty())
    good(all, "FastFile channels are read on demand");
  else
    note(all,
         "FastFile channels are staged completely before the start, as File (" + facts.files_error +
             ")",
         "let the user that runs `meridian up` read and write /dev/fuse, or run it as root");
  if (!facts.outward_network)
    note(all, "neither pasta nor slirp4netns: programs inside instances reach S3, not the internet",
         "apt-get install passt");
}

void judge_programs(const Facts& facts, Findings& all) {
  if (facts.torch_version.empty())
    note(all, facts.system_python + " has no torch: --framework pytorch will be refused",
         "apt-get install python3-torch");
  else
    good(all, facts.system_python + " has torch " + facts.torch_version);
  if (!facts.mpirun)
    note(all, "no mpirun: MPI trainings will be refused", "apt-get install openmpi-bin");
  else if (!facts.mpi4py)
    note(all, facts.system_python + " has no mpi4py: an exception in one rank can't end the others",
         "apt-get install python3-mpi4py");
  else
    good(all, "Open MPI and mpi4py are there");
  if (!facts.podman) note(all, "no podman: OCI images can't be run", "apt-get install podman runc");
}

}  // namespace

bool aws_reads_endpoint(std::string_view version) {
  const auto [major, minor] = major_minor(version);
  return major > 2 || (major == 2 && minor >= 13) || (major == 1 && minor >= 29);
}

bool boto3_reads_endpoint(std::string_view version) {
  const auto [major, minor] = major_minor(version);
  return major > 1 || (major == 1 && minor >= 28);
}

std::vector<Finding> judge(const Facts& facts) {
  Findings all;
  judge_daemon(facts, all);
  judge_data(facts, all);
  judge_clients(facts, all);
  judge_sandbox(facts, all);
  judge_programs(facts, all);
  return all;
}

}  // namespace meridian::cli
