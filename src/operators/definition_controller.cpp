// SPDX-License-Identifier: Apache-2.0
#include "operators/definition_controller.h"

#include <fmt/format.h>

#include <algorithm>

#include "aws/model.h"
#include "base/digest.h"
#include "base/strings.h"
#include "kube/object.h"
#include "operators/conditions.h"
#include "operators/form.h"
#include "operators/job_status.h"
#include "operators/steps.h"

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using Status = Condition::Status;

std::vector<std::string> stale_names(const Json& object) {
  std::vector<std::string> names;
  const Json* list = base::find_path(object, "status.staleNames");
  if (list == nullptr || !list->is_array()) return names;
  for (const Json& name : list->get_array()) {
    if (name.is_string()) names.emplace_back(base::view(name.get_string()));
  }
  return names;
}

}  // namespace

std::string content_hash(const Json& spec) {
  JsonObject content = spec.is_object() ? spec.get_object() : JsonObject{};
  for (const char* place : {"region", "sageMakerEndpoint", "tags"}) content.erase(place);
  return base::sha256_hex(base::to_text(content, base::JsonStyle::sorted)).substr(0, 8);
}

DefinitionController::DefinitionController(const Kind& kind, Resources& resources,
                                           const ControllerParts& parts,
                                           ControllerSettings settings)
    : kind_(kind),
      resources_(resources),
      parts_(parts),
      settings_(std::move(settings)),
      attempts_(parts.clock) {}

control::Outcome DefinitionController::step(const control::Key& key) {
  std::optional<Json> object = resources_.find(object_of(key));
  if (!object) return control::Outcome::done();
  if (const auto left = attempts_.left(*object); left.count() > 0)
    return control::Outcome::again(left);
  return run_step([&] { return carry(*object); },
                  [&](const base::Error& error) { return after_error(*object, error); });
}

control::Outcome DefinitionController::carry(Json& object) {
  const auto finalizers = kube::finalizers_of(object);
  const bool guarded = std::ranges::find(finalizers, kFinalizer) != finalizers.end();
  if (kube::is_deleting(object)) return guarded ? release(object) : control::Outcome::done();
  const JsonObject status = kube::status_of(object);
  const bool current = base::int_or(status, "observedGeneration", 0) == kube::generation_of(object);
  const bool decided =
      condition_status(object, "Ready") == "True" || condition_status(object, "Stalled") == "True";
  if (current && decided && stale_names(object).empty()) return control::Outcome::done();
  if (!guarded) object = resources_.add_finalizer(object, kFinalizer);

  const Json* spec = base::find(object, "spec");
  // Room for "-" and the hash after the generated name.
  const std::string name = fmt::format(
      "{}-{}", remote_name(kube::name_of(object), kube::uid_of(object), kind_.name_limit - 9),
      content_hash(spec != nullptr ? *spec : Json()));
  if (base::string_or(status, kind_.status_name_field) != name) create(object, name);
  settle(object, name);
  remove_stale(object);
  attempts_.forget(kube::uid_of(object));
  return control::Outcome::done();
}

void DefinitionController::create(const Json& object, const std::string& name) {
  const aws::Operation& operation = *aws::get_model("sagemaker").find_operation(kind_.create);
  JsonObject input = to_api(*operation.input, *base::find(object, "spec")).as_object();
  input[kind_.name_member] = name;
  if (!input.contains("Tags")) input["Tags"] = JsonArray{};
  input["Tags"].as_array().push_back(
      {{"Key", kOwnerTag}, {"Value", owner_of(settings_.installation, kind_, object)}});
  try {
    parts_.remotes.get(place_of(object)).call("sagemaker", kind_.create, input);
    parts_.events.write(object, EventType::normal, "Created",
                        fmt::format("created {} in {}", name, place_of(object).text()));
  } catch (const base::Error& error) {
    // The name holds our uid and the content: what is there is what we would make.
    if (judge(error) != Verdict::in_use) throw;
  }
}

void DefinitionController::settle(Json& object, const std::string& name) {
  const Json description = parts_.remotes.get(place_of(object))
                               .call("sagemaker", kind_.describe, {{kind_.name_member, name}});
  const base::Timestamp now = parts_.clock.now();
  JsonObject status = kube::status_of(object);
  const std::string before = base::string_or(status, kind_.status_name_field);
  std::vector<std::string> stale = stale_names(object);
  if (!before.empty() && before != name) stale.push_back(before);
  status[kind_.status_field] = "Created";
  status[kind_.status_name_field] = name;
  status[lower_first(kind_.arn_member)] = base::string_or(description, kind_.arn_member);
  status["region"] = place_of(object).region;
  status["staleNames"] = JsonArray(stale.begin(), stale.end());
  status["observedGeneration"] = kube::generation_of(object);
  status.erase("additional");
  status.erase("reason");
  if (before != name) status["lastUpdateTime"] = kube::time_text(now);
  set_condition(status, {"Ready", Status::yes, "Created", name + " is in the region"},
                kube::generation_of(object), now);
  clear_condition(status, "Stalled");
  clear_condition(status, "Reconciling");
  object = resources_.write_status(object, status);
}

void DefinitionController::remove_stale(Json& object) {
  const std::vector<std::string> stale = stale_names(object);
  if (stale.empty()) return;
  for (const std::string& name : stale) remove(object, name);
  JsonObject status = kube::status_of(object);
  status["staleNames"] = JsonArray{};
  object = resources_.write_status(object, status);
}

void DefinitionController::remove(const Json& object, const std::string& name) {
  try {
    parts_.remotes.get(place_of(object)).call("sagemaker", kind_.end, {{kind_.name_member, name}});
  } catch (const base::Error& error) {
    if (!has_no_record(error)) throw;
  }
}

control::Outcome DefinitionController::release(Json& object) {
  std::vector<std::string> names = stale_names(object);
  const std::string current = base::string_or(kube::status_of(object), kind_.status_name_field);
  if (!current.empty()) names.push_back(current);
  const Json* metadata = base::find(object, "metadata");
  const auto since = kube::parse_time(base::string_or(*metadata, "deletionTimestamp"));
  const bool overdue = since && parts_.clock.now().ms - since->ms > settings_.escape.count();
  try {
    for (const std::string& name : names) remove(object, name);
  } catch (const base::Error& error) {
    if (!overdue) throw;
    parts_.events.write(
        object, EventType::warning, "Abandoned",
        fmt::format("{} did not take the deletion of {} in time: {}", place_of(object).text(),
                    base::join(names, ", "), error.message()));
  }
  attempts_.forget(kube::uid_of(object));
  resources_.remove_finalizer(object, kFinalizer);
  return control::Outcome::done();
}

control::Outcome DefinitionController::after_error(Json& object, const base::Error& error) {
  const base::Timestamp now = parts_.clock.now();
  if (judge(error) == Verdict::terminal && !kube::is_deleting(object)) {
    object = resources_.write_status(
        object, failed_status(kind_, object, reason_of(error), error.message(), now));
    parts_.events.write(object, EventType::warning, reason_of(error), error.message());
    return control::Outcome::done();
  }
  const base::Duration pause = attempts_.next(object);
  resources_.write_status(
      object, retrying_status(kind_, object, reason_of(error), error.message(), now + pause, now));
  return control::Outcome::again(pause);
}

}  // namespace meridian::operators
