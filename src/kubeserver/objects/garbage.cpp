// Owners and dependents.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/strings.h"
#include "kube/object.h"
#include "kubeserver/objects/housekeeper.h"

namespace meridian::kubeserver::objects {

using base::Json;
using base::JsonArray;
using control::Outcome;
using kube::OwnerReference;

namespace {

constexpr std::size_t kMostPerStep = 100;  // removals; the next step goes on

Outcome at_once() { return Outcome::again(base::Duration(0)); }

bool has_finalizer(const Json& object, std::string_view finalizer) {
  const auto all = kube::finalizers_of(object);
  return std::ranges::find(all, finalizer) != all.end();
}

bool blocks(const Json& dependent, const std::string& uid) {
  const auto owners = kube::owners_of(dependent);
  return std::ranges::any_of(owners, [&](const OwnerReference& owner) {
    return owner.uid == uid && owner.block_deletion == OwnerReference::BlockDeletion::yes;
  });
}

// Says whether there was such a reference.
bool drop_owner(Json& object, const std::string& uid) {
  const Json* list = base::find_path(object, "metadata.ownerReferences");
  if (list == nullptr || !list->is_array()) return false;
  JsonArray kept;
  for (const Json& owner : list->get_array()) {
    if (base::string_or(owner, "uid") != uid) kept.push_back(owner);
  }
  if (kept.size() == list->get_array().size()) return false;
  if (kept.empty()) {
    kube::metadata_of(object).stable_erase("ownerReferences");
  } else {
    kube::metadata_of(object)["ownerReferences"] = std::move(kept);
  }
  return true;
}

}  // namespace

Outcome Housekeeper::look_after_owner(const std::string& uid) {
  const auto owner = find_by_uid(uid);
  if (!owner) return delete_orphans(uid);
  if (!kube::is_deleting(owner->object)) return Outcome::done();
  if (has_finalizer(owner->object, kOrphan)) return let_go(*owner, uid);
  if (has_finalizer(owner->object, kForeground)) return finish_foreground(*owner, uid);
  return Outcome::done();
}

// The owner is gone: dependents that have no other owner go too.
Outcome Housekeeper::delete_orphans(const std::string& uid) {
  std::size_t removed = 0;
  visit(objects_.storage().prefix(), "owner:" + uid, "1", [&](Found dependent) {
    if (kube::is_deleting(dependent.object)) return true;
    const auto owners = kube::owners_of(dependent.object);
    const std::string ns = kube::namespace_of(dependent.object);
    const bool kept = std::ranges::any_of(owners, [&](const OwnerReference& owner) {
      return owner.uid != uid && owner_exists(owner, ns);
    });
    if (kept) {
      objects_.edit(*dependent.served, dependent.key(),
                    [&](Json& object) { return drop_owner(object, uid); });
    } else {
      if (!try_remove(dependent, Propagation::background)) return true;
    }
    return ++removed < kMostPerStep;
  });
  return removed < kMostPerStep ? Outcome::done() : at_once();
}

// The owner waits for the dependents that block it; all are told to go.
Outcome Housekeeper::finish_foreground(const Found& owner, const std::string& uid) {
  std::size_t removed = 0;
  bool blocked = false;
  visit(objects_.storage().prefix(), "owner:" + uid, "1", [&](Found dependent) {
    blocked |= blocks(dependent.object, uid);
    if (kube::is_deleting(dependent.object)) return true;
    if (!try_remove(dependent, Propagation::foreground)) return true;
    return ++removed < kMostPerStep;
  });
  if (removed > 0) return at_once();    // look again at what is left
  if (blocked) return Outcome::done();  // the end of each dependent brings the key back
  objects_.edit(*owner.served, owner.key(),
                [](Json& object) { return kube::remove_finalizer(object, kForeground); });
  return Outcome::done();
}

Outcome Housekeeper::let_go(const Found& owner, const std::string& uid) {
  std::size_t changed = 0;
  visit(objects_.storage().prefix(), "owner:" + uid, "1", [&](Found dependent) {
    objects_.edit(*dependent.served, dependent.key(),
                  [&](Json& object) { return drop_owner(object, uid); });
    return ++changed < kMostPerStep;
  });
  if (changed > 0) return at_once();
  objects_.edit(*owner.served, owner.key(),
                [](Json& object) { return kube::remove_finalizer(object, kOrphan); });
  return Outcome::done();
}

// "GROUP/PLURAL/NS/NAME": goes when it has owners and none of them is there.
Outcome Housekeeper::look_after_dependent(const std::string& place) {
  const auto document = objects_.storage().store().find(objects_.storage().prefix() + place);
  if (!document) return Outcome::done();
  const auto found = read(*document);
  if (!found || kube::is_deleting(found->object)) return Outcome::done();
  const auto owners = kube::owners_of(found->object);
  const std::string ns = kube::namespace_of(found->object);
  const bool kept = std::ranges::any_of(
      owners, [&](const OwnerReference& owner) { return owner_exists(owner, ns); });
  if (!owners.empty() && !kept) try_remove(*found, Propagation::background);
  return Outcome::done();
}

}  // namespace meridian::kubeserver::objects
