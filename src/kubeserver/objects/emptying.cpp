// Namespaces and definitions take what is in them along.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "kube/object.h"
#include "kubeserver/objects/conditions.h"
#include "kubeserver/objects/definitions.h"
#include "kubeserver/objects/housekeeper.h"

namespace meridian::kubeserver::objects {

using base::Json;
using base::JsonArray;
using control::Outcome;
using Counts = std::map<std::string, std::size_t>;

namespace {

constexpr std::size_t kMostPerStep = 100;
// The end of an object brings the key back at once; this is for what was missed.
constexpr base::Duration kLookAgain = std::chrono::seconds(10);

std::string listed(const Counts& counts, std::string_view what) {
  std::string text;
  for (const auto& [name, count] : counts) {
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", name, what, count);
  }
  return text;
}

}  // namespace

Outcome Housekeeper::empty_namespace(const std::string& name) {
  const kinds::Served& namespaces = builtin("namespaces");
  const auto found = objects_.storage().find(namespaces, {"", name});
  if (!found || !kube::is_deleting(found->object)) {
    closing_.lock()->erase(name);
    return Outcome::done();
  }
  std::size_t removed = 0;
  Counts remaining, finalizers;
  for (const kinds::ServedPtr& served : objects_.catalog().registry()->collections()) {
    if (!served->namespaced()) continue;
    visit(objects_.storage().prefix_of(served->collection, name), "", "", [&](Found one) {
      if (!kube::is_deleting(one.object) && try_remove(one, Propagation::background)) {
        return ++removed < kMostPerStep;
      }
      ++remaining[qualified_plural(*served)];
      for (const std::string& finalizer : kube::finalizers_of(one.object)) ++finalizers[finalizer];
      return true;
    });
    if (removed >= kMostPerStep) break;
  }
  if (removed > 0) return Outcome::again(base::Duration(0));
  if (!remaining.empty()) {
    say_what_remains(name, remaining, finalizers);
    return Outcome::again(kLookAgain);
  }
  objects_.edit(namespaces, {"", name}, [](Json& object) {
    object.as_object()["spec"].as_object()["finalizers"] = JsonArray();
    return true;
  });
  closing_.lock()->erase(name);
  return Outcome::done();
}

void Housekeeper::say_what_remains(const std::string& ns, const Counts& remaining,
                                   const Counts& finalizers) {
  const base::Timestamp now = objects_.now();
  objects_.edit(builtin("namespaces"), {"", ns}, [&](Json& object) {
    bool changed = set_condition(
        object,
        {"NamespaceContentRemaining", "True", "SomeResourcesRemain",
         "Some resources are remaining: " + listed(remaining, "has resource instances:")},
        now);
    changed |= set_condition(object,
                             {"NamespaceFinalizersRemaining", "True", "SomeFinalizersRemain",
                              "Some content in the namespace has finalizers remaining: " +
                                  listed(finalizers, "in resource instances:")},
                             now);
    return changed;
  });
}

Outcome Housekeeper::look_after_definition(const std::string& name) {
  const auto found = objects_.storage().find(builtin("customresourcedefinitions"), {"", name});
  if (!found) {
    // Its names are free now.
    visit(objects_.storage().prefix_of(builtin("customresourcedefinitions").collection), "", "",
          [&](Found other) {
            if (kube::name_of(other.object) != name) accept_again(kube::name_of(other.object));
            return true;
          });
    return Outcome::done();
  }
  if (!kube::is_deleting(found->object)) return accept_again(name);
  return close_definition(name, found->object);
}

Outcome Housekeeper::accept_again(const std::string& name) {
  objects_.edit(builtin("customresourcedefinitions"), {"", name}, [&](Json& definition) {
    const Json before = definition;
    accept_definition(definition, *objects_.catalog().registry(), objects_.now());
    return !same_object(before, definition);
  });
  return Outcome::done();
}

Outcome Housekeeper::close_definition(const std::string& name, const Json& definition) {
  const kinds::Served& definitions = builtin("customresourcedefinitions");
  const Json* group = base::find_path(definition, "spec.group");
  const Json* plural = base::find_path(definition, "spec.names.plural");
  std::size_t removed = 0, remaining = 0;
  if (group != nullptr && plural != nullptr) {
    const std::string collection =
        kinds::collection_of(base::view(group->as_string()), base::view(plural->as_string()));
    visit(objects_.storage().prefix_of(collection), "", "", [&](Found one) {
      if (!kube::is_deleting(one.object) && try_remove(one, Propagation::background)) {
        return ++removed < kMostPerStep;
      }
      ++remaining;
      return true;
    });
  }
  if (removed > 0) return Outcome::again(base::Duration(0));
  const base::Timestamp now = objects_.now();
  objects_.edit(definitions, {"", name}, [&](Json& object) {
    if (remaining == 0) return kube::remove_finalizer(object, kCleanup);
    const Json before = object;
    set_terminating(object, fmt::format("{} instances remain", remaining), now);
    return !same_object(before, object);
  });
  return remaining == 0 ? Outcome::done() : Outcome::again(kLookAgain);
}

}  // namespace meridian::kubeserver::objects
