// A Batch job as its documents say it. Three kinds, so that a change writes little and children
// that nobody touched write nothing:
//
//   …/batch/spec/ID            what is to run (spec.h); written once, by SubmitJob
//   …/batch/job/ID             where it stands: the states of all children in one text
//   …/batch/child/ID/000042    a child that was started, or cancelled alone: attempts, times
//
// A job that is no array has one child, with index 0 and the job's own id. One writer (the region's
// step) changes them after SubmitJob, and a child's state changes in the same commit in both.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "region/batch/jobs/states.h"
#include "store/store.h"

namespace meridian::region::batch {

// "ID" or "ID:INDEX" of an array's child.
struct JobId {
  std::string job;
  std::optional<std::uint32_t> index;
};
std::optional<JobId> parse_job_id(std::string_view text);

struct Attempt {  // that has ended
  std::optional<base::Timestamp> started;
  base::Timestamp stopped{};
  std::optional<int> exit_code;  // nothing: no program ran
  std::string reason;            // of the container
  std::string status_reason;
  std::string log_stream, task;
};

struct Run {
  std::uint32_t index = 0;
  int attempt = 0;  // the one under way or the last, from 1; 0 = never started
  std::string environment;
  std::string log_stream, task;
  base::Timestamp placed{};
  std::optional<base::Timestamp> started;  // of the attempt
  std::optional<base::Timestamp> first_started, stopped;
  std::string status_reason;
  bool cancelled = false, terminated = false;
  enum class Stop { none, terminate, timeout } stop = Stop::none;
  std::string stop_reason;
  std::vector<Attempt> attempts;

  store::Revision revision = 0;
};

// Children that ended without a run of their own, and why.
struct Skipped {
  std::uint32_t from = 0, to = 0;  // both included
  std::string reason;
};

struct JobRecord {
  std::string id, name, arn;
  std::string queue;       // its name
  std::string definition;  // the revision's ARN
  std::string share;
  int priority = 0;
  std::uint32_t size = 0;   // of an array; 0 = none
  std::uint32_t nodes = 0;  // of a multi-node job; 0 = none
  base::Timestamp created{};
  std::optional<base::Timestamp> started, stopped;
  States states;
  base::Timestamp counted{};  // when a state last changed
  std::string reason;
  bool cancelled = false, terminated = false;
  bool open = true;  // ended and cleaned up: no
  std::vector<Skipped> skipped;

  store::Revision revision = 0, created_revision = 0;

  bool is_array() const { return size > 0; }
  Status status() const { return is_array() ? status_of_array(states) : states.at(0); }
  std::string child_id(std::uint32_t index) const;
  // Adds to the last range where it can.
  void skip(std::uint32_t index, const std::string& reason);
  std::string skip_reason(std::uint32_t index) const;
};

// Keys below a prefix that ends with "/batch/".
std::string spec_key(const std::string& prefix, const std::string& job);
std::string job_key(const std::string& prefix, const std::string& job);
std::string child_key(const std::string& prefix, const std::string& job, std::uint32_t index);

store::Write write_of(const std::string& prefix, const JobRecord& record);
store::Write write_of(const std::string& prefix, const JobRecord& job, const Run& run);
JobRecord parse_job(const store::Document& document);  // Error(data_loss)
Run parse_run(const store::Document& document);

}  // namespace meridian::region::batch
