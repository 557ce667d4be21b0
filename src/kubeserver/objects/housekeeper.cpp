// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/objects/housekeeper.h"

#include "base/log.h"
#include "base/strings.h"
#include "kube/object.h"
#include "kubeserver/objects/definitions.h"

namespace meridian::kubeserver::objects {

using base::Json;
using control::Outcome;
using kinds::Served;
using kube::ObjectKey;

namespace {

constexpr base::Duration kExpireEvery = std::chrono::minutes(5);
constexpr std::size_t kPage = 200;

std::string behind_slash(const control::Key& key) { return key.substr(key.find('/') + 1); }

}  // namespace

Housekeeper::Housekeeper(Objects& objects, control::Runner& runner, HousekeeperSettings settings)
    : objects_(objects), runner_(runner), settings_(settings) {
  objects_.on_commit([this](const Aftermath& aftermath) { committed(aftermath); });
}

void Housekeeper::register_steps(control::StepTable& steps) {
  const auto add = [&](const char* kind, Outcome (Housekeeper::*step)(const std::string&)) {
    steps.add(kind,
              [this, step](const control::Key& key) { return (this->*step)(behind_slash(key)); });
  };
  add("kube-owner", &Housekeeper::look_after_owner);
  add("kube-dependent", &Housekeeper::look_after_dependent);
  add("kube-namespace", &Housekeeper::empty_namespace);
  add("kube-definition", &Housekeeper::look_after_definition);
  steps.add("kube-events", [this](const control::Key&) { return expire_events(); });
  steps.add("kube-scan", [this](const control::Key&) { return scan(); });
}

void Housekeeper::resume() {
  runner_.add("kube-scan/");
  runner_.add_after("kube-events/", kExpireEvery);
}

void Housekeeper::add_ending(const Served& served, const Json& object) {
  runner_.add("kube-owner/" + kube::uid_of(object));
  if (is_namespace(served)) {
    closing_.lock()->insert(kube::name_of(object));
    runner_.add("kube-namespace/" + kube::name_of(object));
  }
  if (is_definition(served)) runner_.add("kube-definition/" + kube::name_of(object));
}

void Housekeeper::committed(const Aftermath& aftermath) {
  const auto& [served, object, gone, new_owners] = aftermath;
  if (new_owners && !gone) {
    const ObjectKey key = kube::key_of(object);
    runner_.add("kube-dependent/" + served.collection + "/" + (key.ns.empty() ? "-" : key.ns) +
                "/" + key.name);
  }
  if (kube::is_deleting(object) || gone) add_ending(served, object);
  if (!gone) return;
  for (const kube::OwnerReference& owner : kube::owners_of(object)) {
    runner_.add("kube-owner/" + owner.uid);
  }
  const std::string ns = kube::namespace_of(object);
  if (closing_.lock()->contains(ns)) runner_.add("kube-namespace/" + ns);
  if (served.closing) runner_.add("kube-definition/" + served.definition);
}

std::optional<Housekeeper::Found> Housekeeper::read(const store::Document& document) const {
  const auto location = objects_.storage().location_of(document.key);
  if (!location) return std::nullopt;
  const auto registry = objects_.catalog().registry();
  for (const kinds::ServedPtr& served : registry->collections()) {
    if (served->collection != location->collection) continue;
    return Found{served, read_object(*served, document.body, document.revision)};
  }
  return std::nullopt;
}

void Housekeeper::visit(const std::string& prefix, const std::string& field,
                        const std::string& value, const std::function<bool(Found)>& visit) const {
  store::ListQuery query{.prefix = prefix, .limit = kPage};
  if (!field.empty()) query.equals[field] = value;
  do {
    const store::Page page = objects_.storage().store().list(query);
    for (const store::Document& document : page.documents) {
      auto found = read(document);
      if (found && !visit(std::move(*found))) return;
    }
    query.token = page.next_token;
  } while (!query.token.empty());
}

std::optional<Housekeeper::Found> Housekeeper::find_by_uid(const std::string& uid) const {
  std::optional<Found> found;
  visit(objects_.storage().prefix(), "uid", uid, [&](Found one) {
    found = std::move(one);
    return false;
  });
  return found;
}

// An owner in another namespace is none.
bool Housekeeper::owner_exists(const kube::OwnerReference& owner, const std::string& ns) const {
  const auto found = find_by_uid(owner.uid);
  if (!found) return false;
  const std::string own = kube::namespace_of(found->object);
  return own.empty() || own == ns;
}

bool Housekeeper::try_remove(const Found& found, Propagation propagation) {
  try {
    objects_.remove(*found.served, found.key(),
                    {.propagation = propagation, .uid = kube::uid_of(found.object)});
    return true;
  } catch (const kube::StatusError& error) {
    base::log_info("not removed", {{"object", found.key().text()}, {"why", error.what()}});
    return false;
  }
}

Outcome Housekeeper::expire_events() {
  const store::ListQuery query{
      .prefix = objects_.storage().prefix_of(builtin("events").collection),
      .ranges = {{.field = "written",
                  .below = store::index_number((objects_.now() - settings_.event_lifetime).ms)}},
      .limit = kPage};
  const store::Page page = objects_.storage().store().list(query);
  std::vector<store::Write> writes;
  for (const store::Document& document : page.documents) {
    writes.push_back(store::remove(document.key, document.revision));
  }
  // One that was written meanwhile lives on; the others go with the next step.
  if (!writes.empty()) (void)objects_.storage().store().commit(std::move(writes));
  return Outcome::again(page.next_token.empty() ? kExpireEvery : base::Duration(0));
}

Outcome Housekeeper::scan() {
  const std::string after = *scanned_.lock();
  const store::Page page = objects_.storage().store().list(
      {.prefix = objects_.storage().prefix(), .start_after = after, .limit = kPage});
  for (const store::Document& document : page.documents) {
    *scanned_.lock() = document.key;
    const bool owned = document.index.contains("owned"), ends = document.index.contains("deleting");
    const auto location = objects_.storage().location_of(document.key);
    if (owned && location) {
      runner_.add("kube-dependent/" + document.key.substr(objects_.storage().prefix().size()));
    }
    if (!ends) continue;
    if (const auto found = read(document)) add_ending(*found->served, found->object);
  }
  return page.next_token.empty() ? Outcome::done() : Outcome::again(base::Duration(0));
}

}  // namespace meridian::kubeserver::objects
