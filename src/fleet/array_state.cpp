// SPDX-License-Identifier: Apache-2.0
#include "fleet/array_state.h"

#include <fmt/format.h>

#include <array>
#include <map>

namespace meridian::fleet {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr std::array<std::string_view, 6> kNames{"Pending",   "Launching", "Running",
                                                 "Succeeded", "Failed",    "Stopped"};

RowPhase phase_of(std::string_view text) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == text) return static_cast<RowPhase>(i);
  throw base::Error(base::Code::data_loss, fmt::format("'{}' is not a state of a row", text));
}

template <class T>
void put(JsonObject& object, std::string_view key, const std::optional<T>& value) {
  if (value) object[key] = *value;
}

std::optional<std::int64_t> whole(const Json& json, std::string_view key) {
  if (base::find(json, key) == nullptr) return std::nullopt;
  return base::int_or(json, key, 0);
}

}  // namespace

std::string_view name(RowPhase phase) { return kNames[static_cast<std::size_t>(phase)]; }

bool is_active(RowPhase phase) {
  return phase == RowPhase::launching || phase == RowPhase::running;
}

bool is_over(RowPhase phase) { return phase >= RowPhase::succeeded; }

JsonObject to_json(const RowState& state) {
  JsonObject out{{"id", state.id}, {"phase", name(state.phase)}};
  if (state.attempt == 0) return out;
  out["digest"] = state.digest;
  out["attempt"] = state.attempt;
  out["region"] = state.region;
  out["job"] = state.job;
  if (!state.reason.empty()) out["reason"] = state.reason;
  if (!state.secondary.empty()) out["secondary"] = state.secondary;
  put(out, "started", state.started_ms);
  put(out, "ended", state.ended_ms);
  put(out, "billable", state.billable_seconds);
  put(out, "cost", state.cost_usd);
  if (!state.metrics.empty()) out["metrics"] = state.metrics;
  if (state.stopping) out["stopping"] = true;
  return out;
}

RowState row_state_from(const Json& json) {
  RowState state;
  state.id = base::string_or(json, "id");
  state.phase = phase_of(base::string_or(json, "phase"));
  state.digest = base::string_or(json, "digest");
  state.attempt = static_cast<int>(base::int_or(json, "attempt", 0));
  state.region = base::string_or(json, "region");
  state.job = base::string_or(json, "job");
  state.reason = base::string_or(json, "reason");
  state.secondary = base::string_or(json, "secondary");
  state.started_ms = whole(json, "started");
  state.ended_ms = whole(json, "ended");
  state.billable_seconds = whole(json, "billable");
  if (base::find(json, "cost") != nullptr) state.cost_usd = base::double_or(json, "cost", 0);
  if (const Json* metrics = base::find(json, "metrics"); metrics && metrics->is_object())
    state.metrics = metrics->get_object();
  state.stopping = base::bool_or(json, "stopping", false);
  return state;
}

ArrayRecord::ArrayRecord(store::Store& store, std::string uid)
    : store_(store), uid_(std::move(uid)) {
  load();
}

std::string ArrayRecord::prefix(std::string_view part) const {
  return fmt::format("fleet/arrays/{}/{}/", uid_, part);
}

void ArrayRecord::load() {
  const auto each = [this](const std::string& prefix, const auto& use) {
    store::ListQuery query{.prefix = prefix};
    while (true) {
      const store::Page page = store_.list(query);
      for (const store::Document& document : page.documents)
        use(base::parse_stored_json(document.body, document.key));
      if (page.next_token.empty()) return;
      query.token = page.next_token;
    }
  };
  each(prefix("input"), [this](const Json& document) {
    run_ = base::string_or(document, "run");
    if (rows_.columns.empty())
      for (const Json& column : base::find(document, "columns")->as_array())
        rows_.columns.push_back(text_of(column));
    for (const Json& row : base::find(document, "rows")->as_array())
      rows_.rows.push_back(row.as_array());
  });
  each(prefix("states"), [this](const Json& document) {
    for (const Json& state : base::find(document, "states")->as_array())
      states_.push_back(row_state_from(state));
  });
}

store::Write ArrayRecord::states_document(std::size_t number) const {
  JsonArray states;
  const std::size_t end = std::min(states_.size(), (number + 1) * kPerDocument);
  for (std::size_t i = number * kPerDocument; i < end; ++i) states.push_back(to_json(states_[i]));
  return store::put(fmt::format("{}{:06}", prefix("states"), number),
                    base::to_text(JsonObject{{"states", std::move(states)}}));
}

// Documents of a longer run before this one.
std::vector<store::Write> ArrayRecord::removals(const std::string& below, std::size_t from) const {
  std::vector<store::Write> writes;
  store::ListQuery query{.prefix = below};
  while (true) {
    const store::Page page = store_.list(query);
    for (const store::Document& document : page.documents)
      if (document.key >= fmt::format("{}{:06}", below, from))
        writes.push_back(store::remove(document.key));
    if (page.next_token.empty()) return writes;
    query.token = page.next_token;
  }
}

void ArrayRecord::begin(std::string run, Table rows, std::vector<RowPlan> plans) {
  std::map<std::string, RowState> known;
  for (RowState& state : states_) known.emplace(state.id, std::move(state));
  states_.clear();
  for (const RowPlan& plan : plans) {
    const auto found = known.find(plan.id);
    states_.push_back(found != known.end() ? std::move(found->second) : RowState{.id = plan.id});
  }
  run_ = std::move(run);
  rows_ = std::move(rows);
  plans_ = std::move(plans);

  std::vector<store::Write> writes;
  // One document at least, so that the run is on record when a query gives no row.
  const std::size_t inputs =
      std::max<std::size_t>(1, (rows_.rows.size() + kRowsPerDocument - 1) / kRowsPerDocument);
  for (std::size_t n = 0; n < inputs; ++n) {
    JsonArray some;
    const std::size_t end = std::min(rows_.rows.size(), (n + 1) * kRowsPerDocument);
    for (std::size_t i = n * kRowsPerDocument; i < end; ++i) some.push_back(rows_.rows[i]);
    writes.push_back(store::put(
        fmt::format("{}{:06}", prefix("input"), n),
        base::to_text(JsonObject{{"run", run_},
                                 {"columns", JsonArray(rows_.columns.begin(), rows_.columns.end())},
                                 {"rows", std::move(some)}})));
  }
  const std::size_t documents = (states_.size() + kPerDocument - 1) / kPerDocument;
  for (std::size_t n = 0; n < documents; ++n) writes.push_back(states_document(n));
  for (auto& write : removals(prefix("input"), inputs)) writes.push_back(std::move(write));
  for (auto& write : removals(prefix("states"), documents)) writes.push_back(std::move(write));
  (void)store_.commit(std::move(writes));  // no preconditions: cannot conflict
  changed_.clear();
}

void ArrayRecord::attach_plans(std::vector<RowPlan> plans) { plans_ = std::move(plans); }

void ArrayRecord::save() {
  if (changed_.empty()) return;
  std::vector<store::Write> writes;
  for (const std::size_t number : changed_) writes.push_back(states_document(number));
  (void)store_.commit(std::move(writes));
  changed_.clear();
}

void ArrayRecord::remove() {
  auto writes = removals(prefix("input"), 0);
  for (auto& write : removals(prefix("states"), 0)) writes.push_back(std::move(write));
  (void)store_.commit(std::move(writes));
}

}  // namespace meridian::fleet
