// What a step does after it decided. Each writes the record first where the order matters.
//
// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "base/file.h"
#include "base/log.h"
#include "base/metrics.h"
#include "region/training/beneath.h"
#include "region/training/controller.h"
#include "region/training/failure.h"
#include "region/training/launch.h"
#include "region/training/staging.h"

namespace meridian::region::training {

using Act = Decision::Act;
using InstancePhase = run::InstanceStatus::Phase;

Controller::Next Controller::apply(JobRecord& record, const JobSpec& spec, const Observed& observed,
                                   const Decision& decision, Memory& memory) {
  switch (decision.act) {
    case Act::wait: return Next::wait;
    case Act::begin: begin(record, spec, memory); break;
    case Act::do_work: start_work(record, spec, memory); break;
    case Act::drop_work: core_.parts.activities.cancel(work_name(record)); return Next::wait;
    case Act::launch: launch(record, spec); break;
    case Act::start: start_missing(record, spec, observed); return Next::wait;
    case Act::end_gang: end_gang(record, spec, observed, decision); break;
    case Act::press: press(record, spec, observed, memory); return Next::wait;
    case Act::upload: begin_upload(record, spec, observed, decision.cause, memory); break;
    case Act::restart: restart(record, spec, decision.cause); break;
    case Act::finish: finish(record, spec, decision.cause, memory); break;
  }
  return Next::look_again;
}

void Controller::begin(JobRecord& record, const JobSpec& spec, Memory& memory) {
  base::Timestamp now = core_.parts.clock.now();
  record.gpus = memory.lease.gpus;
  if (!record.started) record.started = now;
  record.modified = now;
  enter(record, "Starting", "Preparing the instances for training", now);
  if (!spec.channels.empty()) enter(record, "Downloading", "Downloading input data", now);
  move_to(record, Phase::staging);
  core_.records.save(record);
}

void Controller::launch(JobRecord& record, const JobSpec& spec) {
  base::Timestamp now = core_.parts.clock.now();
  core_.parts.activities.forget(work_name(record));
  std::int64_t epoch = now.ms / 1000;
  auto stream = [&](const std::string& host) {
    return record.name + "/" + host + "-" + std::to_string(epoch);
  };
  // A restart within the same second still gets streams of its own.
  if (!record.streams.empty() && record.streams.front() >= stream("algo-1")) ++epoch;
  record.streams.clear();
  for (const HostSlot& slot : spec.hosts()) record.streams.push_back(stream(slot.host));
  record.modified = now;
  std::string message = "Training image download completed. Training in progress.";
  if (auto ran = base::find_string(base::Json(record.program), "explanation"))
    message += " Program: " + *ran;
  enter(record, "Training", message, now);
  move_to(record, Phase::running);
  core_.records.save(record);
}

void Controller::start_missing(JobRecord& record, const JobSpec& spec, const Observed& observed) {
  auto hosts = spec.hosts();
  LaunchFacts facts{.cores = static_cast<int>(std::thread::hardware_concurrency())};
  identity::Principal principal{
      .account = core_.settings.account,
      .name = "training/" + record.name,
      .arn = "arn:aws:sts::" + core_.settings.account + ":assumed-role/training/" + record.name,
      .role = identity::Role::editor,
      .scope = identity::Scope::job};
  facts.keys = core_.parts.identity.add_temporary_key(
      principal, base::Duration(spec.bounds.max_runtime_ms) + base::Duration(86'400'000),
      core_.key_owner(record.name));
  const std::string group(kLogGroup);
  for (std::size_t i = 0; i < hosts.size(); ++i)
    facts.log_files[hosts[i].host] = core_.parts.telemetry.log_file(group, record.streams.at(i));
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    core_.parts.telemetry.follow({group, record.streams[i], facts.log_files[hosts[i].host],
                                  record.name, hosts[i].host, spec.metrics});
    if (observed.instances.at(i).phase != InstancePhase::unknown) continue;
    try {
      core_.parts.engine.start(instance_spec(core_, record, spec, hosts[i], facts));
    } catch (const base::Error& error) {
      if (error.retryable()) throw;
      // What can't be started ends the gang like an instance that ended badly.
      Decision decision{Act::end_gang, blame_of(error), i};
      Observed seen = observed;
      seen.instances[i].exit =
          run::ExitStatus{.kind = run::ExitStatus::Kind::not_started, .message = error.what()};
      end_gang(record, spec, seen, decision);
      core_.parts.runner.add(core_.step_key(record.name));
      return;
    }
  }
}

void Controller::end_gang(JobRecord& record, const JobSpec& spec, const Observed& observed,
                          const Decision& decision) {
  base::Timestamp now = core_.parts.clock.now();
  record.cause = decision.cause;
  record.modified = now;
  if (is_killed_at_once(decision.cause)) record.failed = now;
  record.timings.ending_ms = 0;
  if (!decision.instance && (decision.cause == Cause::client || decision.cause == Cause::lost))
    record.failed_exit = exit_json({.kind = run::ExitStatus::Kind::not_started,
                                    .message = memory_of(record.name)->work_error});
  if (decision.instance) {
    record.failed_host = spec.hosts().at(*decision.instance).host;
    record.failed_exit = exit_json(*observed.instances.at(*decision.instance).exit);
  }
  switch (decision.cause) {
    case Cause::reclaim:
      enter(record, "Interrupted", "Training job interrupted: the spot capacity was reclaimed",
            now);
      break;
    case Cause::user_stop: break;  // StopTrainingJob has said so already
    case Cause::max_runtime:
    case Cause::max_wait:
      record.status = "Stopping";
      enter(record, "Stopping", std::string(ending_of(decision.cause)->message), now);
      break;
    default: break;
  }
  end_feeding(record);
  move_to(record, Phase::ending);
  core_.records.save(record);
}

void Controller::press(const JobRecord& record, const JobSpec& spec, const Observed& observed,
                       Memory& memory) {
  auto hosts = spec.hosts();
  // The supervisor keeps the grace; this is for one that doesn't.
  constexpr std::int64_t kSlackMs = 10'000;
  bool overdue = observed.timings.ending_ms > observed.bounds.grace_ms + kSlackMs;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (observed.instances[i].phase == InstancePhase::ended ||
        observed.instances[i].phase == InstancePhase::unknown)
      continue;
    const std::string id = core_.instance_id(record, hosts[i].host);
    if (is_killed_at_once(record.cause) || overdue)
      core_.parts.engine.kill(id);
    else if (memory.pressed.insert(id).second)
      core_.parts.engine.stop(id);
  }
}

void Controller::begin_upload(JobRecord& record, const JobSpec& spec, const Observed& observed,
                              Cause cause, Memory& memory) {
  memory.no_room_since.reset();
  for (const auto& instance : observed.instances)
    for (const std::string& note : instance.notes) add_warning(record, "sandbox: " + note);
  record.exits.clear();
  auto hosts = spec.hosts();
  for (std::size_t i = 0; i < observed.instances.size(); ++i)
    if (const auto& exit = observed.instances[i].exit)
      record.exits.push_back(exit_facts(hosts.at(i).host, *exit));
  end_feeding(record);
  core_.parts.activities.forget(measure_name(record));
  base::Timestamp now = core_.parts.clock.now();
  record.cause = cause;
  record.modified = now;
  bool goes_on = cause == Cause::reclaim || cause == Cause::lost;
  if (!goes_on && cause != Cause::failed && cause != Cause::client)
    enter(record, "Uploading", "Uploading generated training model", now);
  move_to(record, Phase::uploading);
  core_.records.save(record);
}

void Controller::restart(JobRecord& record, const JobSpec& spec, Cause cause) {
  base::Timestamp now = core_.parts.clock.now();
  JobRecord former = record;
  record.attempt += 1;
  record.cause = Cause::none;
  record.reclaim_requested = false;
  record.failed_host.clear();
  record.failed_exit.clear();
  record.failed.reset();
  record.timings.attempt_ms = record.timings.ending_ms = 0;
  record.modified = now;
  if (cause == Cause::reclaim) {
    record.reclaims += 1;
    enter(record, "Starting", "Starting the training job again after the interruption", now);
  } else {
    record.retries += 1;
    enter(record, "Restarting",
          "Restarting the training job after an internal error (retry " +
              std::to_string(record.retries) + " of " + std::to_string(spec.bounds.retries) + ")",
          now);
  }
  move_to(record, Phase::leasing);
  if (!core_.records.save(record, {core_.parts.capacity.release(Core::lease_owner(record.name))}))
    return;
  forget_instances(former, spec);
  core_.parts.activities.forget(work_name(former));
  core_.parts.identity.remove_keys_of(core_.key_owner(record.name));
  auto memory = memory_of(record.name);
  memory->sync.reset();
  memory->pressed.clear();
  memory->meter.reset();
  memory->measured.reset();
  core_.wake_waiting();
}

std::string Controller::failure_reason(const JobRecord& record, const JobSpec& spec, Cause cause,
                                       const Memory& memory) {
  run::ExitStatus exit = parse_exit(record.failed_exit);
  const std::string& told = record.failed_exit.empty() ? memory.work_error : exit.message;
  if (cause == Cause::client) return client_error(told);
  if (cause == Cause::capacity) return capacity_error(told);
  if (cause == Cause::lost) return internal_error(told);
  if (cause != Cause::failed) return "";
  FailureFacts facts{.exit = exit, .host = record.failed_host};
  auto hosts = spec.hosts();
  auto failure_file = [&](const std::string& host) {
    return read_beneath(core_.instance_directory(record, host), "ml/output/failure", 64u << 10);
  };
  facts.file = failure_file(record.failed_host);
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (facts.file.empty()) facts.file = failure_file(hosts[i].host);
    if (hosts[i].host == record.failed_host && i < record.streams.size()) {
      facts.last_lines =
          core_.parts.telemetry.last_lines(std::string(kLogGroup), record.streams[i], 20);
      facts.memory_limit_bytes = core_.pool_for(hosts[i].type).memory_bytes;
    }
  }
  return algorithm_error(facts);
}

void Controller::finish(JobRecord& record, const JobSpec& spec, Cause cause, Memory& memory) {
  auto ending = ending_of(cause);
  if (!ending) throw base::Error(base::Code::internal, "a job can't end for this cause");
  base::Timestamp now = core_.parts.clock.now();
  const std::string work = work_name(record);
  record.failure_reason = failure_reason(record, spec, cause, memory);
  record.cause = cause;
  record.status = ending->status;
  record.modified = now;
  record.ended = ending->status == "Failed" && record.failed ? *record.failed : now;
  std::string message(ending->message);
  if (!record.streams.empty()) {
    record.final_metrics.clear();
    for (const auto& metric : core_.parts.telemetry.final_metrics(record.name))
      record.final_metrics.push_back(base::JsonObject{{"MetricName", metric.name},
                                                      {"Value", metric.value},
                                                      {"Timestamp", metric.at.seconds()}});
    for (const std::string& warning : core_.parts.telemetry.metric_warnings(record.name))
      record.warnings.push_back("metrics: " + warning);
    if (auto doctor = core_.parts.telemetry.metric_doctor(record.name)) {
      record.warnings.push_back("metrics: " + *doctor);
      // Beside a failure's reason it would only distract.
      if (cause == Cause::completed) message += ". Metrics: " + *doctor;
    }
  }
  enter(record, ending->secondary, message, now);
  record.transitions.back().end = now;
  move_to(record, Phase::done);
  std::vector<store::Write> lease = keep_warm(record, spec);
  if (lease.empty()) lease = {core_.parts.capacity.release(Core::lease_owner(record.name))};
  if (!core_.records.save(record, std::move(lease))) return;
  core_.parts.activities.forget(work);
  core_.wake_waiting();
  base::metrics()
      .counter("meridian_training_jobs_total", "Training jobs that ended",
               {{"region", core_.settings.region}, {"status", record.secondary}})
      .add();
  base::log_info(
      "training job ended",
      {{"job", record.name}, {"status", record.status}, {"reason", record.failure_reason}});
}

}  // namespace meridian::region::training
