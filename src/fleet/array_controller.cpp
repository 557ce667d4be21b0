// SPDX-License-Identifier: Apache-2.0
#include "fleet/array_controller.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "fleet/array_status.h"
#include "fleet/database.h"
#include "kube/object.h"
#include "operators/job_controller.h"
#include "operators/kinds.h"
#include "operators/steps.h"

namespace meridian::fleet {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr base::Duration kPlaceAgain{60'000};

const operators::Kind& training_job() { return operators::get_kind("TrainingJob"); }

std::string run_of(const Json& object) {
  return fmt::format("{}/{}", kube::generation_of(object),
                     kube::find_annotation(object, kRetryAnnotation).value_or(""));
}

std::string owner_tag(const std::string& installation, const Json& object) {
  return fmt::format("{}/{}/TrainingArray/{}/{}", installation, kube::namespace_of(object),
                     kube::name_of(object), kube::uid_of(object));
}

// This run's rows could not be made: said already, and only a change of the array mends it.
bool was_refused(const Json& object) {
  const Json* status = base::find(object, "status");
  if (status == nullptr || kube::is_deleting(object)) return false;
  const Json* reason = base::find_path(object, "status.conditions");
  if (reason == nullptr || !reason->is_array()) return false;
  return base::string_or(*status, "run") == run_of(object) &&
         std::ranges::any_of(reason->get_array(), [](const Json& condition) {
           return base::string_or(condition, "reason") == "InvalidArray";
         });
}

}  // namespace

kube::ResourceId array_resource() { return {"meridian.dev", "v1alpha1", "trainingarrays"}; }

// What is kept of an array between steps. A step of one key never runs twice at once.
struct ArrayController::Held {
  explicit Held(store::Store& store, const std::string& uid) : record(store, uid) {}
  ArrayRecord record;
  std::optional<ArraySpec> spec;        // of record.run()
  std::map<std::size_t, int> failures;  // asks that a region did not take, by row
  std::int64_t placed_ms = 0;           // when rows were planned last
  bool counted = false;                 // what the resource says is what is here
};

struct ArrayController::Work {
  control::Key key;
  Json object;
  Held& held;
  std::vector<std::size_t> changed;  // rows for the table of results
  bool waits = false;                // a launch is due later

  std::vector<RowState>& states() { return held.record.states(); }
  void touch(std::size_t row) {
    held.record.touch(row);
    changed.push_back(row);
  }
};

ArrayController::ArrayController(const ArrayParts& parts, ArraySettings settings, Find find)
    : parts_(parts),
      settings_(std::move(settings)),
      resources_(array_resource(), parts.api, {.find = std::move(find), .list = {}}) {}

ArrayController::~ArrayController() = default;

ArrayController::Held& ArrayController::hold(const std::string& uid) {
  auto held = held_.lock();
  auto& entry = (*held)[uid];
  if (!entry) entry = std::make_unique<Held>(parts_.store, uid);
  return *entry;
}

Table ArrayController::read_rows(const ArraySpec& spec) const {
  if (spec.rows.inline_rows) return *spec.rows.inline_rows;
  if (!spec.rows.sql.empty())
    return base::while_doing("asking spec.rows.sql", [&] {
      return query({.database = settings_.campaigns, .catalog = parts_.catalog.file()},
                   spec.rows.sql);
    });
  return base::while_doing("reading spec.rows.manifest", [&] {
    auto rows = parse_manifest(parts_.read_object(spec.rows.manifest));
    if (!rows)
      throw base::Error(base::Code::invalid_argument,
                        spec.rows.manifest + ": " + rows.error().text());
    return std::move(*rows);
  });
}

control::Outcome ArrayController::step(const control::Key& key) {
  std::optional<Json> object = resources_.find(operators::object_of(key));
  if (!object || was_refused(*object)) return control::Outcome::done();
  Held& held = hold(kube::uid_of(*object));
  Work work{.key = key, .object = std::move(*object), .held = held, .changed = {}};
  try {
    const auto finalizers = kube::finalizers_of(work.object);
    if (!kube::is_deleting(work.object) && !std::ranges::count(finalizers, kArrayFinalizer))
      work.object = resources_.add_finalizer(work.object, kArrayFinalizer);
    ensure_run(work);
    observe(work);
    place_again(work);
    const Limits limits{.parallelism = held.spec ? held.spec->parallelism : 1,
                        .stop_after = held.spec ? held.spec->stop_after : std::nullopt,
                        .suspend = held.spec && held.spec->suspend,
                        .deleting = kube::is_deleting(work.object),
                        .now_ms = parts_.clock.now().ms};
    const Todo todo = plan(work.states(), limits);
    launch(work, todo.launch);
    for (const std::size_t row : todo.launch) ask(work, row);
    for (const std::size_t row : todo.ask) ask(work, row);
    for (const std::size_t row : todo.stop) stop(work, row);
    return report(work, todo);
  } catch (const kube::StatusError& error) {
    if (error.reason() == "NotFound") return control::Outcome::done();
    throw;
  } catch (const base::Error& error) {
    if (error.retryable() || error.code() == base::Code::unavailable ||
        kube::is_deleting(work.object))
      throw;
    fail_spec(work, error);
    return control::Outcome::done();
  }
}

// The rows of the present run, and the jobs that they are.
void ArrayController::ensure_run(Work& work) {
  const bool same = work.held.record.run() == run_of(work.object);
  if (same && work.held.spec) return;
  if (kube::is_deleting(work.object)) return;
  ArraySpec spec = parse_array_spec(*base::find(work.object, "spec"));
  const std::string uid = kube::uid_of(work.object);
  if (same) {  // after a restart
    work.held.record.attach_plans(plan_rows(spec, work.held.record.rows(), uid));
    work.held.spec = std::move(spec);
    place(work);
    for (std::size_t row = 0; row < work.states().size(); ++row) {
      if (work.states()[row].phase == RowPhase::running)
        parts_.feed.follow(record_of(work.states()[row]), work.key);
    }
    return;
  }
  Table rows = read_rows(spec);
  auto plans = plan_rows(spec, rows, uid);
  work.held.failures.clear();
  work.held.record.begin(run_of(work.object), std::move(rows), std::move(plans));
  for (const std::size_t row : open_run(work.states(), work.held.record.plans())) work.touch(row);
  work.held.record.save();
  work.held.spec = std::move(spec);
  place(work);
  work.held.counted = false;
  parts_.catalog.remove_results(kube::namespace_of(work.object), kube::name_of(work.object));
  work.changed.clear();
  for (std::size_t row = 0; row < work.states().size(); ++row) work.changed.push_back(row);
  parts_.events.write(work.object, operators::EventType::normal, "Started",
                      fmt::format("{} rows", work.states().size()));
}

// Gives pending rows their regions, or the reason why they have none.
void ArrayController::place(Work& work) {
  const ArraySpec& spec = *work.held.spec;
  if (!spec.placement.needs_plan()) return;
  std::vector<RowPlan> plans = work.held.record.plans();
  place_pending(
      spec, work.held.record.rows(), work.states(),
      read_grounds(parts_.catalog.file(), parts_.pools ? parts_.pools() : RegionPools{},
                   kube::namespace_of(work.object), kube::name_of(work.object), parts_.clock.now()),
      plans);
  for (std::size_t row = 0; row < plans.size(); ++row) {
    RowState& state = work.states()[row];
    if (state.phase != RowPhase::pending) continue;
    const std::string& reason = plans[row].waits_for;
    if (state.reason != reason) {
      state.reason = reason;
      work.touch(row);
    }
    state.waits = !reason.empty();
  }
  work.held.record.attach_plans(std::move(plans));
  work.held.placed_ms = parts_.clock.now().ms;
}

// Rows without a place may have one by now.
void ArrayController::place_again(Work& work) {
  const bool waits = std::ranges::any_of(work.states(), &RowState::waits);
  if (waits && work.held.spec && !kube::is_deleting(work.object) &&
      parts_.clock.now().ms - work.held.placed_ms >= kPlaceAgain.count())
    place(work);
}

operators::Record ArrayController::record_of(const RowState& state) const {
  return {{state.region, ""}, &training_job(), state.job};
}

void ArrayController::observe(Work& work) {
  for (std::size_t row = 0; row < work.states().size(); ++row) {
    const RowState& state = work.states()[row];
    if (state.phase != RowPhase::running || !parts_.feed.changed(record_of(state))) continue;
    try {
      look(work, row);
    } catch (const base::Error& error) {
      base::log_warn("cannot look at a row's job", {{"job", state.job}, {"why", error.what()}});
      work.waits = true;
    }
  }
  work.held.record.save();
}

void ArrayController::look(Work& work, std::size_t row) {
  RowState& state = work.states()[row];
  const operators::Record record = record_of(state);
  try {
    const Json description =
        parts_.remotes.get(record.place)
            .call("sagemaker", "DescribeTrainingJob", {{"TrainingJobName", state.job}});
    parts_.feed.described(record, base::double_or(description, "LastModifiedTime", 0));
    take(work, row, description);
  } catch (const base::Error& error) {
    if (!operators::has_no_record(error)) throw;
    parts_.feed.forget(record);
    state.phase = RowPhase::failed;
    state.reason = fmt::format("RemoteDeleted: {} was deleted in {}", state.job, state.region);
    work.touch(row);
  }
}

void ArrayController::take(Work& work, std::size_t row, const Json& description) {
  RowState& state = work.states()[row];
  const RowState before = state;
  take_description(state, description);
  if (is_over(state.phase)) {
    parts_.feed.forget(record_of(state));
    if (state.stopping) end_without_job(work, row);  // superseded
  }
  if (to_json(before) != to_json(state)) work.touch(row);
}

// The launch is durable before anybody is asked.
void ArrayController::launch(Work& work, const std::vector<std::size_t>& rows) {
  for (const std::size_t row : rows) {
    const RowPlan& plan = work.held.record.plans()[row];
    RowState next{.id = plan.id, .digest = plan.digest, .phase = RowPhase::launching};
    next.attempt = work.states()[row].attempt + 1;
    next.region = plan.region;
    next.job = job_name(kube::name_of(work.object), plan.id, next.attempt);
    work.states()[row] = std::move(next);
    work.touch(row);
  }
  work.held.record.save();
}

void ArrayController::ask(Work& work, std::size_t row) {
  RowState& state = work.states()[row];
  try {
    const bool wanted = work.held.spec && !work.held.spec->suspend && !state.stopping &&
                        !kube::is_deleting(work.object);
    if (wanted) {
      create(work, row);
    } else {
      // Perhaps it was heard before a crash.
      try {
        parts_.remotes.get({state.region, ""})
            .call("sagemaker", "DescribeTrainingJob", {{"TrainingJobName", state.job}});
      } catch (const base::Error& error) {
        if (!operators::has_no_record(error)) throw;
        state.phase = RowPhase::stopped;
        return end_without_job(work, row);
      }
    }
    work.held.failures.erase(row);
    state.phase = RowPhase::running;
    work.touch(row);
    parts_.feed.follow(record_of(state), work.key);
    look(work, row);
  } catch (const base::Error& error) {
    after_error(work, row, error);
  }
}

// The end of an attempt that nobody wants the result of.
void ArrayController::end_without_job(Work& work, std::size_t row) {
  RowState& state = work.states()[row];
  if (state.stopping) {
    state.phase = RowPhase::pending;
    state.reason.clear();
    state.stopping = false;
  }
  work.touch(row);
}

void ArrayController::create(Work& work, std::size_t row) {
  const RowState& state = work.states()[row];
  JsonObject input = work.held.record.plans()[row].request;
  input["TrainingJobName"] = state.job;
  if (!input.contains("Tags")) input["Tags"] = JsonArray{};
  input["Tags"].as_array().push_back(
      {{"Key", operators::kOwnerTag}, {"Value", owner_tag(settings_.installation, work.object)}});
  operators::Remote& remote = parts_.remotes.get({state.region, ""});
  try {
    remote.call("sagemaker", "CreateTrainingJob", input);
  } catch (const base::Error& error) {
    if (operators::judge(error) != operators::Verdict::in_use) throw;
    const Json description =
        remote.call("sagemaker", "DescribeTrainingJob", {{"TrainingJobName", state.job}});
    if (!is_ours(work, state, description))
      throw base::Error(base::Code::already_exists,
                        fmt::format("{} has a job named {} that this array did not make",
                                    state.region, state.job));
  }
}

bool ArrayController::is_ours(const Work& work, const RowState& state,
                              const Json& description) const {
  const Json tags = parts_.remotes.get({state.region, ""})
                        .call("sagemaker", "ListTags",
                              {{"ResourceArn", base::string_or(description, "TrainingJobArn")}});
  const Json* list = base::find(tags, "Tags");
  const std::string owner = owner_tag(settings_.installation, work.object);
  return list != nullptr && list->is_array() &&
         std::ranges::any_of(list->get_array(), [&](const Json& tag) {
           return base::string_or(tag, "Key") == operators::kOwnerTag &&
                  base::string_or(tag, "Value") == owner;
         });
}

void ArrayController::stop(Work& work, std::size_t row) {
  RowState& state = work.states()[row];
  try {
    parts_.remotes.get({state.region, ""})
        .call("sagemaker", "StopTrainingJob", {{"TrainingJobName", state.job}});
  } catch (const base::Error& error) {
    if (!operators::has_no_record(error) &&
        operators::judge(error) == operators::Verdict::retryable) {
      work.waits = true;
      return;
    }
    // It ended meanwhile: the look below says how.
  }
  try {
    look(work, row);
  } catch (const base::Error&) {
    work.waits = true;
  }
}

void ArrayController::after_error(Work& work, std::size_t row, const base::Error& error) {
  RowState& state = work.states()[row];
  const std::string text = fmt::format("{}: {}", operators::reason_of(error), error.message());
  if (state.phase == RowPhase::running) {  // it was taken; only the look failed
    work.waits = true;
    return;
  }
  const auto verdict = operators::judge(error);
  work.touch(row);
  state.reason = text;
  if (verdict == operators::Verdict::terminal || error.code() == base::Code::already_exists ||
      error.code() == base::Code::not_found) {
    state.phase = RowPhase::failed;
    return;
  }
  const int failures = std::min(work.held.failures[row]++, 6);
  state.ask_after_ms = parts_.clock.now().ms + std::min(5'000 * (1 << failures), 300'000);
  work.waits = true;
}

void ArrayController::fail_spec(Work& work, const base::Error& error) {
  work.object = resources_.write_status(
      work.object, failed_status(work.object, error, run_of(work.object), parts_.clock.now()));
  parts_.events.write(work.object, operators::EventType::warning, "InvalidArray", error.message());
}

control::Outcome ArrayController::report(Work& work, const Todo& todo) {
  work.held.record.save();
  if (!work.changed.empty()) {
    std::ranges::sort(work.changed);
    const auto repeated = std::ranges::unique(work.changed);
    work.changed.erase(repeated.begin(), repeated.end());
    parts_.catalog.write_results(result_lines(work.object, work.held.record, work.changed));
  }
  const Counts counts = count(work.states());
  if (kube::is_deleting(work.object)) {
    const Json* metadata = base::find(work.object, "metadata");
    const auto since = kube::parse_time(base::string_or(*metadata, "deletionTimestamp"));
    const bool overdue = since && parts_.clock.now().ms - since->ms > settings_.escape.count();
    if (counts.running == 0 || overdue) return release(work);
    return control::Outcome::again(base::Duration(todo.more ? 0 : 1'000));
  }
  if (!work.held.counted || !work.changed.empty()) {
    work.object = resources_.write_status(
        work.object,
        array_status(work.object, work.held.record, *work.held.spec, parts_.clock.now()));
    work.held.counted = true;
  }
  if (todo.more) return control::Outcome::again(base::Duration(0));
  // Room that this step's own acts made, and asks whose back-off passes.
  const bool again = work.waits || !todo.launch.empty() || !todo.ask.empty();
  if (again) return control::Outcome::again(base::Duration(1'000));
  const bool unplaced = std::ranges::any_of(work.states(), &RowState::waits);
  return unplaced ? control::Outcome::again(kPlaceAgain) : control::Outcome::done();
}

control::Outcome ArrayController::release(Work& work) {
  for (const RowState& state : work.states()) {
    if (!is_active(state.phase)) continue;
    parts_.feed.forget(record_of(state));
    parts_.events.write(work.object, operators::EventType::warning, "Abandoned",
                        fmt::format("{} did not confirm the end of {} in time: it may still run "
                                    "there",
                                    state.region, state.job));
  }
  work.held.record.remove();
  parts_.catalog.remove_results(kube::namespace_of(work.object), kube::name_of(work.object));
  resources_.remove_finalizer(work.object, kArrayFinalizer);
  held_.lock()->erase(kube::uid_of(work.object));
  return control::Outcome::done();
}

}  // namespace meridian::fleet
