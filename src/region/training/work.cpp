// The activities of a job, and what is done beside a running program.
//
// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
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
    if (staged.warnings.empty()) return true;
    if (current.attempt == 1)
      for (const auto& warning : staged.warnings) add_warning(current, warning);
    enter(current, current.secondary,
          current.transitions.back().message + "; " + base::join(staged.warnings, "; "),
          core.parts.clock.now());
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
    work = [core = &core_, record, sync = sync_of(record, spec, memory),
            meter = meter_of(record, spec, memory)](std::stop_token stop) {
      meter->measure(Meter::Moment::ended, stop);  // the last word on short jobs
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

std::string Controller::measure_name(const JobRecord& record) const {
  return work_name(record) + "/measure";
}

std::shared_ptr<Meter> Controller::meter_of(const JobRecord& record, const JobSpec& spec,
                                            Memory& memory) {
  if (!memory.meter) memory.meter = std::make_shared<Meter>(core_, record, spec);
  return memory.meter;
}

void Controller::measure_sometimes(const JobRecord& record, const JobSpec& spec, Memory& memory) {
  base::Ticks now = core_.parts.clock.ticks();
  if (memory.measured && now - *memory.measured < kMeasureEvery) return;
  const std::string name = measure_name(record);
  if (auto status = core_.parts.activities.find(name)) {
    if (status->phase == control::ActivityStatus::Phase::running) return;
    core_.parts.activities.forget(name);
  }
  memory.measured = now;
  core_.parts.activities.ensure(name, core_.step_key(record.name),
                                [meter = meter_of(record, spec, memory)](std::stop_token stop) {
                                  meter->measure(Meter::Moment::running, stop);
                                });
}

}  // namespace meridian::region::training
