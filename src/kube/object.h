// A Kubernetes object is a JSON object; this is how the rest of the code names its parts.
//
// Reads never throw on odd shapes: a missing or mistyped member reads as empty, because objects
// come from users. Writes make the members they need.
//
// Source: Kubernetes API conventions (metadata, typemeta, resourceVersion, generation).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"

namespace meridian::kube {

struct GroupVersion {
  std::string group;  // "" = the core group
  std::string version;
  auto operator<=>(const GroupVersion&) const = default;
  std::string text() const;  // "v1", "apps/v1": the object's apiVersion
};
std::optional<GroupVersion> parse_group_version(std::string_view api_version);

// Which collection: group and version, plural, and whether its objects live in namespaces.
struct ResourceId {
  std::string group, version, plural;
  auto operator<=>(const ResourceId&) const = default;
  // "/apis/GROUP/VERSION/namespaces/NS/PLURAL/NAME/SUB"; parts left out when empty. Core group:
  // "/api/v1/…". Names are percent-encoded.
  std::string path(std::string_view ns = "", std::string_view name = "",
                   std::string_view subresource = "") const;
};

// An object within one resource.
struct ObjectKey {
  std::string ns;  // "" for cluster-scoped resources
  std::string name;
  auto operator<=>(const ObjectKey&) const = default;
  std::string text() const;  // "NS/NAME", or "NAME"
};

struct OwnerReference {
  std::string api_version, kind, name, uid;
  enum class Controller { no, yes } controller = Controller::yes;
  enum class BlockDeletion { no, yes } block_deletion = BlockDeletion::yes;
};

ObjectKey key_of(const base::Json& object);
std::string kind_of(const base::Json& object);
std::string api_version_of(const base::Json& object);
std::string name_of(const base::Json& object);
std::string namespace_of(const base::Json& object);
std::string uid_of(const base::Json& object);
std::string resource_version_of(const base::Json& object);  // "" when unset
std::int64_t generation_of(const base::Json& object);       // 0 when unset
bool is_deleting(const base::Json& object);                 // metadata.deletionTimestamp is set
std::optional<std::string> find_label(const base::Json& object, std::string_view key);
std::optional<std::string> find_annotation(const base::Json& object, std::string_view key);
std::vector<std::string> finalizers_of(const base::Json& object);
std::vector<OwnerReference> owners_of(const base::Json& object);
base::JsonObject status_of(const base::Json& object);  // a copy; empty when unset

base::JsonObject& metadata_of(base::Json& object);  // made when absent
void set_label(base::Json& object, std::string_view key, std::string_view value);
void set_annotation(base::Json& object, std::string_view key, std::string_view value);
// False when it was there (add) or was not (remove).
bool add_finalizer(base::Json& object, std::string_view finalizer);
bool remove_finalizer(base::Json& object, std::string_view finalizer);
void add_owner(base::Json& object, const OwnerReference& owner);  // replaces the one of that uid

// metav1.Time: "2026-01-31T12:00:00Z"; MicroTime has six decimals.
std::string time_text(base::Timestamp time);
std::string micro_time_text(base::Timestamp time);
std::optional<base::Timestamp> parse_time(std::string_view text);

}  // namespace meridian::kube
