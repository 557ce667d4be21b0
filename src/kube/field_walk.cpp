// SPDX-License-Identifier: Apache-2.0
#include "kube/field_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "kube/schema_node.h"
#include "kube/value.h"

namespace meridian::kube {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using ListType = SchemaNode::ListType;

// ObjectMeta, as far as its lists and maps have a type.
const SchemaNode& metadata_node() {
  static const Schema schema = [] {
    const auto document = base::parse_json(R"({"type":"object","properties":{
      "labels":{"type":"object","additionalProperties":{"type":"string"}},
      "annotations":{"type":"object","additionalProperties":{"type":"string"}},
      "finalizers":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
      "ownerReferences":{"type":"array","x-kubernetes-list-type":"map",
        "x-kubernetes-list-map-keys":["uid"],"items":{"type":"object",
          "x-kubernetes-map-type":"atomic","required":["uid"],
          "properties":{"uid":{"type":"string"}}}}}})");
    auto parsed = parse_schema(*document);
    if (!parsed) std::abort();
    return *parsed;
  }();
  return schema.root();
}

// A place in a schema; without a node nothing is known of what is there.
struct Place {
  const SchemaNode* node = nullptr;
  bool root = false;

  Place member(std::string_view name) const {
    if (root && name == "metadata") return {&metadata_node()};
    return {node == nullptr ? nullptr : node->member(name)};
  }
  Place item() const { return {node == nullptr ? nullptr : node->items.get()}; }
  bool declares(std::string_view name) const {
    return (root && name == "metadata") || (node != nullptr && node->properties.contains(name));
  }
  // Whether the value's members are fields of their own.
  bool is_map(const Json& value) const {
    return value.is_object() && (node == nullptr || !node->atomic_map);
  }
  bool is_list(const Json& value) const {
    return value.is_array() && node != nullptr && node->list_type != ListType::atomic;
  }
};

Place root_of(const Schema* schema) {
  return {schema == nullptr ? nullptr : &schema->root(), true};
}

// The element that names an item of a set or map; nothing when the item lacks a key.
std::optional<std::string> element_of(const SchemaNode& list, const Json& item) {
  if (list.list_type == ListType::set) return value_element(item);
  JsonObject keys;
  for (const std::string& key : list.list_map_keys) {
    const Json* value = base::find(item, key);
    const SchemaNode* node = list.items == nullptr ? nullptr : list.items->member(key);
    if (value == nullptr && node != nullptr && node->default_value) value = &*node->default_value;
    if (value == nullptr) return std::nullopt;
    keys[key] = *value;
  }
  return keys_element(keys);
}

using Items = std::map<std::string, const Json*, std::less<>>;

// Items by element; of several with the same one the first.
Items items_of(const SchemaNode& list, const JsonArray& array) {
  Items out;
  for (const Json& item : array) {
    if (auto element = element_of(list, item)) out.emplace(std::move(*element), &item);
  }
  return out;
}

const Json* find_item(const Items& items, std::string_view element) {
  const auto found = items.find(element);
  return found == items.end() ? nullptr : found->second;
}

void add_fields(const Place& place, const Json& value, const std::string& path, FieldSet& out) {
  if (place.is_map(value)) {
    for (const auto& member : value.get_object()) {
      FieldSet& below = out.below[member_element(member.key())];
      add_fields(place.member(member.key()), member.value(), member_path(path, member.key()),
                 below);
      const Json& inner = member.value();
      const bool nothing_below = inner.is_null() || below.below.empty();
      if (nothing_below || !place.declares(member.key())) below.owned = true;
    }
  } else if (place.is_list(value)) {
    for (const Json& item : value.get_array()) {
      const auto element = element_of(*place.node, item);
      if (!element) {
        throw bad_request(fmt::format("{}: an item lacks a key of the list", path));
      }
      FieldSet& below = out.below[*element];
      if (below.owned) {
        throw bad_request(
            fmt::format("{}: duplicate entries for key {}", path, element->substr(2)));
      }
      add_fields(place.item(), item, path, below);
      below.owned = true;
    }
  } else {
    out.owned = true;
  }
}

// Everything that `value` consists of, the containers included.
void add_whole(const Place& place, const Json& value, FieldSet& out) {
  out.owned = true;
  if (place.is_map(value)) {
    for (const auto& member : value.get_object()) {
      add_whole(place.member(member.key()), member.value(),
                out.below[member_element(member.key())]);
    }
  } else if (place.is_list(value)) {
    for (const auto& [element, item] : items_of(*place.node, value.get_array())) {
      add_whole(place.item(), *item, out.below[element]);
    }
  }
}

// Compares what stands at one place; null where there is nothing. Each returned set is about the
// place itself.
class Comparison {
 public:
  static Changes compare(const Place& place, const Json* before, const Json* after) {
    Changes out;
    if (before == nullptr && after != nullptr) {
      add_whole(place, *after, out.added);
    } else if (after == nullptr && before != nullptr) {
      add_whole(place, *before, out.removed);
    } else if (before != nullptr) {
      compare_both(place, *before, *after, out);
    }
    return out;
  }

 private:
  static void compare_both(const Place& place, const Json& before, const Json& after,
                           Changes& out) {
    if (place.is_map(before) && place.is_map(after)) {
      compare_members(place, before.get_object(), after.get_object(), out);
    } else if (place.is_list(before) && place.is_list(after)) {
      compare_items(place, before.get_array(), after.get_array(), out);
    } else if (!same_value(before, after)) {
      add_whole(place, before, out.removed);
      add_whole(place, after, out.added);
      out.removed.owned = out.added.owned = false;
      out.modified.owned = true;
    }
  }

  static void compare_members(const Place& place, const JsonObject& before, const JsonObject& after,
                              Changes& out) {
    for (const auto& member : before) {
      take(member_element(member.key()),
           compare(place.member(member.key()), &member.value(), after.if_contains(member.key())),
           out);
    }
    for (const auto& member : after) {
      if (before.contains(member.key())) continue;
      take(member_element(member.key()),
           compare(place.member(member.key()), nullptr, &member.value()), out);
    }
  }

  static void compare_items(const Place& place, const JsonArray& before, const JsonArray& after,
                            Changes& out) {
    const Items old_items = items_of(*place.node, before);
    const Items new_items = items_of(*place.node, after);
    for (const auto& [element, item] : old_items) {
      take(element, compare(place.item(), item, find_item(new_items, element)), out);
    }
    for (const auto& [element, item] : new_items) {
      if (old_items.contains(element)) continue;
      take(element, compare(place.item(), nullptr, item), out);
    }
  }

  static void take(const std::string& element, Changes changes, Changes& out) {
    if (!changes.added.empty()) out.added.below.emplace(element, std::move(changes.added));
    if (!changes.modified.empty()) out.modified.below.emplace(element, std::move(changes.modified));
    if (!changes.removed.empty()) out.removed.below.emplace(element, std::move(changes.removed));
  }
};

Json merge(const Place& place, const Json& live, const Json& applied);

Json merge_members(const Place& place, const JsonObject& live, const JsonObject& applied) {
  JsonObject out = live;
  for (const auto& member : applied) {
    const Json* before = live.if_contains(member.key());
    out[member.key()] = before == nullptr
                            ? member.value()
                            : merge(place.member(member.key()), *before, member.value());
  }
  return out;
}

// Applied items in their order; before each that is live too, the live ones that precede it and are
// not applied.
Json merge_items(const Place& place, const JsonArray& live, const JsonArray& applied) {
  const Items wanted = items_of(*place.node, applied);
  const Items present = items_of(*place.node, live);
  JsonArray out;
  std::size_t next = 0;
  const auto keep_before = [&](const Json* end) {
    for (; next < live.size() && &live[next] != end; ++next) {
      const auto element = element_of(*place.node, live[next]);
      if (!element || !wanted.contains(*element)) out.push_back(live[next]);
    }
  };
  for (const Json& item : applied) {
    const auto element = element_of(*place.node, item);
    const Json* before = element ? find_item(present, *element) : nullptr;
    if (before == nullptr) {
      out.push_back(item);
      continue;
    }
    if (static_cast<std::size_t>(before - live.data()) >= next) keep_before(before);
    out.push_back(merge(place.item(), *before, item));
  }
  keep_before(nullptr);
  return out;
}

Json merge(const Place& place, const Json& live, const Json& applied) {
  if (place.is_map(live) && place.is_map(applied)) {
    return merge_members(place, live.get_object(), applied.get_object());
  }
  if (place.is_list(live) && place.is_list(applied)) {
    return merge_items(place, live.get_array(), applied.get_array());
  }
  return applied;
}

const FieldSet nothing;

const FieldSet& below(const FieldSet& set, std::string_view element) {
  const FieldSet* found = set.find(element);
  return found == nullptr ? nothing : *found;
}

bool remove_lost(const Place& place, Json& value, const FieldSet& lost, const FieldSet& kept);

void remove_members(const Place& place, JsonObject& object, const FieldSet& lost,
                    const FieldSet& kept) {
  for (const auto& [element, next] : lost.below) {
    if (!element.starts_with("f:")) continue;
    const auto member = object.find(std::string_view(element).substr(2));
    if (member == object.end()) continue;
    if (remove_lost(place.member(member->key()), member->value(), next, below(kept, element))) {
      object.stable_erase(member);
    }
  }
}

void remove_items(const Place& place, JsonArray& array, const FieldSet& lost,
                  const FieldSet& kept) {
  for (std::size_t i = array.size(); i-- > 0;) {
    const auto element = element_of(*place.node, array[i]);
    const FieldSet* next = element ? lost.find(*element) : nullptr;
    if (next == nullptr) continue;
    if (remove_lost(place.item(), array[i], *next, below(kept, *element))) {
      array.erase(array.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

// Says whether the value itself has to go.
bool remove_lost(const Place& place, Json& value, const FieldSet& lost, const FieldSet& kept) {
  if (lost.owned && kept.empty()) return true;
  const bool is_map = place.is_map(value);
  if (!is_map && !place.is_list(value)) return false;
  const bool was_empty = is_map ? value.get_object().empty() : value.get_array().empty();
  if (is_map) {
    remove_members(place, value.get_object(), lost, kept);
  } else {
    remove_items(place, value.get_array(), lost, kept);
  }
  const bool is_empty = is_map ? value.get_object().empty() : value.get_array().empty();
  return is_empty && !was_empty && !kept.owned;
}

}  // namespace

FieldSet fields_of(const Schema* schema, const Json& object) {
  FieldSet out;
  if (object.is_object()) add_fields(root_of(schema), object, "", out);
  out.owned = false;
  return out;
}

Changes compare_fields(const Schema* schema, const Json& before, const Json& after) {
  return Comparison::compare(root_of(schema), &before, &after);
}

Json merge_fields(const Schema* schema, const Json& live, const Json& applied) {
  return merge(root_of(schema), live, applied);
}

void remove_fields(const Schema* schema, Json& object, const FieldSet& lost, const FieldSet& kept) {
  remove_lost(root_of(schema), object, lost, kept);
}

}  // namespace meridian::kube
