// SPDX-License-Identifier: Apache-2.0
#include "region/training/controller.h"

#include <algorithm>

#include "base/file.h"
#include "base/log.h"

namespace meridian::region::training {

using Act = Decision::Act;
using control::Outcome;

namespace {
constexpr base::Duration kPoll{5'000};  // running: in case a change was not told
constexpr base::Duration kSoonest{50};
}  // namespace

std::shared_ptr<Controller::Memory> Controller::memory_of(const std::string& job) {
  auto memories = memories_.lock();
  auto& memory = (*memories)[job];
  if (!memory) memory = std::make_shared<Memory>();
  return memory;
}

Outcome Controller::step(const control::Key& key) {
  const std::string job = key.substr(core_.settings.step_kind.size() + 1);
  auto memory = memory_of(job);
  constexpr int kMostMoves = 64;
  for (int move = 0; move < kMostMoves; ++move) {
    auto record = core_.records.find(job);
    if (record && record->cleaned && record->warm()) return watch_warm(*record);
    if (!record || (record->terminal() && record->cleaned)) {
      memories_.lock()->erase(job);
      return Outcome::done();
    }
    if (record->terminal()) return clean(*record);
    const JobSpec spec = read_spec(record->request);
    base::Ticks now = core_.parts.clock.ticks();
    base::Duration since_save(now.ms - record->timings.last_ticks);
    accumulate(record->timings, record->phase, record->started.has_value(), now,
               core_.settings.boot_id);
    Observed observed = observe(*record, spec, *memory);
    Decision decision = decide(observed);
    if (decision.act == Act::wait ||
        apply(*record, spec, observed, decision, *memory) == Next::wait)
      return rest(*record, spec, observed, since_save, *memory);
  }
  return Outcome::again(kSoonest);
}

Outcome Controller::rest(JobRecord& record, const JobSpec& spec, const Observed& observed,
                         base::Duration since_save, Memory& memory) {
  if (record.phase == Phase::running) {
    feed_pipes_of(record, spec);
    sync_sometimes(record, spec, memory);
    measure_sometimes(record, spec, memory);
  }
  // A lost race here is a save by somebody else, who kept the time as well.
  if (since_save >= core_.settings.heartbeat) core_.records.save(record);
  bool watches = record.phase == Phase::running || record.phase == Phase::ending;
  base::Duration pause =
      watches ? std::min(kPoll, core_.settings.heartbeat) : core_.settings.heartbeat;
  if (auto limit = next_limit(observed)) pause = std::min(pause, std::max(*limit, kSoonest));
  return Outcome::again(pause);
}

std::string Controller::work_name(const JobRecord& record) const {
  return core_.settings.step_kind + ":" + record.name + "." + record.uid + "/" +
         std::to_string(record.attempt) + "/" + std::string(name(record.phase));
}

Outcome Controller::clean(const JobRecord& record) {
  const JobSpec spec = read_spec(record.request);
  forget_instances(record, spec);
  const std::string work = work_name(record);
  auto status = core_.parts.activities.ensure(
      work, core_.step_key(record.name),
      [core = &core_, directory = core_.directory(record), job = record.name](std::stop_token) {
        core->parts.identity.remove_keys_of(core->key_owner(job));
        base::remove_tree(directory);
        core->records.update(job, [](JobRecord& current) {
          if (!current.terminal() || current.cleaned) return false;
          current.cleaned = true;
          return true;
        });
      });
  if (status.phase == control::ActivityStatus::Phase::running)
    return Outcome::again(core_.settings.heartbeat);
  core_.parts.activities.forget(work);
  if (status.phase == control::ActivityStatus::Phase::failed) {
    base::log_warn("cleaning up after a training job failed",
                   {{"job", record.name}, {"error", status.error ? status.error->what() : ""}});
    return Outcome::again(core_.settings.heartbeat);
  }
  core_.parts.activities.forget(feed_name(record));
  core_.staging.lock()->erase(record.name);
  core_.parts.runner.add(core_.step_key(record.name));  // for warm instances
  memories_.lock()->erase(record.name);
  return Outcome::done();
}

void Controller::forget_instances(const JobRecord& record, const JobSpec& spec) {
  if (!record.streams.empty())
    for (const HostSlot& slot : spec.hosts())
      core_.parts.engine.forget(core_.instance_id(record, slot.host));
}

}  // namespace meridian::region::training
