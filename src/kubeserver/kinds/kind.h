// What is special about the objects of a built-in kind, and what a resource is once it is served.
//
// A custom resource has no Kind: its schema says everything. A built-in kind has a schema too, plus
// the few functions below for what a schema cannot say. All are pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "kube/resource.h"
#include "kube/status.h"

namespace meridian::kubeserver::kinds {

enum class NameRule { subdomain, label, path_segment };

struct Kind {
  // Fills in what clients leave out and takes back what they may not set. `old`: null on creation.
  void (*prepare)(base::Json& object, const base::Json* old) = nullptr;
  void (*check)(const base::Json& object, const base::Json* old,
                std::vector<kube::Cause>& causes) = nullptr;
  // A Table's row, a cell for each of the resource's columns; the name is a column like any other.
  base::JsonArray (*cells)(const base::Json& object, base::Timestamp now) = nullptr;
  // Fields that lists look up by.
  std::map<std::string, std::string> (*index)(const base::Json& object) = nullptr;
  // Objects stored in a sibling's form: events are served in two groups and stored once.
  base::Json (*to_stored)(base::Json object) = nullptr;
  base::Json (*from_stored)(base::Json stored) = nullptr;
  NameRule names = NameRule::subdomain;
  enum class Put { needs_version, replaces, creates } put = Put::replaces;
  enum class Generations { ignored, counted } generations = Generations::ignored;
  enum class Objects { stored, answered } objects = Objects::stored;          // answered: a review
  enum class Lifetime { unlimited, passing } lifetime = Lifetime::unlimited;  // passing: events
};

// One resource in one version, as clients see it.
struct Served {
  kube::Resource resource;
  std::string collection;          // "core/configmaps": where all its versions store their objects
  std::string stored_api_version;  // the version they are stored in
  std::string stored_kind;
  const Kind* kind = nullptr;  // null: a custom resource
  std::string definition;      // the name of its CustomResourceDefinition
  bool closing = false;        // its definition is being deleted: nothing new is created

  const std::string& group() const { return resource.id.group; }
  const std::string& plural() const { return resource.id.plural; }
  std::string api_version() const {
    return kube::GroupVersion{resource.id.group, resource.id.version}.text();
  }
  bool namespaced() const { return resource.scope == kube::Scope::namespaced; }
  Kind::Put put_rule() const { return kind == nullptr ? Kind::Put::needs_version : kind->put; }
  bool counts_generations() const {
    return kind == nullptr || kind->generations == Kind::Generations::counted;
  }
  bool is_stored() const { return kind == nullptr || kind->objects == Kind::Objects::stored; }
  bool has_status() const {
    return resource.status_subresource == kube::Resource::StatusSubresource::yes;
  }
  std::vector<std::string> verbs() const;         // "create", "delete", … in alphabetical order
  std::vector<std::string> subresources() const;  // "status", …
};

// "core/configmaps", "sagemaker.aws.amazon.com/trainingjobs".
std::string collection_of(std::string_view group, std::string_view plural);

}  // namespace meridian::kubeserver::kinds
