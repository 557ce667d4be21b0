// A training job as its document says it: the request as it was received, and what became of it.
//
//                    ┌──────────────────────── reclaim, retry ───────────────────┐
//                    ▼                                                           │
//   create ──1──► leasing ──2──► staging ──3──► running ──4──► ending ──5──► uploading ──6──► done
//                    │              │              └────────5 (all exit 0)───────▲              ▲
//                    └──────────────┴──────────────── 7 (stopped, failed) ──────────────────────┘
//
//   1 CreateTrainingJob writes the record        InProgress / Starting, Pending while it waits
//   2 capacity grants the whole gang             Starting "Preparing the instances for training"
//   3 code, channels, checkpoints are there      Downloading → Training
//   4 a stop, a limit, a reclaim, a dead rank    Stopping, Interrupted, Training
//   5 every instance has ended                   Uploading
//   6 artifacts are in S3; the lease ends        Completed, Failed, Stopped, MaxRuntimeExceeded, …
//   7 nothing ran, nothing to upload             Failed, Stopped, MaxWaitTimeExceeded
//
// Phase says where the controller is; status and secondary are the words AWS has for it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "store/store.h"

namespace meridian::region::training {

enum class Phase { leasing, staging, running, ending, uploading, done };
inline constexpr Phase kPhases[] = {Phase::leasing, Phase::staging,   Phase::running,
                                    Phase::ending,  Phase::uploading, Phase::done};
std::string_view name(Phase phase);
std::optional<Phase> parse_phase(std::string_view text);
// The table behind the diagram.
bool may_follow(Phase from, Phase to);

// Why a gang ends, or ended.
enum class Cause {
  none,
  completed,    // every instance exited 0
  failed,       // an instance exited otherwise
  client,       // the request can't be carried out: data, image, permissions
  capacity,     // the pools can never hold the gang (they shrank since Create)
  lost,         // the supervisor or the machine, not the program
  user_stop,    // StopTrainingJob
  max_runtime,  // StoppingCondition.MaxRuntimeInSeconds
  max_wait,     // StoppingCondition.MaxWaitTimeInSeconds
  max_pending,  // StoppingCondition.MaxPendingTimeInSeconds
  reclaim,      // the spot capacity was taken back
};
inline constexpr Cause kCauses[] = {Cause::none,        Cause::completed,   Cause::failed,
                                    Cause::client,      Cause::capacity,    Cause::lost,
                                    Cause::user_stop,   Cause::max_runtime, Cause::max_wait,
                                    Cause::max_pending, Cause::reclaim};
std::string_view name(Cause cause);
std::optional<Cause> parse_cause(std::string_view text);

// TrainingJobStatus and SecondaryStatus that a job ends with; nothing for causes it goes on after.
struct Ending {
  std::string_view status, secondary, message;
};
std::optional<Ending> ending_of(Cause cause);

struct Transition {
  std::string status;  // a SecondaryStatus
  base::Timestamp start{};
  std::optional<base::Timestamp> end;
  std::string message;
};

// Time spent, accumulated from monotonic ticks at every save, so that a jump of the wall clock
// changes no bill (design D8).
struct Timings {
  std::int64_t total_ms = 0;     // since creation
  std::int64_t pending_ms = 0;   // without instances
  std::int64_t training_ms = 0;  // since the instances were first there
  std::int64_t billable_ms = 0;  // with instances
  std::int64_t running_ms = 0;   // with the program running: what MaxRuntime limits
  std::int64_t attempt_ms = 0;   // of running_ms, in this attempt
  std::int64_t ending_ms = 0;    // since the gang was told to end, in this attempt
  std::int64_t last_ticks = 0;
  std::string boot_id;  // ticks of another boot can't be compared
};

struct JobRecord {
  std::string name, uid, arn;
  base::JsonObject request;  // as received, fields we do not know included
  base::JsonArray tags;
  std::string status = "InProgress", secondary = "Starting";
  std::vector<Transition> transitions;
  base::Timestamp created{}, modified{};
  std::optional<base::Timestamp> started, ended;
  std::optional<base::Timestamp> failed;  // when a failure was seen, before what follows it

  Phase phase = Phase::leasing;
  Cause cause = Cause::none;
  int attempt = 1;   // counts starts of the gang; part of the directory's name
  int retries = 0;   // after InternalServerError
  int reclaims = 0;  // of spot capacity
  bool stop_requested = false, reclaim_requested = false;
  bool cleaned = false;  // done, and directories, keys and instances of it are gone
  std::string failure_reason;
  std::string failed_host;            // whose end decided
  base::JsonObject failed_exit;       // how: kind, code, out_of_memory, message
  base::JsonArray exits;              // of the last attempt: Host, Kind, ExitCode, EndTime, usage
  std::vector<std::string> warnings;  // unknown fields, what is not enforced, metric doctor
  std::vector<std::string> streams;   // log stream of each host in this attempt, algo-1 first
  std::vector<int> gpus;              // device indexes, in order of hosts
  base::JsonObject program;           // what runs: kind, python or image, explanation
  base::JsonObject sync;              // checkpoints: uploaded, pending, at
  base::JsonArray final_metrics;
  base::JsonObject warm_pool;  // WarmPoolStatus
  std::string warm_key;        // what a job must share to take the instances over
  std::string model_uri;       // ModelArtifacts.S3ModelArtifacts
  Timings timings;

  store::Revision revision = 0;  // of the document this was read from; 0 = not stored yet

  bool terminal() const { return phase == Phase::done; }
  // Its instances are kept for the next job like it.
  bool warm() const;
};

base::Json to_json(const JobRecord& record);
// Error(data_loss) for a body that this can't be.
JobRecord parse_record(const store::Document& document);

// Moves the record; aborts on a move that the table does not have.
void move_to(JobRecord& record, Phase phase);
// Ends the last transition and begins one; the same secondary only changes the message.
void enter(JobRecord& record, std::string_view secondary, std::string message, base::Timestamp at);
// Once each.
void add_warning(JobRecord& record, std::string warning);
// Adds the time since the last call to what the phase counts.
void accumulate(Timings& timings, Phase phase, bool started, base::Ticks now,
                std::string_view boot_id);

// The jobs of one region in its store.
class Records {
 public:
  Records(store::Store& store, std::string account_region_prefix);
  std::optional<JobRecord> find(std::string_view job) const;
  // False when the name was used before.
  bool create(JobRecord& record);
  // Writes unless somebody else wrote meanwhile; says whether it did. `also` commits with it.
  bool save(JobRecord& record, std::vector<store::Write> also = {});
  // Reads, changes and saves until no other writer comes between. Nothing when there is no such
  // job; `change` returns false to leave it alone.
  template <class Change>
  std::optional<JobRecord> update(std::string_view job, Change change) {
    for (int attempt = 0;; ++attempt) {
      auto record = find(job);
      if (!record || !change(*record) || save(*record)) return record;
      if (attempt == 100) throw_busy(job);
    }
  }
  bool remove(const JobRecord& record, std::vector<store::Write> also = {});
  // Jobs whose instances are kept warm under that key (warm_pool.h).
  std::vector<JobRecord> warm_pools(const std::string& warm_key) const;
  // What the job was made from (run_record.h): a document of its own, because it is long and does
  // not change. The first one stays.
  void keep_run_record(std::string_view job, const base::JsonObject& run_record);
  base::JsonObject find_run_record(std::string_view job) const;  // empty: none yet
  std::string key(std::string_view job) const;
  std::string prefix() const;
  store::Store& store() const { return store_; }
  // Jobs that a restarted daemon still has to look at.
  std::vector<std::string> unfinished() const;

 private:
  [[noreturn]] static void throw_busy(std::string_view job);
  store::Write write_of(const JobRecord& record) const;
  std::string run_record_key(std::string_view job) const;
  store::Store& store_;
  std::string prefix_, run_record_prefix_;
};

}  // namespace meridian::region::training
