// The step that carries all jobs of a region on: one for all, so that one commit can hold what
// happened to many.
//
//   take what was submitted and who is to be ended → look at what runs → write
//   → place what is ready, queue by queue → write → start it
//
// Whatever throws on the way makes the step forget what it knows and read it again from the store:
// leases are by owner, instances by directory, activities by name, so nothing is done twice.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>

#include "base/metrics.h"
#include "control/runner.h"
#include "region/batch/core.h"
#include "region/batch/jobs/shares.h"
#include "region/batch/jobs/table.h"

namespace meridian::region::batch {

class Scheduler {
 public:
  explicit Scheduler(Core& core) : core_(core) {}
  control::Outcome step(const control::Key& key);

 private:
  // An attempt that is under way. What is not in its Run is found again after a restart.
  struct Live {
    std::shared_ptr<Job> job;
    std::uint32_t index = 0;
    bool adopted = false, stopped = false;
    std::optional<base::Ticks> started;
    base::Ticks placed;
  };
  struct Queue {
    std::string name, policy;
    int priority = 0;
    std::vector<std::string> environments;
    base::JsonArray time_limits;       // jobStateTimeLimitActions
    std::string head;                  // the child that waits for capacity
    std::optional<base::Ticks> since;  // when the head began to wait
    base::Timestamp since_wall{};
    Usage usage;
  };
  struct Environment {
    bool enabled = false;
    int most = 0, used = 0;
  };
  struct Placement {  // of one child; committed together with others
    Job* job;
    std::uint32_t index;
    std::optional<capacity::Capacity::Claim> claim;
  };
  struct State {
    Table table;
    std::map<std::string, Live> live;  // by child id
    std::map<std::string, Queue> queues;
    std::map<std::string, Environment> environments;
    std::map<std::string, FairShare> policies;
    std::map<std::string, std::int64_t> consumables;  // that are left
    std::map<std::string, std::string> cleaning;      // activity → job
    std::vector<store::Write> also;                   // with the next commit
  };

  void turn();
  base::Duration pause() const;

  // intake.cpp
  void load();
  void read_queues();
  void take_in(const std::string& id);
  std::shared_ptr<Job> target_of(const Dependency& dependency, const std::string& own);
  void take_requests();
  void end_job(Job& job, std::optional<std::uint32_t> only, bool running_too,
               const std::string& reason);
  void end_child(Job& job, std::uint32_t index, bool running_too, const std::string& reason);
  void write(std::vector<Placement>* placed = nullptr);

  // attempts.cpp
  void look_at_runs();
  void look_at(const std::string& child, Live& live);
  std::vector<std::string> instances_of(const Live& live) const;
  void adopt(Live& live, const Run& run);
  void begin(const std::string& child, Live& live, Run& run);
  void running(Live& live, Run& run, std::optional<base::Timestamp> started);
  void keep_limits(Live& live, Run& run);
  void stop(Live& live);
  void end_attempt(const std::string& child, Live& live, Run& run, Attempt attempt);
  void account(const Live& live, const Run& run);
  void clean_up(const std::string& child, const Live& live, const Run& run);
  void end_jobs();
  void close(const std::string& id);

  // dispatch.cpp
  void dispatch();
  void serve(Queue& queue, std::vector<Placement>& placed);
  std::vector<std::string> shares_in_turn(Queue& queue);
  // The compute environment that has room for the job, or why there is none.
  struct Room {
    std::string environment, obstacle;
  };
  Room find_room(const Queue& queue, const Job& job) const;
  std::string missing_consumable(const Job& job) const;
  // Nothing when it was placed; else why not.
  std::string place(Queue& queue, Job& job, std::uint32_t index, std::vector<Placement>& placed);
  void wait(Queue& queue, const Job& job, std::uint32_t index, const std::string& reason);
  void no_wait(Queue& queue);
  bool waited_too_long(Queue& queue, Job& job, std::uint32_t index, const std::string& reason);
  std::vector<Wait::Place> front_of(const Queue& queue) const;

  std::string start_name(const std::string& child, const Run& run) const;
  base::Timestamp now() const { return core_.parts.clock.now(); }

  Core& core_;
  std::unique_ptr<State> state_;
};

// An unfinished order to end a job, by CancelJob and TerminateJob.
struct EndRequest {
  std::string job;  // or child
  std::string reason;
  bool terminate = false;
};
std::string request_prefix(const Core& core);
store::Write write_of(const Core& core, const EndRequest& request);
EndRequest parse_request(const store::Document& document);

}  // namespace meridian::region::batch
