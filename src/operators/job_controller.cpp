// SPDX-License-Identifier: Apache-2.0
#include "operators/job_controller.h"

#include <fmt/format.h>

#include <algorithm>

#include "aws/model.h"
#include "base/log.h"
#include "kube/object.h"
#include "operators/conditions.h"
#include "operators/form.h"
#include "operators/job_status.h"
#include "operators/mirror_object.h"
#include "operators/steps.h"

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr int kMostActs = 12;  // of one step: finalizer, status, create, record, and some

Observed::Flag flag(bool value) { return value ? Observed::Flag::yes : Observed::Flag::no; }

std::string status_word(const Kind& kind, const Json& object) {
  const Json* status = base::find(object, "status");
  return status != nullptr ? base::string_or(*status, kind.status_field) : "";
}

std::string status_name(const Kind& kind, const Json& object) {
  const Json* status = base::find(object, "status");
  return status != nullptr ? base::string_or(*status, kind.status_name_field) : "";
}

bool is_settled(const Json& object) {
  const Json* status = base::find(object, "status");
  if (status == nullptr) return false;
  const bool ended = condition_status(object, "Complete") == "True" ||
                     condition_status(object, "Failed") == "True" ||
                     condition_status(object, "Stopped") == "True";
  if (!ended) return false;
  // A spec that the region refused may be mended; a job that ran is over ("region" is written
  // then).
  return base::int_or(*status, "observedGeneration", 0) >= kube::generation_of(object) ||
         base::find(*status, "region") != nullptr;
}

double modified_of(const Json& description) {
  return base::double_or(description, "LastModifiedTime",
                         base::double_or(description, "CreationTime", 0));
}

}  // namespace

std::string owner_of(const std::string& installation, const Kind& kind, const Json& object) {
  return fmt::format("{}/{}/{}/{}/{}", installation, kube::namespace_of(object), kind.name,
                     kube::name_of(object), kube::uid_of(object));
}

// One step's view: the resource, and what is known of its record.
struct JobController::Work {
  control::Key key;
  Json object;
  std::string name;  // in the region
  Record record;
  Presence presence = Presence::not_asked;
  Json description;
  bool created = false;  // by this step: no need to ask whose it is

  bool made(const Kind& kind) const { return !status_name(kind, object).empty(); }
};

JobController::JobController(const Kind& kind, Resources& resources, const ControllerParts& parts,
                             ControllerSettings settings, TuningChildren* children)
    : kind_(kind),
      resources_(resources),
      parts_(parts),
      settings_(std::move(settings)),
      children_(children),
      attempts_(parts.clock) {}

control::Key JobController::key_for(const Kind& kind, const kube::ObjectKey& object) {
  return fmt::format("{}/{}/{}", kind.plural, object.ns, object.name);
}

control::Outcome JobController::step(const control::Key& key) {
  std::optional<Json> object = resources_.find(object_of(key));
  if (!object) {
    forget_mirror(key);
    return control::Outcome::done();
  }
  if (const auto left = attempts_.left(*object); left.count() > 0)
    return control::Outcome::again(left);
  Work work{.key = key, .object = std::move(*object)};
  work.name = status_name(kind_, work.object);
  if (work.name.empty() && kind_.user_name == Kind::UserName::yes) {
    work.name = base::string_or(*base::find(work.object, "spec"), kind_.name_field());
  }
  if (work.name.empty()) {
    work.name =
        remote_name(kube::name_of(work.object), kube::uid_of(work.object), kind_.name_limit);
  }
  work.record = {place_of(work.object), &kind_, work.name};
  return run_step([&] { return is_mirror(work.object) ? carry_mirror(work) : carry(work); },
                  [&](const base::Error& error) { return after_error(work, error); });
}

Observed JobController::observe(const Work& work) const {
  Observed seen;
  if (kube::is_deleting(work.object)) {
    const Json* metadata = base::find(work.object, "metadata");
    const auto since = kube::parse_time(base::string_or(*metadata, "deletionTimestamp"));
    const bool overdue = since && parts_.clock.now().ms - since->ms > settings_.escape.count();
    seen.deleting = overdue ? Observed::Deleting::overdue : Observed::Deleting::yes;
  }
  const auto finalizers = kube::finalizers_of(work.object);
  seen.finalizer = flag(std::ranges::find(finalizers, kFinalizer) != finalizers.end());
  seen.first_status = flag(!status_word(kind_, work.object).empty());
  seen.settled = flag(is_settled(work.object));
  seen.made = flag(work.made(kind_));
  seen.ending = flag(base::string_or(work.description, kind_.status_member) == "Stopping");
  seen.remote = work.presence;
  return seen;
}

control::Outcome JobController::carry(Work& work) {
  for (int i = 0; i < kMostActs; ++i) {
    const Act next = plan(observe(work));
    // Nothing new in the region since the last description: our own writes bring us here.
    const bool known = next == Act::look && work.made(kind_) && !kube::is_deleting(work.object) &&
                       !parts_.feed.changed(work.record);
    if (next == Act::nothing || known) {
      if (kube::is_deleting(work.object) || is_settled(work.object))
        parts_.feed.forget(work.record);
      return control::Outcome::done();
    }
    act(next, work);
    if (next == Act::release || next == Act::release_overdue) return control::Outcome::done();
    if (next == Act::record && !is_settled(work.object)) {
      if (!kube::is_deleting(work.object)) return control::Outcome::done();
      return control::Outcome::again(settings_.escape);
    }
  }
  throw base::Error(base::Code::internal,
                    fmt::format("{} takes more acts than it can have", work.key));
}

control::Outcome JobController::carry_mirror(Work& work) {
  if (kube::is_deleting(work.object) || is_settled(work.object)) {
    forget_mirror(work.key);
    return control::Outcome::done();
  }
  if (work.made(kind_) && !parts_.feed.changed(work.record)) return control::Outcome::done();
  (*mirrored_.lock())[work.key] = work.record;
  look(work);
  if (work.presence == Presence::absent) {
    resources_.remove(work.object);
  } else {
    record(work);
  }
  if (is_settled(work.object)) forget_mirror(work.key);
  return control::Outcome::done();
}

void JobController::forget_mirror(const control::Key& key) {
  auto mirrored = mirrored_.lock();
  const auto found = mirrored->find(key);
  if (found == mirrored->end()) return;
  parts_.feed.forget(found->second);
  mirrored->erase(found);
}

void JobController::act(Act next, Work& work) {
  switch (next) {
    case Act::nothing: return;
    case Act::add_finalizer:
      work.object = resources_.add_finalizer(work.object, kFinalizer);
      return;
    case Act::write_first_status:
      work.object = resources_.write_status(work.object,
                                            first_status(kind_, work.object, parts_.clock.now()));
      return;
    case Act::look: return look(work);
    case Act::create: return create(work);
    case Act::record: return record(work);
    case Act::fail_deleted:
      return finish_failed(work, "RemoteDeleted",
                           fmt::format("{} was deleted in {}; it is not made again by itself",
                                       work.name, work.record.place.text()));
    case Act::fail_in_use:
      return finish_failed(
          work, "NameInUse",
          fmt::format("{} has a job named {} that this resource did not make; choose another "
                      "name, or set spec.ifExists: adopt",
                      work.record.place.text(), work.name));
    case Act::stop:
      parts_.events.write(work.object, EventType::normal, "Stopping", "stopping " + work.name);
      parts_.remotes.get(work.record.place)
          .call("sagemaker", kind_.end, {{kind_.name_member, work.name}});
      return look(work);
    case Act::release_overdue:
      parts_.events.write(
          work.object, EventType::warning, "Abandoned",
          fmt::format("{} did not confirm the end of {} in time: it may still run there",
                      work.record.place.text(), work.name));
      return release(work);
    case Act::release: return release(work);
  }
}

void JobController::look(Work& work) {
  parts_.feed.follow(work.record, work.key);
  try {
    work.description = parts_.remotes.get(work.record.place)
                           .call("sagemaker", kind_.describe, {{kind_.name_member, work.name}});
  } catch (const base::Error& error) {
    if (!has_no_record(error)) throw;
    work.presence = Presence::absent;
    work.description = nullptr;
    return;
  }
  parts_.feed.described(work.record, modified_of(work.description));
  const bool known = work.made(kind_) || work.created || is_mirror(work.object);
  if (!known && !is_ours(work, work.description)) {
    work.presence = Presence::foreign;
  } else {
    work.presence = is_terminal(kind_, work.description) ? Presence::finished : Presence::active;
  }
}

bool JobController::is_ours(const Work& work, const Json& description) {
  if (base::string_or(*base::find(work.object, "spec"), "ifExists") == "adopt") return true;
  const Json tags = parts_.remotes.get(work.record.place)
                        .call("sagemaker", "ListTags",
                              {{"ResourceArn", base::string_or(description, kind_.arn_member)}});
  const Json* list = base::find(tags, "Tags");
  if (list == nullptr || !list->is_array()) return false;
  const std::string owner = owner_of(settings_.installation, kind_, work.object);
  return std::ranges::any_of(list->get_array(), [&](const Json& tag) {
    return base::string_or(tag, "Key") == kOwnerTag && base::string_or(tag, "Value") == owner;
  });
}

void JobController::create(Work& work) {
  const aws::Operation& operation = *aws::get_model("sagemaker").find_operation(kind_.create);
  JsonObject input = to_api(*operation.input, *base::find(work.object, "spec")).as_object();
  input[kind_.name_member] = work.name;
  if (!input.contains("Tags")) input["Tags"] = JsonArray{};
  input["Tags"].as_array().push_back(
      {{"Key", kOwnerTag}, {"Value", owner_of(settings_.installation, kind_, work.object)}});
  try {
    parts_.remotes.get(work.record.place).call("sagemaker", kind_.create, input);
    work.created = true;
    parts_.events.write(work.object, EventType::normal, "Created",
                        fmt::format("created {} in {}", work.name, work.record.place.text()));
  } catch (const base::Error& error) {
    if (judge(error) != Verdict::in_use) throw;
  }
  look(work);
}

void JobController::record(Work& work) {
  const std::string before = status_word(kind_, work.object);
  if (children_ != nullptr) children_->bring(work.object, work.name);
  const JsonObject status = status_from(kind_, work.object, work.description, parts_.clock.now());
  work.object = resources_.write_status(work.object, status);
  const std::string after = status_word(kind_, work.object);
  attempts_.forget(kube::uid_of(work.object));
  if (after == before) return;
  const bool failed = after == "Failed";
  const std::string additional = base::string_or(status, "additional");
  parts_.events.write(
      work.object, failed ? EventType::warning : EventType::normal, after,
      failed && !additional.empty() ? additional : fmt::format("{} is {}", work.name, after));
}

void JobController::finish_failed(Work& work, const std::string& reason,
                                  const std::string& message) {
  work.object = resources_.write_status(
      work.object, failed_status(kind_, work.object, reason, message, parts_.clock.now()));
  parts_.feed.forget(work.record);
  parts_.events.write(work.object, EventType::warning, reason, message);
}

void JobController::release(Work& work) {
  parts_.feed.forget(work.record);
  attempts_.forget(kube::uid_of(work.object));
  resources_.remove_finalizer(work.object, kFinalizer);
}

control::Outcome JobController::after_error(Work& work, const base::Error& error) {
  const base::Timestamp now = parts_.clock.now();
  if (judge(error) == Verdict::terminal && !kube::is_deleting(work.object)) {
    finish_failed(work, reason_of(error), error.message());
    return control::Outcome::done();
  }
  const base::Duration pause = attempts_.next(work.object);
  const base::Timestamp next{now.ms + pause.count()};
  const std::string before = status_word(kind_, work.object);
  work.object = resources_.write_status(
      work.object,
      retrying_status(kind_, work.object, reason_of(error), error.message(), next, now));
  if (before != kind_.reconciling) {
    parts_.events.write(work.object, EventType::warning, reason_of(error), error.message());
  }
  return control::Outcome::again(pause);
}

}  // namespace meridian::operators
