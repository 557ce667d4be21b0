// SPDX-License-Identifier: Apache-2.0
#include "operators/hosting_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "aws/model.h"
#include "kube/object.h"
#include "operators/conditions.h"
#include "operators/form.h"
#include "operators/hosting_children.h"
#include "operators/hosting_status.h"
#include "operators/job_status.h"
#include "operators/steps.h"

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr base::Duration kDeletionPoll{5'000};  // listings do not show what was deleted

const Kind& hosting() { return get_kind("HostingDeployment"); }

}  // namespace

struct HostingController::Work {
  control::Key key;
  Json object;
  std::string name;
  Record record;
  Json description;
  std::set<std::string> wanted;  // names of the children that the spec wants
};

HostingController::HostingController(Resources& deployments, Resources& models, Resources& configs,
                                     const ControllerParts& parts, ControllerSettings settings)
    : deployments_(deployments),
      models_(models),
      configs_(configs),
      parts_(parts),
      settings_(std::move(settings)),
      attempts_(parts.clock) {}

control::Outcome HostingController::step(const control::Key& key) {
  std::optional<Json> object = deployments_.find(object_of(key));
  if (!object) return control::Outcome::done();
  if (const auto left = attempts_.left(*object); left.count() > 0)
    return control::Outcome::again(left);
  Work work{.key = key, .object = std::move(*object)};
  work.name = base::string_or(kube::status_of(work.object), "endpointName");
  if (const Json* spec = base::find(work.object, "spec"); spec != nullptr && work.name.empty()) {
    work.name = base::string_or(*spec, "endpointName");
  }
  if (work.name.empty()) {
    work.name =
        remote_name(kube::name_of(work.object), kube::uid_of(work.object), hosting().name_limit);
  }
  work.record = {place_of(work.object), &hosting(), work.name};
  return run_step([&] { return carry(work); },
                  [&](const base::Error& error) { return after_error(work, error); });
}

control::Outcome HostingController::carry(Work& work) {
  const auto finalizers = kube::finalizers_of(work.object);
  const bool guarded = std::ranges::find(finalizers, kFinalizer) != finalizers.end();
  if (kube::is_deleting(work.object)) return guarded ? release(work) : control::Outcome::done();
  if (!guarded) work.object = deployments_.add_finalizer(work.object, kFinalizer);
  if (kube::status_of(work.object).empty()) {
    work.object = deployments_.write_status(
        work.object, first_status(hosting(), work.object, parts_.clock.now()));
  }
  const bool decided = condition_status(work.object, "Ready") == "True" ||
                       condition_status(work.object, "Stalled") == "True";
  const bool current_spec = base::int_or(kube::status_of(work.object), "observedGeneration", 0) ==
                            kube::generation_of(work.object);
  // Nothing new in the region since the last description: our own writes bring us here.
  if (decided && current_spec && !parts_.feed.changed(work.record)) return control::Outcome::done();
  const auto models = ready_models(work);
  if (!models) return control::Outcome::done();  // a child's change brings us back
  const auto config = ready_config(work, *models);
  if (!config) return control::Outcome::done();

  if (!describe(work)) {
    const JsonObject status = kube::status_of(work.object);
    if (status.contains("endpointArn")) {
      stall(work, "RemoteDeleted",
            fmt::format("endpoint {} was deleted in {}; it is not made again by itself", work.name,
                        work.record.place.text()));
      return control::Outcome::done();
    }
    create_endpoint(work, *config);
    if (!describe(work)) return control::Outcome::again(kDeletionPoll);
  }
  const bool in_service = base::string_or(work.description, "EndpointStatus") == "InService";
  const bool current = base::string_or(work.description, "EndpointConfigName") == *config;
  if (in_service && !current) {
    if (base::string_or(kube::status_of(work.object), "attemptedConfigName") == *config) {
      record(work, *config);
      stall(work, "UpdateFailed",
            base::string_or(work.description, "FailureReason", "the region took the update back"));
      return control::Outcome::done();
    }
    update_endpoint(work, *config);
    describe(work);
  }
  record(work, *config);
  attempts_.forget(kube::uid_of(work.object));
  if (in_service && current) remove_older(work);
  return control::Outcome::done();
}

std::optional<Json> HostingController::ensure_ready(Work& work, Resources& resources,
                                                    const Kind& kind, Json wanted) {
  work.wanted.insert(kube::name_of(wanted));
  std::optional<Json> child = resources.find(kube::key_of(wanted));
  if (!child) {
    child = resources.create(wanted);
    parts_.events.write(work.object, EventType::normal, kind.name + "Created",
                        "created " + kube::name_of(wanted));
  }
  if (condition_status(*child, "Stalled") == "True") {
    stall(work, kind.name + "Failed",
          fmt::format("{} {}: {}", kind.name, kube::name_of(*child),
                      base::string_or(kube::status_of(*child), "additional")));
    return std::nullopt;
  }
  if (condition_status(*child, "Ready") != "True") return std::nullopt;
  return child;
}

std::optional<std::map<std::string, std::string>> HostingController::ready_models(Work& work) {
  const Kind& kind = get_kind("Model");
  std::map<std::string, std::string> names;
  const std::vector<Json> wanted = model_resources(work.object);
  const JsonArray& declared = base::find(*base::find(work.object, "spec"), "models")->as_array();
  bool ready = true;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto model = ensure_ready(work, models_, kind, wanted[i]);
    if (!model) {
      ready = false;
      continue;
    }
    names[base::string_or(declared[i], "name")] =
        base::string_or(kube::status_of(*model), kind.status_name_field);
  }
  if (!ready) return std::nullopt;
  return names;
}

std::optional<std::string> HostingController::ready_config(
    Work& work, const std::map<std::string, std::string>& models) {
  const Kind& kind = get_kind("EndpointConfig");
  const auto config = ensure_ready(work, configs_, kind, config_resource(work.object, models));
  if (!config) return std::nullopt;
  return base::string_or(kube::status_of(*config), kind.status_name_field);
}

bool HostingController::describe(Work& work) {
  parts_.feed.follow(work.record, work.key);
  try {
    work.description = parts_.remotes.get(work.record.place)
                           .call("sagemaker", "DescribeEndpoint", {{"EndpointName", work.name}});
  } catch (const base::Error& error) {
    if (!has_no_record(error)) throw;
    return false;
  }
  parts_.feed.described(work.record, base::double_or(work.description, "LastModifiedTime", 0));
  return true;
}

void HostingController::create_endpoint(Work& work, const std::string& config) {
  const aws::Operation& operation = *aws::get_model("sagemaker").find_operation("CreateEndpoint");
  JsonObject input = to_api(*operation.input, *base::find(work.object, "spec")).as_object();
  input["EndpointName"] = work.name;
  input["EndpointConfigName"] = config;
  if (!input.contains("Tags")) input["Tags"] = JsonArray{};
  input["Tags"].as_array().push_back(
      {{"Key", kOwnerTag}, {"Value", owner_of(settings_.installation, hosting(), work.object)}});
  try {
    parts_.remotes.get(work.record.place).call("sagemaker", "CreateEndpoint", input);
  } catch (const base::Error& error) {
    if (judge(error) != Verdict::in_use) throw;
  }
  parts_.events.write(
      work.object, EventType::normal, "Created",
      fmt::format("created endpoint {} in {}", work.name, work.record.place.text()));
}

void HostingController::update_endpoint(Work& work, const std::string& config) {
  const aws::Operation& operation = *aws::get_model("sagemaker").find_operation("UpdateEndpoint");
  JsonObject input = to_api(*operation.input, *base::find(work.object, "spec")).as_object();
  input["EndpointName"] = work.name;
  input["EndpointConfigName"] = config;
  // Written first: a crash in between must not send it twice after the region took it back.
  JsonObject status = kube::status_of(work.object);
  status["attemptedConfigName"] = config;
  work.object = deployments_.write_status(work.object, status);
  parts_.remotes.get(work.record.place).call("sagemaker", "UpdateEndpoint", input);
  parts_.events.write(work.object, EventType::normal, "Updating",
                      "updating the endpoint to " + config);
}

void HostingController::record(Work& work, const std::string& config) {
  const std::string before = base::string_or(kube::status_of(work.object), "endpointStatus");
  work.object = deployments_.write_status(
      work.object, hosting_status(work.object, work.description, config, parts_.clock.now()));
  const std::string after = base::string_or(kube::status_of(work.object), "endpointStatus");
  if (before != after) {
    parts_.events.write(work.object, after == "Failed" ? EventType::warning : EventType::normal,
                        after, fmt::format("endpoint {} is {}", work.name, after));
  }
}

// In service as wanted: what earlier generations stood on goes.
void HostingController::remove_older(Work& work) {
  for (Resources* resources : {&configs_, &models_}) {
    for (const Json& child : resources->list(kube::namespace_of(work.object))) {
      const bool ours = deployment_of(child) == kube::name_of(work.object);
      if (ours && !work.wanted.contains(kube::name_of(child)) && !kube::is_deleting(child))
        resources->remove(child);
    }
  }
}

control::Outcome HostingController::release(Work& work) {
  const Json* metadata = base::find(work.object, "metadata");
  const auto since = kube::parse_time(base::string_or(*metadata, "deletionTimestamp"));
  const bool overdue = since && parts_.clock.now().ms - since->ms > settings_.escape.count();
  if (!overdue && describe(work)) {
    if (base::string_or(work.description, "EndpointStatus") != "Deleting") {
      parts_.remotes.get(work.record.place)
          .call("sagemaker", "DeleteEndpoint", {{"EndpointName", work.name}});
      parts_.events.write(work.object, EventType::normal, "Deleting",
                          "deleting endpoint " + work.name);
      if (describe(work)) record(work, base::string_or(work.description, "EndpointConfigName"));
    }
    return control::Outcome::again(kDeletionPoll);
  }
  if (overdue) {
    parts_.events.write(work.object, EventType::warning, "Abandoned",
                        fmt::format("{} did not confirm the deletion of {} in time",
                                    work.record.place.text(), work.name));
  }
  parts_.feed.forget(work.record);
  attempts_.forget(kube::uid_of(work.object));
  deployments_.remove_finalizer(work.object, kFinalizer);
  return control::Outcome::done();
}

void HostingController::stall(Work& work, const std::string& reason, const std::string& message) {
  JsonObject status = failed_status(hosting(), work.object, reason, message, parts_.clock.now());
  // What still serves is still in service.
  const std::string word = base::string_or(work.description, "EndpointStatus");
  if (!word.empty()) status["endpointStatus"] = word;
  const std::string before = base::string_or(kube::status_of(work.object), "reason");
  work.object = deployments_.write_status(work.object, status);
  if (before != reason) parts_.events.write(work.object, EventType::warning, reason, message);
}

control::Outcome HostingController::after_error(Work& work, const base::Error& error) {
  const base::Timestamp now = parts_.clock.now();
  if (judge(error) == Verdict::terminal && !kube::is_deleting(work.object)) {
    stall(work, reason_of(error), error.message());
    return control::Outcome::done();
  }
  const base::Duration pause = attempts_.next(work.object);
  deployments_.write_status(work.object, retrying_status(hosting(), work.object, reason_of(error),
                                                         error.message(), now + pause, now));
  return control::Outcome::again(pause);
}

}  // namespace meridian::operators
