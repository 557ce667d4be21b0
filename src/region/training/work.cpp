// The activities of a job, and what is done beside a running program.
//
// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "region/telemetry/host_metrics.h"
#include "region/training/controller.h"
#include "region/training/layout.h"
#include "region/training/pipe.h"
#include "region/training/staging.h"

namespace meridian::region::training {
namespace {

constexpr base::Duration kMeasureEvery{60'000};

void do_staging(Core& core, const JobRecord& record, std::stop_token stop) {
  auto show = [&](const s3::Progress& progress) { (*core.staging.lock())[record.name] = progress; };
  Staged staged = stage_job(core, record, show, stop);
  core.records.keep_run_record(record.name, staged.run_record);
  core.records.update(record.name, [&](JobRecord& current) {
    if (current.attempt != record.attempt || current.phase != Phase::staging) return false;
    current.program = program_json(staged.program);
    if (current.attempt == 1)
      for (const auto& warning : staged.warnings) add_warning(current, warning);
    return true;
  });
}

void do_uploading(Core& core, const JobRecord& record, OutputSync& sync, std::stop_token stop) {
  Uploaded uploaded = upload_outputs(core, record, read_spec(record.request), sync, stop);
  core.records.update(record.name, [&](JobRecord& current) {
    if (current.attempt != record.attempt || current.phase != Phase::uploading) return false;
    current.model_uri = uploaded.model_uri;
    for (const auto& name : uploaded.left_out)
      add_warning(current, name + ": left out of the upload");
    return true;
  });
}

void do_sync(Core& core, const std::string& job, OutputSync& sync, std::stop_token stop) {
  auto result = sync.upload(stop);
  core.records.update(job, [&](JobRecord& current) {
    if (current.terminal()) return false;
    std::int64_t before = base::int_or(base::Json(current.sync), "Uploaded", 0);
    current.sync = {{"Uploaded", before + static_cast<std::int64_t>(result.uploaded)},
                    {"Pending", result.pending},
                    {"At", core.parts.clock.now().seconds()}};
    return true;
  });
}

}  // namespace

void Controller::start_work(const JobRecord& record, const JobSpec& spec, Memory& memory) {
  control::Work work;
  if (record.phase == Phase::staging)
    work = [core = &core_, record](std::stop_token stop) { do_staging(*core, record, stop); };
  else
    work = [core = &core_, record, sync = sync_of(record, spec, memory)](std::stop_token stop) {
      do_uploading(*core, record, *sync, stop);
    };
  core_.parts.activities.ensure(work_name(record), core_.step_key(record.name), std::move(work));
}

std::shared_ptr<OutputSync> Controller::sync_of(const JobRecord& record, const JobSpec& spec,
                                                Memory& memory) {
  if (!memory.sync) memory.sync = std::make_shared<OutputSync>(core_, record, spec);
  return memory.sync;
}

void Controller::sync_sometimes(const JobRecord& record, const JobSpec& spec, Memory& memory) {
  auto sync = sync_of(record, spec, memory);
  base::Ticks now = core_.parts.clock.ticks();
  if (!memory.synced) memory.synced = now;
  if (sync->empty() || now - *memory.synced < core_.settings.heartbeat) return;
  const std::string name = work_name(record) + "/sync";
  if (auto status = core_.parts.activities.find(name)) {
    if (status->phase == control::ActivityStatus::Phase::running) return;
    core_.parts.activities.forget(name);
  }
  memory.synced = now;
  core_.parts.activities.ensure(name, core_.step_key(record.name),
                                [core = &core_, job = record.name, sync](std::stop_token stop) {
                                  do_sync(*core, job, *sync, stop);
                                });
}

std::string Controller::feed_name(const JobRecord& record) const {
  return core_.settings.step_kind + ":" + record.name + "." + record.uid + "/" +
         std::to_string(record.attempt) + "/pipes";
}

void Controller::feed_pipes_of(JobRecord& record, const JobSpec& spec) {
  std::vector<PipeFeed> feeds;
  for (const Channel& channel : spec.channels) {
    if (channel.mode != InputMode::pipe || !channel.s3) continue;
    std::vector<HostSlot> hosts;
    for (const HostSlot& slot : spec.hosts())
      if (channel.is_for(slot.group)) hosts.push_back(slot);
    for (std::size_t i = 0; i < hosts.size(); ++i)
      feeds.push_back({core_.instance_directory(record, hosts[i].host), "ml/input/data", channel, i,
                       hosts.size()});
  }
  if (feeds.empty()) return;
  if (!core_.parts.activities.find(feed_name(record))) {
    // The first look of this process: FIFOs beyond the first were fed by an earlier one.
    for (const PipeFeed& feed : feeds)
      if (int epoch = newest_epoch(feed.instance / feed.directory, feed.channel.name); epoch > 0)
        add_warning(record, "channel '" + feed.channel.name +
                                "': the daemon restarted while epoch " + std::to_string(epoch - 1) +
                                " may have been read; it then ended early for the program");
    if (!record.warnings.empty()) core_.records.save(record);
  }
  core_.parts.activities.ensure(feed_name(record), core_.step_key(record.name),
                                [core = &core_, feeds](std::stop_token stop) {
                                  feed_pipes(core->parts.objects, feeds, stop);
                                });
}

void Controller::end_feeding(const JobRecord& record) {
  core_.parts.activities.cancel(feed_name(record));
}

void Controller::measure(const JobRecord& record, const JobSpec& spec, Memory& memory) {
  base::Ticks now = core_.parts.clock.ticks();
  base::Duration elapsed = memory.measured ? now - *memory.measured : base::Duration(0);
  memory.measured = now;
  int cores = static_cast<int>(std::thread::hardware_concurrency());
  for (const HostSlot& slot : spec.hosts()) {
    run::Usage usage = core_.parts.engine.usage(core_.instance_id(record, slot.host));
    run::Usage& before = memory.usage[slot.host];
    if (elapsed.count() > 0)
      telemetry::put_host_metrics(
          core_.parts.telemetry, record.name, slot.host, before, usage,
          static_cast<double>(elapsed.count()) / 1000,
          capacity::cpu_share(core_.pool_for(slot.type), slot.type, spec.instance_count(), cores));
    before = usage;
  }
}

void Controller::measure_sometimes(const JobRecord& record, const JobSpec& spec, Memory& memory) {
  base::Ticks now = core_.parts.clock.ticks();
  if (!memory.measured || now - *memory.measured >= kMeasureEvery) measure(record, spec, memory);
}

}  // namespace meridian::region::training
