// SPDX-License-Identifier: Apache-2.0
#include "region/batch/jobs/table.h"

namespace meridian::region::batch {
namespace {

bool waits(Status status) { return status == Status::submitted || status == Status::pending; }

}  // namespace

Run& Job::run_of(std::uint32_t index) {
  Run& run = runs[index];
  run.index = index;
  return run;
}

Job& Table::add(JobRecord record, JobSpec spec, std::vector<std::shared_ptr<Job>> targets,
                base::Timestamp now) {
  auto job = std::make_shared<Job>();
  job->record = std::move(record);
  job->spec = std::move(spec);
  job->targets = std::move(targets);
  jobs_[job->record.id] = job;
  for (const auto& target : job->targets)
    if (target) dependents_[target->record.id].insert(job.get());
  look_at_all(*job, now);
  propagate(now);
  place(*job);
  if (job->ended()) ended_jobs_.insert(job->record.id);
  return *job;
}

std::shared_ptr<Job> Table::ended_job(JobRecord record) {
  auto job = std::make_shared<Job>();
  job->record = std::move(record);
  return job;
}

std::shared_ptr<Job> Table::find(const std::string& id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : found->second;
}

void Table::erase(const std::string& id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  Job* job = found->second.get();
  for (const auto& target : job->targets)
    if (target) dependents_[target->record.id].erase(job);
  changed_.erase(job);
  ended_jobs_.erase(id);
  for (auto& [share, places] : ready_[job->record.queue])
    std::erase_if(places, [&](const auto& place) { return place.second == job; });
  dependents_.erase(id);
  jobs_.erase(found);
}

Table::Verdict Table::judge(const Job& job, std::uint32_t index) const {
  Verdict verdict;
  for (std::size_t i = 0; i < job.spec.depends_on.size(); ++i) {
    const Dependency& dependency = job.spec.depends_on[i];
    Status status = Status::succeeded;
    std::string name;  // the same for as many children as can be: reasons are kept as ranges
    if (dependency.kind == Dependency::Kind::sequential) {
      if (index == 0) continue;
      status = job.record.states.at(index - 1);
      name = "the child before it";
    } else {
      const JobRecord& target = job.targets.at(i)->record;
      const bool same = dependency.kind == Dependency::Kind::n_to_n;
      const auto child = same ? std::optional(index) : dependency.index;
      status = child ? target.states.at(*child) : target.status();
      name = same ? target.id + ", the same index" : (child ? target.child_id(*child) : target.id);
    }
    if (status == Status::failed)
      return {Verdict::Kind::failed, "Dependent Job failed (" + name + ")"};
    if (status != Status::succeeded) verdict.kind = Verdict::Kind::waits;
  }
  return verdict;
}

void Table::look_at(Job& job, std::uint32_t index, base::Timestamp now) {
  if (!waits(job.record.states.at(index))) return;
  const Verdict verdict = judge(job, index);
  switch (verdict.kind) {
    case Verdict::Kind::open: set(job, index, Status::runnable, "", now); break;
    case Verdict::Kind::waits:
      if (job.record.states.at(index) == Status::submitted)
        set(job, index, Status::pending, "", now);
      break;
    case Verdict::Kind::failed: set(job, index, Status::failed, verdict.reason, now); break;
  }
}

void Table::look_at_all(Job& job, base::Timestamp now) {
  for (std::uint32_t index = 0; index < job.record.states.size(); ++index) look_at(job, index, now);
  place(job);
}

void Table::set(Job& job, std::uint32_t index, Status status, const std::string& reason,
                base::Timestamp now) {
  JobRecord& record = job.record;
  record.states.set(index, status);
  record.counted = now;
  change(job);
  const bool has_run = job.runs.contains(index);
  if (has_run) change_run(job, index);
  if (has_run && !reason.empty()) job.runs.at(index).status_reason = reason;
  if (!has_run && status == Status::failed) record.skip(index, reason);
  if (!record.is_array() && !reason.empty()) record.reason = reason;
  if (!is_terminal(status)) return;
  if (has_run) job.runs.at(index).stopped = now;
  if (job.ended()) {
    ended_jobs_.insert(record.id);
    record.stopped = now;
    if (record.is_array() && record.reason.empty() && record.status() == Status::failed)
      record.reason = "Array Child Job failed";
  }
  ended_.emplace_back(&job, index);
}

void Table::tell_dependents(Job& job, std::uint32_t index, base::Timestamp now) {
  for (const Dependency& own : job.spec.depends_on)
    if (own.kind == Dependency::Kind::sequential && index + 1 < job.record.states.size())
      look_at(job, index + 1, now);
  const auto found = dependents_.find(job.record.id);
  if (found == dependents_.end()) return;
  for (Job* dependent : found->second) {
    bool all = false, same = false;
    for (std::size_t i = 0; i < dependent->targets.size(); ++i) {
      if (dependent->targets[i].get() != &job) continue;
      const Dependency& dependency = dependent->spec.depends_on[i];
      if (dependency.kind == Dependency::Kind::n_to_n)
        same = true;
      else if (dependency.index ? *dependency.index == index : job.ended())
        all = true;
    }
    if (all)
      look_at_all(*dependent, now);
    else if (same && index < dependent->record.states.size())
      look_at(*dependent, index, now);
    place(*dependent);
  }
}

// A list instead of recursion: a chain may be 10,000 long.
void Table::propagate(base::Timestamp now) {
  while (!ended_.empty()) {
    const auto [job, index] = ended_.front();
    ended_.pop_front();
    tell_dependents(*job, index, now);
    place(*job);
  }
}

void Table::move(Job& job, std::uint32_t index, Status status, const std::string& reason,
                 base::Timestamp now) {
  set(job, index, status, reason, now);
  propagate(now);
  place(job);
}

void Table::place(Job& job) {
  const JobRecord& record = job.record;
  auto& places = ready_[record.queue][record.share];
  const ReadyPlace here{record.share.empty() ? 0 : record.priority, record.created_revision,
                        record.id};
  if (record.states.count(Status::runnable) > 0)
    places.emplace(here, &job);
  else
    places.erase(here);
}

void Table::change(Job& job) {
  job.changed = true;
  changed_.insert(&job);
}

void Table::change_run(Job& job, std::uint32_t index) {
  job.changed_runs.insert(index);
  changed_.insert(&job);
}

const ReadyJobs& Table::ready(const std::string& queue) const {
  static const ReadyJobs kNone;
  const auto found = ready_.find(queue);
  return found == ready_.end() ? kNone : found->second;
}

std::vector<Job*> Table::take_changed() {
  std::vector<Job*> out(changed_.begin(), changed_.end());
  changed_.clear();
  return out;
}

}  // namespace meridian::region::batch
