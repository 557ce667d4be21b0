// SPDX-License-Identifier: Apache-2.0
#include "kube/field_set.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace meridian::kube {
namespace {

using base::Json;
using base::JsonObject;

// `element` as a part of a path; nothing when it is no element.
std::optional<std::string> element_text(std::string_view element) {
  const std::string_view rest = element.size() < 2 ? "" : element.substr(2);
  if (element.starts_with("f:")) return "." + std::string(rest);
  if (element.starts_with("i:")) {
    return base::to_int(rest) ? std::optional(fmt::format("[{}]", rest)) : std::nullopt;
  }
  if (element.starts_with("v:")) {
    return base::parse_json(rest) ? std::optional(fmt::format("[={}]", rest)) : std::nullopt;
  }
  if (!element.starts_with("k:")) return std::nullopt;
  const auto keys = base::parse_json(rest);
  if (!keys || !keys->is_object()) return std::nullopt;
  std::vector<std::string> parts;
  for (const auto& key : keys->get_object()) {
    parts.push_back(fmt::format("{}={}", std::string_view(key.key()), base::to_text(key.value())));
  }
  return "[" + base::join(parts, ",") + "]";
}

void collect_paths(const FieldSet& set, const std::string& path, std::vector<std::string>& out) {
  if (set.owned) out.push_back(path);
  for (const auto& [element, next] : set.below) {
    collect_paths(next, path + element_text(element).value_or(element), out);
  }
}

// One spelling for each element, so that sets can be compared.
std::optional<std::string> canonical(std::string_view element) {
  if (!element_text(element)) return std::nullopt;
  if (element[0] == 'f' || element[0] == 'i') return std::string(element);
  const auto value = base::parse_json(element.substr(2));
  return element[0] == 'k' ? keys_element(*value) : value_element(*value);
}

}  // namespace

const FieldSet* FieldSet::find(std::string_view element) const {
  const auto found = below.find(element);
  return found == below.end() ? nullptr : &found->second;
}

void FieldSet::add(const FieldSet& other) {
  owned = owned || other.owned;
  for (const auto& [element, next] : other.below) below[element].add(next);
}

void FieldSet::subtract(const FieldSet& other) {
  owned = owned && !other.owned;
  for (const auto& [element, next] : other.below) {
    const auto found = below.find(element);
    if (found == below.end()) continue;
    found->second.subtract(next);
    if (found->second.empty()) below.erase(found);
  }
}

FieldSet FieldSet::common(const FieldSet& other) const {
  FieldSet out{.owned = owned && other.owned};
  for (const auto& [element, next] : below) {
    const FieldSet* theirs = other.find(element);
    if (theirs == nullptr) continue;
    FieldSet both = next.common(*theirs);
    if (!both.empty()) out.below.emplace(element, std::move(both));
  }
  return out;
}

std::vector<std::string> FieldSet::paths() const {
  std::vector<std::string> out;
  collect_paths(*this, "", out);
  return out;
}

Json to_fields_v1(const FieldSet& set) {
  JsonObject out;
  for (const auto& [element, next] : set.below) {
    Json below = to_fields_v1(next);
    // A leaf is {}; what is owned together with things below it says so by ".".
    if (next.owned && !next.below.empty()) {
      JsonObject both{{".", JsonObject()}};
      both.insert(below.get_object().begin(), below.get_object().end());
      below = std::move(both);
    }
    out[element] = std::move(below);
  }
  return out;
}

base::Result<FieldSet, std::string> parse_fields_v1(const Json& json) {
  if (!json.is_object()) return std::string("fieldsV1 is no object");
  FieldSet out;
  for (const auto& member : json.get_object()) {
    if (member.key() == ".") {
      out.owned = true;
      continue;
    }
    const auto element = canonical(member.key());
    if (!element) return fmt::format("'{}' is no path element", std::string_view(member.key()));
    auto below = parse_fields_v1(member.value());
    if (!below) return below.error();
    if (below->empty()) below->owned = true;
    out.below[*element].add(*below);
  }
  return out;
}

std::string member_element(std::string_view name) { return fmt::format("f:{}", name); }

std::string keys_element(const Json& keys) {
  return "k:" + base::to_text(keys, base::JsonStyle::sorted);
}

std::string value_element(const Json& value) {
  return "v:" + base::to_text(value, base::JsonStyle::sorted);
}

}  // namespace meridian::kube
