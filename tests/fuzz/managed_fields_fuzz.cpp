// Two lines: a live object with managedFields, and an applied one. What is read of fieldsV1 is
// written the same; applying by force and then again changes nothing; an update tracks in the end.
//
// LINK: base kube
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "kube/field_set.h"
#include "kube/managed_fields.h"
#include "kube/status.h"

using namespace meridian;
using base::Json;

namespace {

const kube::Schema& schema() {
  static const kube::Schema parsed =
      *kube::parse_schema(base::parse_json(R"({"type":"object","properties":{
    "spec":{"type":"object","properties":{
      "x":{"type":"integer"},
      "plain":{"type":"array","items":{"type":"string"}},
      "set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
      "map":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],
        "items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},
          "v":{"type":"integer"}}}},
      "labels":{"type":"object","additionalProperties":{"type":"string"}},
      "whole":{"type":"object","x-kubernetes-map-type":"atomic","additionalProperties":{"type":"string"}}
    }}}})")
                              .value());
  return parsed;
}

void check_fields(const Json& json) {
  const auto set = kube::parse_fields_v1(json);
  if (!set) {
    if (set.error().empty()) std::abort();
    return;
  }
  const auto again = kube::parse_fields_v1(kube::to_fields_v1(*set));
  // At the root "." means nothing.
  kube::FieldSet wanted = *set;
  wanted.owned = false;
  if (!again || *again != wanted) std::abort();
}

void check_apply(const Json& live, const Json& applied) {
  const kube::Manager manager{"fuzz", "g/v1", ""};
  const base::Timestamp now{1'769'860'800'000};
  try {
    const Json once =
        kube::apply_server_side(&live, applied, manager, kube::Force::yes, &schema(), now);
    const Json twice = kube::apply_server_side(&once, applied, manager, kube::Force::no, &schema(),
                                               now + std::chrono::hours(1));
    if (twice != once) std::abort();
  } catch (const kube::StatusError& error) {
    if (error.message().empty()) std::abort();
  }
  if (!applied.is_object()) return;
  Json updated = applied;
  kube::track_update(&live, updated, manager, &schema(), now);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(text.find('\n'), size);
  const auto live = base::parse_json(text.substr(0, line));
  if (!live) return 0;
  check_fields(*live);
  const auto applied = base::parse_json(text.substr(std::min(line + 1, size)));
  if (!applied || !live->is_object() || !applied->is_object()) return 0;
  check_apply(*live, *applied);
  return 0;
}
