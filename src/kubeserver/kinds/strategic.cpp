// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/kinds/strategic.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace meridian::kubeserver::kinds {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetain = "$retainKeys";
constexpr std::string_view kDelete = "$deleteFromPrimitiveList/";
constexpr std::string_view kOrder = "$setElementOrder/";

struct Wrong {
  std::string message;
};

// How the elements of a list are told apart; "" = the values themselves; nothing = replaced whole.
std::optional<std::string_view> merge_key(std::string_view member) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> keys{
      {{"ownerReferences", "uid"},
       {"secrets", "name"},
       {"imagePullSecrets", "name"},
       {"conditions", "type"},
       {"finalizers", ""}}};
  const auto found = std::ranges::find(keys, member, [](const auto& row) { return row.first; });
  return found == keys.end() ? std::nullopt : std::optional(found->second);
}

const JsonArray& list_of(const Json& value, std::string_view what) {
  if (!value.is_array()) throw Wrong{std::string(what) + " must be a list"};
  return value.get_array();
}

std::string directive_of(const Json& element) {
  return element.is_object() ? base::string_or(element, kDirective) : "";
}

void merge_object(JsonObject& target, const JsonObject& patch);

JsonArray::iterator find_element(JsonArray& list, std::string_view key, const Json& wanted) {
  return std::ranges::find_if(list, [&](const Json& element) {
    if (key.empty()) return element == wanted;
    const Json* own = base::find(element, key);
    const Json* other = base::find(wanted, key);
    return own != nullptr && other != nullptr && *own == *other;
  });
}

Json without_directive(const Json& element) {
  Json out = element;
  if (out.is_object()) out.get_object().erase(kDirective);
  return out;
}

void merge_element(JsonArray& list, std::string_view key, const Json& element) {
  const auto place = find_element(list, key, element);
  const std::string directive = directive_of(element);
  if (directive == "delete") {
    if (place != list.end()) list.erase(place);
  } else if (place == list.end()) {
    list.push_back(without_directive(element));
  } else if (element.is_object() && directive.empty()) {
    merge_object(place->as_object(), element.get_object());
  } else {
    *place = without_directive(element);
  }
}

void merge_list(JsonArray& list, std::string_view key, const JsonArray& patch) {
  const bool replaced = std::ranges::any_of(
      patch, [](const Json& element) { return directive_of(element) == "replace"; });
  if (replaced) list.clear();
  for (const Json& element : patch) {
    if (directive_of(element) == "replace" && element.get_object().size() == 1) continue;
    merge_element(list, key, element);
  }
}

// Elements that the order names come in that order; the others keep their places behind them.
void set_order(JsonArray& list, std::string_view key, const JsonArray& order) {
  JsonArray sorted;
  for (const Json& wanted : order) {
    const auto place = find_element(list, key, wanted);
    if (place == list.end()) continue;
    sorted.push_back(std::move(*place));
    list.erase(place);
  }
  for (Json& rest : list) sorted.push_back(std::move(rest));
  list = std::move(sorted);
}

void apply_directive(JsonObject& target, std::string_view name, const Json& value) {
  if (name == kRetain) {
    const JsonArray& kept = list_of(value, kRetain);
    std::vector<std::string> dropped;
    for (const auto& [member, ignored] : target) {
      if (std::ranges::find(kept, Json(member)) == kept.end()) dropped.emplace_back(member);
    }
    for (const std::string& member : dropped) target.erase(member);
  } else if (name.starts_with(kDelete)) {
    const auto list = target.find(name.substr(kDelete.size()));
    if (list == target.end() || !list->value().is_array()) return;
    for (const Json& gone : list_of(value, name)) {
      JsonArray& items = list->value().get_array();
      items.erase(std::remove(items.begin(), items.end(), gone), items.end());
    }
  } else if (name.starts_with(kOrder)) {
    const std::string_view member = name.substr(kOrder.size());
    const auto list = target.find(member);
    if (list == target.end() || !list->value().is_array()) return;
    set_order(list->value().get_array(), merge_key(member).value_or(""), list_of(value, name));
  } else if (name != kDirective) {
    throw Wrong{"unknown directive " + std::string(name)};
  }
}

void merge_member(JsonObject& target, std::string_view name, const Json& value) {
  if (value.is_null()) {
    target.erase(name);
    return;
  }
  Json& own = target[name];
  if (value.is_object()) {
    const std::string directive = directive_of(value);
    if (directive == "delete") {
      target.erase(name);
      return;
    }
    if (!own.is_object() || directive == "replace") own.emplace_object();
    merge_object(own.get_object(), value.get_object());
    return;
  }
  const auto key = merge_key(name);
  if (!value.is_array() || !key) {
    own = value;
    return;
  }
  if (!own.is_array()) own.emplace_array();
  merge_list(own.get_array(), *key, value.get_array());
}

void merge_object(JsonObject& target, const JsonObject& patch) {
  const auto is_order = [](std::string_view name) { return name.starts_with(kOrder); };
  for (const auto& [name, value] : patch) {
    const std::string_view member = name;
    if (member.starts_with('$') && !is_order(member)) apply_directive(target, member, value);
  }
  for (const auto& [name, value] : patch) {
    if (!std::string_view(name).starts_with('$')) merge_member(target, name, value);
  }
  for (const auto& [name, value] : patch) {
    if (is_order(name)) apply_directive(target, name, value);
  }
}

}  // namespace

base::Result<Json, std::string> apply_strategic_patch(const Json& target, const Json& patch) {
  if (!patch.is_object()) return std::string("a strategic merge patch must be an object");
  Json result = target;
  if (!result.is_object()) result.emplace_object();
  try {
    merge_object(result.get_object(), patch.get_object());
  } catch (const Wrong& wrong) {
    return wrong.message;
  }
  return result;
}

}  // namespace meridian::kubeserver::kinds
