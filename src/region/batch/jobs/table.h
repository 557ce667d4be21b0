// The unfinished jobs of a region in memory: dependencies, and what is ready in which queue. Pure:
// no store, no clock of its own.
//
// Promises:
//   1. A child is RUNNABLE only when all it depends on has SUCCEEDED; it is FAILED as soon as
//      something that it depends on has FAILED.
//   2. An array has ended exactly when all its children have; it FAILED when one of them has.
//   3. What changed since it was last written is known: nothing else need be.
//
//   Table table;
//   Job& job = table.add(record, spec, targets, now);      // its children wait or are ready
//   table.move(job, 3, Status::starting, "", now);
//   for (Job* each : table.take_changed()) …               // to be written
//
// Used by one thread at a time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "region/batch/jobs/records.h"
#include "region/batch/jobs/spec.h"

namespace meridian::region::batch {

struct Job {
  JobRecord record;
  JobSpec spec;
  std::map<std::uint32_t, Run> runs;          // of children that are live or not yet written
  std::vector<std::shared_ptr<Job>> targets;  // one per dependency; nullptr: sequential
  bool changed = false;
  std::set<std::uint32_t> changed_runs;

  Run& run_of(std::uint32_t index);  // made when there is none
  bool ended() const { return record.states.all_ended(); }
};

// Order in a queue: priority, then arrival.
struct ReadyPlace {
  int priority = 0;
  store::Revision arrival = 0;
  std::string id;
  std::strong_ordering operator<=>(const ReadyPlace& other) const {
    if (priority != other.priority) return other.priority <=> priority;
    if (arrival != other.arrival) return arrival <=> other.arrival;
    return id <=> other.id;
  }
  bool operator==(const ReadyPlace&) const = default;
};
// By share; all in one, "", and by arrival alone where jobs have none.
using ReadyJobs = std::map<std::string, std::map<ReadyPlace, Job*>>;

class Table {
 public:
  // `targets`: the jobs that spec.depends_on names, in that order; ended ones too.
  Job& add(JobRecord record, JobSpec spec, std::vector<std::shared_ptr<Job>> targets,
           base::Timestamp now);
  // An ended job, to depend on; not one of the table's.
  static std::shared_ptr<Job> ended_job(JobRecord record);
  std::shared_ptr<Job> find(const std::string& id) const;
  const std::map<std::string, std::shared_ptr<Job>>& jobs() const { return jobs_; }
  void erase(const std::string& id);

  // `reason`: why it failed, or what is said of a child that has a run.
  void move(Job& job, std::uint32_t index, Status status, const std::string& reason,
            base::Timestamp now);
  void change(Job& job);  // its record, otherwise
  void change_run(Job& job, std::uint32_t index);

  const ReadyJobs& ready(const std::string& queue) const;
  const std::set<std::string>& ended_jobs() const { return ended_jobs_; }  // of the table's
  std::vector<Job*> take_changed();

 private:
  struct Verdict {
    enum class Kind { open, waits, failed } kind = Kind::open;
    std::string reason;
  };
  Verdict judge(const Job& job, std::uint32_t index) const;
  void look_at(Job& job, std::uint32_t index, base::Timestamp now);
  void look_at_all(Job& job, base::Timestamp now);
  void set(Job& job, std::uint32_t index, Status status, const std::string& reason,
           base::Timestamp now);
  void tell_dependents(Job& job, std::uint32_t index, base::Timestamp now);
  void propagate(base::Timestamp now);
  void place(Job& job);

  std::map<std::string, std::shared_ptr<Job>> jobs_;
  std::map<std::string, std::set<Job*>> dependents_;  // of a job's id
  std::map<std::string, ReadyJobs> ready_;            // by queue
  std::set<Job*> changed_;
  std::set<std::string> ended_jobs_;
  std::deque<std::pair<Job*, std::uint32_t>> ended_;  // children whose dependents are to be told
};

}  // namespace meridian::region::batch
