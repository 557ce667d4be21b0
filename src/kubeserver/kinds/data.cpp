// ConfigMaps, Secrets, ServiceAccounts and Leases.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "kube/cause.h"
#include "kube/object.h"
#include "kube/patch.h"
#include "kubeserver/kinds/builtin.h"
#include "kubeserver/kinds/cells.h"

namespace meridian::kubeserver::kinds {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using kube::Cause;
using Causes = std::vector<Cause>;

constexpr std::size_t kMostDataBytes = 1024 * 1024;

bool is_data_key(std::string_view key) {
  if (key.empty() || key.size() > 253 || key == "." || key.starts_with("..")) return false;
  return std::ranges::all_of(key, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
  });
}

const JsonObject* map_of(const Json& object, std::string_view name) {
  const Json* map = base::find(object, name);
  return map != nullptr && map->is_object() ? &map->get_object() : nullptr;
}

void check_keys(const Json& object, std::string_view name, Causes& causes, std::size_t& bytes) {
  const JsonObject* map = map_of(object, name);
  if (map == nullptr) return;
  for (const auto& [key, value] : *map) {
    if (!is_data_key(key)) {
      causes.push_back({fmt::format("{}[{}]", name, std::string_view(key)), "FieldValueInvalid",
                        fmt::format("Invalid value: \"{}\": a valid config key must consist of "
                                    "alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  "
                                    "or 'KEY_NAME',  or 'key-name', regex used for validation is "
                                    "'[-._a-zA-Z0-9]+')",
                                    std::string_view(key))});
    }
    if (value.is_string()) bytes += value.get_string().size();
  }
}

void check_size(std::size_t bytes, Causes& causes) {
  if (bytes <= kMostDataBytes) return;
  causes.push_back({"data", "FieldValueTooLong",
                    fmt::format("Too long: may not be more than {} bytes", kMostDataBytes)});
}

void check_base64(const Json& object, std::string_view name, Causes& causes) {
  const JsonObject* map = map_of(object, name);
  if (map == nullptr) return;
  for (const auto& [key, value] : *map) {
    if (value.is_string() && base::unbase64(base::view(value.get_string()))) continue;
    causes.push_back({fmt::format("{}[{}]", name, std::string_view(key)), "FieldValueInvalid",
                      "Invalid value: must be base64"});
  }
}

bool same_member(const Json& a, const Json& b, std::string_view name) {
  const Json* left = base::find(a, name);
  const Json* right = base::find(b, name);
  if (left == nullptr || right == nullptr) return left == right;
  return *left == *right;
}

void check_unchanged(const Json& object, const Json* old,
                     std::initializer_list<std::string_view> members, Causes& causes) {
  if (old == nullptr || !base::bool_or(*old, "immutable", false)) return;
  if (!base::bool_or(object, "immutable", false)) {
    causes.push_back({"immutable", "FieldValueForbidden",
                      "Forbidden: field is immutable when `immutable` is set"});
  }
  for (const std::string_view member : members) {
    if (same_member(object, *old, member)) continue;
    causes.push_back({std::string(member), "FieldValueForbidden",
                      "Forbidden: field is immutable when `immutable` is set"});
  }
}

void check_config_map(const Json& object, const Json* old, Causes& causes) {
  std::size_t bytes = 0;
  check_keys(object, "data", causes, bytes);
  check_keys(object, "binaryData", causes, bytes);
  check_base64(object, "binaryData", causes);
  check_size(bytes, causes);
  check_unchanged(object, old, {"data", "binaryData"}, causes);
  const JsonObject *text = map_of(object, "data"), *binary = map_of(object, "binaryData");
  if (text == nullptr || binary == nullptr) return;
  for (const auto& [key, value] : *text) {
    if (!binary->contains(key)) continue;
    causes.push_back({fmt::format("data[{}]", std::string_view(key)), "FieldValueInvalid",
                      "Invalid value: duplicate of key present in binaryData"});
  }
}

JsonArray config_map_cells(const Json& object, base::Timestamp now) {
  return {kube::name_of(object), member_count(object, "data") + member_count(object, "binaryData"),
          age_cell(object, now)};
}

void prepare_secret(Json& object, const Json* old) {
  JsonObject& root = object.as_object();
  if (const JsonObject* text = map_of(object, "stringData")) {
    JsonObject data;
    if (const JsonObject* given = map_of(object, "data")) data = *given;
    for (const auto& [key, value] : *text) {
      if (value.is_string()) data[key] = base::base64(base::view(value.get_string()));
    }
    root["data"] = std::move(data);
  }
  root.erase("stringData");
  if (base::string_or(object, "type").empty()) {
    root["type"] = old == nullptr ? "Opaque" : base::string_or(*old, "type", "Opaque");
  }
}

// What clients of these types count on.
void check_required_keys(const Json& object, Causes& causes) {
  static constexpr std::pair<std::string_view, std::string_view> kRequired[] = {
      {"kubernetes.io/tls", "tls.crt"},
      {"kubernetes.io/tls", "tls.key"},
      {"kubernetes.io/ssh-auth", "ssh-privatekey"},
      {"kubernetes.io/dockercfg", ".dockercfg"},
      {"kubernetes.io/dockerconfigjson", ".dockerconfigjson"}};
  const std::string type = base::string_or(object, "type");
  const JsonObject* data = map_of(object, "data");
  const auto has = [&](std::string_view key) { return data != nullptr && data->contains(key); };
  for (const auto& [of, key] : kRequired) {
    if (type == of && !has(key))
      causes.push_back(kube::required_value(fmt::format("data[{}]", key)));
  }
  if (type != "kubernetes.io/basic-auth" || has("username") || has("password")) return;
  causes.push_back(kube::required_value("data[username]"));
  causes.push_back(kube::required_value("data[password]"));
}

void check_secret(const Json& object, const Json* old, Causes& causes) {
  std::size_t bytes = 0;
  check_keys(object, "data", causes, bytes);
  check_base64(object, "data", causes);
  check_required_keys(object, causes);
  check_size(bytes, causes);
  check_unchanged(object, old, {"data"}, causes);
  if (old != nullptr && !same_member(object, *old, "type")) {
    causes.push_back({"type", "FieldValueInvalid",
                      fmt::format("Invalid value: \"{}\": field is immutable",
                                  base::string_or(object, "type"))});
  }
}

JsonArray secret_cells(const Json& object, base::Timestamp now) {
  return {kube::name_of(object), base::string_or(object, "type"), member_count(object, "data"),
          age_cell(object, now)};
}

JsonArray service_account_cells(const Json& object, base::Timestamp now) {
  const Json* secrets = base::find(object, "secrets");
  const bool any = secrets != nullptr && secrets->is_array();
  return {kube::name_of(object), static_cast<std::int64_t>(any ? secrets->get_array().size() : 0),
          age_cell(object, now)};
}

void check_lease(const Json& object, const Json*, Causes& causes) {
  const Json* spec = base::find(object, "spec");
  if (spec == nullptr) return;
  const Json* duration = base::find(*spec, "leaseDurationSeconds");
  if (duration != nullptr && base::int_or(*spec, "leaseDurationSeconds", 0) <= 0) {
    causes.push_back(
        {"spec.leaseDurationSeconds", "FieldValueInvalid",
         fmt::format("Invalid value: {}: must be greater than 0", base::to_text(*duration))});
  }
  if (base::int_or(*spec, "leaseTransitions", 0) < 0) {
    causes.push_back({"spec.leaseTransitions", "FieldValueInvalid",
                      "Invalid value: must be greater than or equal to 0"});
  }
}

JsonArray lease_cells(const Json& object, base::Timestamp now) {
  const Json* spec = base::find(object, "spec");
  return {kube::name_of(object), spec == nullptr ? "" : base::string_or(*spec, "holderIdentity"),
          age_cell(object, now)};
}

}  // namespace

const Kind kConfigMap{.check = check_config_map, .cells = config_map_cells};
const Kind kSecret{.prepare = prepare_secret, .check = check_secret, .cells = secret_cells};
const Kind kServiceAccount{.cells = service_account_cells};
const Kind kLease{.check = check_lease, .cells = lease_cells, .put = Kind::Put::creates};
const Kind kReview{.objects = Kind::Objects::answered};

}  // namespace meridian::kubeserver::kinds
