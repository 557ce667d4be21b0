// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/kinds/registry.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "base/strings.h"

namespace meridian::kubeserver::kinds {
namespace {

using base::Json;

struct VersionParts {
  std::int64_t major = 0;
  int stability = 0;  // alpha 0, beta 1, stable 2
  std::int64_t minor = 0;
  auto operator<=>(const VersionParts&) const = default;
};

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<VersionParts> parts_of(std::string_view version) {
  if (!version.starts_with('v')) return std::nullopt;
  version.remove_prefix(1);
  const std::size_t end = version.find_first_not_of("0123456789");
  const std::string_view major = version.substr(0, end);
  if (!is_digits(major)) return std::nullopt;
  VersionParts parts{.major = base::to_int(major).value_or(0), .stability = 2};
  if (end == std::string_view::npos) return parts;
  std::string_view rest = version.substr(end);
  if (rest.starts_with("alpha")) {
    parts.stability = 0;
    rest.remove_prefix(5);
  } else if (rest.starts_with("beta")) {
    parts.stability = 1;
    rest.remove_prefix(4);
  } else {
    return std::nullopt;
  }
  if (!is_digits(rest)) return std::nullopt;
  parts.minor = base::to_int(rest).value_or(0);
  return parts;
}

bool is_established(const Json& definition) {
  const Json* conditions = base::find_path(definition, "status.conditions");
  if (conditions == nullptr || !conditions->is_array()) return false;
  return std::ranges::any_of(conditions->get_array(), [](const Json& condition) {
    return base::string_or(condition, "type") == "Established" &&
           base::string_or(condition, "status") == "True";
  });
}

std::string stored_version(const Json& definition) {
  const Json* versions = base::find_path(definition, "spec.versions");
  if (versions == nullptr || !versions->is_array()) return "";
  for (const Json& version : versions->get_array()) {
    if (base::bool_or(version, "storage", false)) return base::string_or(version, "name");
  }
  return "";
}

auto order_of(const Served& served) {
  return std::tie(served.resource.id.group, served.resource.id.plural);
}

}  // namespace

bool is_preferred_version(std::string_view a, std::string_view b) {
  const auto left = parts_of(a), right = parts_of(b);
  if (left && right) {
    return std::tie(left->stability, left->major, left->minor) >
           std::tie(right->stability, right->major, right->minor);
  }
  if (left || right) return left.has_value();
  return a < b;
}

Registry::Registry(std::vector<ServedPtr> all) : all_(std::move(all)) {
  std::ranges::sort(all_, [](const ServedPtr& a, const ServedPtr& b) {
    if (a->group() != b->group()) return a->group() < b->group();
    if (a->resource.id.version != b->resource.id.version) {
      return is_preferred_version(a->resource.id.version, b->resource.id.version);
    }
    return order_of(*a) < order_of(*b);
  });
}

ServedPtr Registry::find(std::string_view group, std::string_view version,
                         std::string_view plural) const {
  const auto found = std::ranges::find_if(all_, [&](const ServedPtr& served) {
    const kube::ResourceId& id = served->resource.id;
    return id.group == group && id.version == version && id.plural == plural;
  });
  return found == all_.end() ? nullptr : *found;
}

ServedPtr Registry::find_kind(std::string_view group, std::string_view kind) const {
  const auto found = std::ranges::find_if(all_, [&](const ServedPtr& served) {
    return served->group() == group && served->resource.kind == kind;
  });
  return found == all_.end() ? nullptr : *found;
}

std::vector<ServedPtr> Registry::collections() const {
  std::vector<ServedPtr> out;
  std::set<std::string> seen;
  for (const ServedPtr& served : all_) {
    if (served->is_stored() && seen.insert(served->collection).second) out.push_back(served);
  }
  return out;
}

std::vector<ServedPtr> Registry::of(std::string_view group, std::string_view version) const {
  std::vector<ServedPtr> out;
  std::ranges::copy_if(all_, std::back_inserter(out), [&](const ServedPtr& served) {
    return served->group() == group && served->resource.id.version == version;
  });
  return out;
}

std::vector<Group> Registry::groups() const {
  std::vector<Group> out;
  for (const ServedPtr& served : all_) {
    const kube::ResourceId& id = served->resource.id;
    if (out.empty() || out.back().name != id.group) out.push_back({id.group, {}});
    auto& versions = out.back().versions;
    if (versions.empty() || versions.back() != id.version) versions.push_back(id.version);
  }
  return out;
}

std::vector<ServedPtr> served_by(const Json& definition) {
  if (!is_established(definition)) return {};
  std::vector<ServedPtr> out;
  for (kube::Resource& resource : kube::resources_of_crd(definition)) {
    auto served = std::make_shared<Served>();
    const std::string& group = resource.id.group;
    served->collection = collection_of(group, resource.id.plural);
    served->stored_api_version = kube::GroupVersion{group, stored_version(definition)}.text();
    served->stored_kind = resource.kind;
    served->definition = kube::name_of(definition);
    served->closing = kube::is_deleting(definition);
    served->resource = std::move(resource);
    out.push_back(std::move(served));
  }
  return out;
}

}  // namespace meridian::kubeserver::kinds
