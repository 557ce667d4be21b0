// `meridian up`, `down`, `status` and `version`.
//
// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ostream>

#include "base/file.h"
#include "base/json.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/format.h"
#include "cli/output.h"

namespace meridian::cli {
namespace {

struct UpFlags {
  UpOptions up;
  int port = 8470;
  std::string regions;
};

int up(Context& context, const UpFlags& flags) {
  UpOptions options = flags.up;
  options.data = context.data();
  if (flags.port < 0 || flags.port > 65533)
    throw base::Error(base::Code::invalid_argument,
                      "--port " + std::to_string(flags.port) + ": 0 (any free) to 65533");
  options.port = static_cast<std::uint16_t>(flags.port);
  for (const auto& region : base::split(flags.regions, ','))
    if (!base::trim(region).empty()) options.regions.emplace_back(base::trim(region));
  if (!context.hooks.up)
    throw base::Error(base::Code::unimplemented, "this program was built without the daemon");
  return context.hooks.up(options);
}

std::int64_t running_jobs(Context& context) {
  std::int64_t count = 0;
  for (const auto& region : context.session().installation().regions) {
    Installation there = context.session().installation();
    there.region = region;
    Session session(there, context.clock);
    const auto page = session.sagemaker().call(
        "ListTrainingJobs", {{"StatusEquals", "InProgress"}, {"MaxResults", 100}});
    if (const auto* jobs = base::find(page, "TrainingJobSummaries"))
      count += static_cast<std::int64_t>(jobs->as_array().size());
  }
  return count;
}

// Waits until the process has ended; a pidfd can't mean another process that got its number.
bool wait_for_end(int pidfd, int seconds) {
  pollfd waiting{.fd = pidfd, .events = POLLIN, .revents = 0};
  return poll(&waiting, 1, seconds * 1000) == 1;
}

int down(Context& context, int timeout_seconds) {
  const auto data = context.data();
  const auto run = find_run_file(data);
  if (!run || !is_running(*run)) {
    context.console.say("No Meridian runs on " + data.string() + ".");
    return 0;
  }
  std::int64_t jobs = 0;
  try {
    jobs = running_jobs(context);
  } catch (const base::Error&) {
    // It does not answer: all the more reason to end it.
  }
  const base::UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, run->pid, 0)));
  if (!pidfd || !is_running(*run)) return 0;
  if (kill(run->pid, SIGTERM) != 0) throw base::errno_error(errno, "stopping the daemon");
  if (!wait_for_end(pidfd.get(), timeout_seconds)) {
    context.console.say("The daemon (pid " + std::to_string(run->pid) + ") has not ended after " +
                        std::to_string(timeout_seconds) + " s.");
    return 1;
  }
  context.console.say("Stopped.");
  if (jobs > 0)
    context.console.say(count_of(jobs, "training job") +
                        " in progress: what runs goes on, and the next `meridian up` takes it "
                        "back.");
  return 0;
}

base::JsonObject status_of(Context& context, const RunFile& run) {
  auto& session = context.session();
  base::JsonObject ports, regions;
  for (const auto& [name, port] : run.ports) ports[name] = port;
  for (const auto& region : run.regions) {
    Installation there = session.installation();
    there.region = region;
    Session other(there, context.clock);
    regions[region] = other.sagemaker().call_meridian("capacity", {});
  }
  return {{"pid", run.pid},
          {"data", context.data().string()},
          {"endpoint", session.installation().endpoint},
          {"account", session.account()},
          {"ports", std::move(ports)},
          {"regions", std::move(regions)},
          {"jobs_in_progress", running_jobs(context)}};
}

// "6 of 8 instances free" of the answer of /_meridian/v1/capacity, with the pools' names where they
// have one.
std::string pools_text(const base::Json& capacity) {
  std::string text;
  const auto* pools = base::find(capacity, "pools");
  if (pools == nullptr || !pools->is_array()) return base::to_text(capacity);
  for (const auto& pool : pools->as_array()) {
    const auto name = base::string_or(pool, "name");
    text += (text.empty() ? "" : "; ") + name + (name.empty() ? "" : ": ") +
            std::to_string(base::int_or(pool, "free", 0)) + " of " +
            std::to_string(base::int_or(pool, "count", 0)) + " instances free";
  }
  if (const auto* waiting = base::find(capacity, "waiting");
      waiting != nullptr && waiting->is_array() && !waiting->as_array().empty())
    text += "; " + std::to_string(waiting->as_array().size()) + " waiting";
  return text;
}

int status(Context& context, const std::string& format_name) {
  const auto format = parse_format(format_name);
  const auto data = context.data();
  const auto run = find_run_file(data);
  if (!run || !is_running(*run)) {
    context.console.say("No Meridian runs on " + data.string() +
                        "; start it with: meridian up --detach");
    return 1;
  }
  const auto all = status_of(context, *run);
  auto& out = context.console.out();
  if (format == Format::json || format == Format::yaml) {
    print_value(out, base::Json(all), format);
    return 0;
  }
  out << "Running      pid " << run->pid << ", account "
      << base::string_or(base::Json(all), "account") << '\n';
  out << "Endpoint     " << context.session().installation().endpoint << '\n';
  out << "Data         " << data.string() << '\n';
  for (const auto& [region, capacity] : all.at("regions").as_object())
    out << "Region       " << std::string(region) << "  " << pools_text(capacity) << '\n';
  out << "In progress  "
      << count_of(all.at("jobs_in_progress").to_number<std::int64_t>(), "training job") << '\n';
  return 0;
}

}  // namespace

void add_daemon_commands(Command root, Context& context) {
  auto flags = std::make_shared<UpFlags>();
  auto starting = root.add("up", "Start everything on this machine",
                           "meridian up --detach --regions us-west-2,eu-central-1");
  starting.option("--port", flags->port, "N: AWS face, N+2: health and metrics; 0 = any free ones");
  starting.option("--listen", flags->up.listen, "address to listen on");
  starting.option("--regions", flags->regions,
                  "names, separated by commas; the first is the default");
  starting.option("--certificate", flags->up.certificate, "PEM file, needed off loopback");
  starting.option("--key", flags->up.key, "PEM file of its key");
  starting.flag("--strict", flags->up.strict, "refuse requests for protection that is not given");
  starting.flag("--detach", flags->up.detach, "return once it is ready");
  starting.run([flags, &context] { return up(context, *flags); });

  auto timeout = std::make_shared<int>(60);
  auto ending = root.add("down", "Stop the daemon; running trainings go on", "meridian down");
  ending.option("--timeout", *timeout, "seconds to wait for it");
  ending.run([timeout, &context] { return down(context, *timeout); });

  auto format = std::make_shared<std::string>("table");
  auto showing =
      root.add("status", "What runs here, and how much of it is free", "meridian status -o json");
  showing.option("-o,--format", *format, "table, json or yaml");
  showing.run([format, &context] { return status(context, *format); });

  auto version = root.add("version", "Print the version", "meridian version");
  version.run([&context] {
    context.console.out() << "meridian " << context.hooks.version << '\n';
    return 0;
  });
}

}  // namespace meridian::cli
