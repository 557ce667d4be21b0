// Carries training jobs on, one step at a time (design D4): observe, decide (plan.h), act, save.
//
// The record is written before the world is changed wherever a restart in between would otherwise
// repeat something that must not be repeated; what is repeated is harmless: leases are by owner,
// instances by directory, activities by name.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <set>

#include "base/sync.h"
#include "control/runner.h"
#include "region/training/core.h"
#include "region/training/meter.h"
#include "region/training/outputs.h"
#include "region/training/plan.h"

namespace meridian::region::training {

class Controller {
 public:
  explicit Controller(Core& core) : core_(core) {}
  control::Outcome step(const control::Key& key);

 private:
  // What this process knows of a job beyond its record. Lost at a restart without harm. Only the
  // job's own step touches it; activities share the OutputSync and the Meter.
  struct Memory {
    std::set<std::string> adopted;  // instance ids
    std::set<std::string> pressed;  // told to stop
    std::shared_ptr<OutputSync> sync;
    std::shared_ptr<Meter> meter;
    std::optional<base::Ticks> synced, measured;
    capacity::Lease lease;
    std::string lease_error;
    std::string work_error;                    // of the phase's activity
    std::optional<base::Ticks> no_room_since;  // results wait for a full disk
    base::Ticks no_room_tried;
  };

  std::shared_ptr<Memory> memory_of(const std::string& job);
  Observed observe(JobRecord& record, const JobSpec& spec, Memory& memory);
  void observe_lease(JobRecord& record, const JobSpec& spec, Memory& memory, Observed& observed);
  void observe_spot(const JobRecord& record, const JobSpec& spec, Observed& observed);
  void wait_for_spot(JobRecord& record);
  void observe_work(const JobRecord& record, Memory& memory, Observed& observed);
  bool waits_for_room(const JobRecord& record, const control::ActivityStatus& failed,
                      Memory& memory, Observed& observed);
  run::InstanceStatus observe_instance(const JobRecord& record, const HostSlot& slot,
                                       Memory& memory);

  enum class Next { look_again, wait };
  Next apply(JobRecord& record, const JobSpec& spec, const Observed& observed,
             const Decision& decision, Memory& memory);
  void begin(JobRecord& record, const JobSpec& spec, Memory& memory);
  void launch(JobRecord& record, const JobSpec& spec);
  void start_missing(JobRecord& record, const JobSpec& spec, const Observed& observed);
  void end_gang(JobRecord& record, const JobSpec& spec, const Observed& observed,
                const Decision& decision);
  void press(const JobRecord& record, const JobSpec& spec, const Observed& observed,
             Memory& memory);
  void begin_upload(JobRecord& record, const JobSpec& spec, const Observed& observed, Cause cause,
                    Memory& memory);
  void restart(JobRecord& record, const JobSpec& spec, Cause cause);
  void finish(JobRecord& record, const JobSpec& spec, Cause cause, Memory& memory);
  std::string failure_reason(const JobRecord& record, const JobSpec& spec, Cause cause,
                             const Memory& memory);

  std::string work_name(const JobRecord& record) const;
  void start_work(const JobRecord& record, const JobSpec& spec, Memory& memory);
  void forget_instances(const JobRecord& record, const JobSpec& spec);
  void sync_sometimes(const JobRecord& record, const JobSpec& spec, Memory& memory);
  void feed_pipes_of(JobRecord& record, const JobSpec& spec);
  void end_feeding(const JobRecord& record);
  std::string feed_name(const JobRecord& record) const;
  std::string measure_name(const JobRecord& record) const;
  std::shared_ptr<Meter> meter_of(const JobRecord& record, const JobSpec& spec, Memory& memory);
  void measure_sometimes(const JobRecord& record, const JobSpec& spec, Memory& memory);
  std::shared_ptr<OutputSync> sync_of(const JobRecord& record, const JobSpec& spec, Memory& memory);
  control::Outcome rest(JobRecord& record, const JobSpec& spec, const Observed& observed,
                        base::Duration since_save, Memory& memory);
  control::Outcome clean(const JobRecord& record);
  // Warm instances: kept after completion, taken over by a job like it, given back in time.
  std::vector<store::Write> keep_warm(JobRecord& record, const JobSpec& spec);
  void take_warm(const JobRecord& record, const JobSpec& spec);
  control::Outcome watch_warm(JobRecord& record);

  Core& core_;
  base::Sync<std::map<std::string, std::shared_ptr<Memory>>> memories_;
};

}  // namespace meridian::region::training
