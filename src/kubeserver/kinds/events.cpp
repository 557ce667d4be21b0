// Events of both groups. They are stored as core/v1 has them; events.k8s.io/v1 has other names for
// the same fields.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "kube/object.h"
#include "kubeserver/kinds/builtin.h"
#include "kubeserver/kinds/cells.h"

namespace meridian::kubeserver::kinds {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

// core/v1, events.k8s.io/v1
constexpr std::pair<std::string_view, std::string_view> kNames[] = {
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
    {"reportingComponent", "reportingController"},
};

void rename(JsonObject& object, std::string_view from, std::string_view to) {
  const auto found = object.find(from);
  if (found == object.end()) return;
  Json value = std::move(found->value());
  object.erase(found);
  object[to] = std::move(value);
}

Json to_core(Json event) {
  JsonObject& object = event.as_object();
  for (const auto& [core, other] : kNames) rename(object, other, core);
  object["apiVersion"] = "v1";
  return event;
}

Json from_core(Json event) {
  JsonObject& object = event.as_object();
  for (const auto& [core, other] : kNames) rename(object, core, other);
  object["apiVersion"] = "events.k8s.io/v1";
  return event;
}

std::string text_at(const Json& object, std::string_view path) {
  const Json* value = base::find_path(object, path);
  return value != nullptr && value->is_string() ? std::string(base::view(value->get_string())) : "";
}

std::string first_of(const Json& event, std::initializer_list<std::string_view> paths) {
  for (const std::string_view path : paths) {
    if (std::string text = text_at(event, path); !text.empty()) return text;
  }
  return "";
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

JsonArray cells(const Json& event, base::Timestamp now) {
  const std::string last = first_of(event, {"series.lastObservedTime", "lastTimestamp", "eventTime",
                                            "metadata.creationTimestamp"});
  const std::string first =
      first_of(event, {"firstTimestamp", "eventTime", "metadata.creationTimestamp"});
  const std::string component = first_of(event, {"source.component", "reportingComponent"});
  const std::string host = first_of(event, {"source.host", "reportingInstance"});
  const Json* series = base::find(event, "series");
  const std::int64_t count =
      series != nullptr ? base::int_or(*series, "count", 1) : base::int_or(event, "count", 1);
  return {since_cell(last, now),
          base::string_or(event, "type"),
          base::string_or(event, "reason"),
          fmt::format("{}/{}", lower(text_at(event, "involvedObject.kind")),
                      text_at(event, "involvedObject.name")),
          text_at(event, "involvedObject.fieldPath"),
          host.empty() ? component : component + ", " + host,
          base::string_or(event, "message"),
          since_cell(first, now),
          count,
          kube::name_of(event)};
}

JsonArray events_cells(const Json& event, base::Timestamp now) {
  return cells(to_core(event), now);
}

std::map<std::string, std::string> index(const Json& event) {
  const std::string uid = text_at(event, "involvedObject.uid");
  if (uid.empty()) return {};
  return {{"involved", uid}};
}

void check(const Json& event, const Json*, std::vector<kube::Cause>& causes) {
  const bool core = kube::api_version_of(event) == "v1";
  const std::string ns = text_at(event, core ? "involvedObject.namespace" : "regarding.namespace");
  const std::string own = kube::namespace_of(event);
  if (ns == own || (ns.empty() && own == "default")) return;
  causes.push_back({core ? "involvedObject.namespace" : "regarding.namespace", "FieldValueInvalid",
                    fmt::format("Invalid value: \"{}\": does not match event.namespace", ns)});
}

}  // namespace

const Kind kEvent{.check = check,
                  .cells = cells,
                  .index = index,
                  .put = Kind::Put::creates,
                  .lifetime = Kind::Lifetime::passing};
const Kind kEventsEvent{.check = check,
                        .cells = events_cells,
                        .index = index,
                        .to_stored = to_core,
                        .from_stored = from_core,
                        .put = Kind::Put::creates,
                        .lifetime = Kind::Lifetime::passing};

}  // namespace meridian::kubeserver::kinds
