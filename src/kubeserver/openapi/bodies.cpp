// Field numbers: the generated.proto files of k8s.io/api and k8s.io/apimachinery, v1.32.
//
// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/openapi/bodies.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <span>
#include <vector>

#include "base/strings.h"
#include "kube/object.h"
#include "kubeserver/openapi/wire.h"

namespace meridian::kubeserver::openapi {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

enum class Type {
  text,
  bytes,
  number,
  flag,
  time,
  micro_time,
  object,
  texts,
  objects,
  text_map,
  bytes_map
};

struct Field;
using Fields = std::span<const Field>;
struct Field {
  int number;
  std::string_view name;
  Type type;
  Fields members = {};
};

struct Broken {};

constexpr Field kOwner[] = {{1, "kind", Type::text},       {3, "name", Type::text},
                            {4, "uid", Type::text},        {5, "apiVersion", Type::text},
                            {6, "controller", Type::flag}, {7, "blockOwnerDeletion", Type::flag}};
constexpr Field kMetadata[] = {{1, "name", Type::text},
                               {2, "generateName", Type::text},
                               {3, "namespace", Type::text},
                               {5, "uid", Type::text},
                               {6, "resourceVersion", Type::text},
                               {7, "generation", Type::number},
                               {8, "creationTimestamp", Type::time},
                               {9, "deletionTimestamp", Type::time},
                               {11, "labels", Type::text_map},
                               {12, "annotations", Type::text_map},
                               {13, "ownerReferences", Type::objects, kOwner},
                               {14, "finalizers", Type::texts}};
constexpr Field kReference[] = {{1, "kind", Type::text},       {2, "namespace", Type::text},
                                {3, "name", Type::text},       {4, "uid", Type::text},
                                {5, "apiVersion", Type::text}, {6, "resourceVersion", Type::text},
                                {7, "fieldPath", Type::text}};
constexpr Field kName[] = {{1, "name", Type::text}};
constexpr Field kFinalizers[] = {{1, "finalizers", Type::texts}};

constexpr Field kNamespace[] = {{1, "metadata", Type::object, kMetadata},
                                {2, "spec", Type::object, kFinalizers}};
constexpr Field kConfigMap[] = {{1, "metadata", Type::object, kMetadata},
                                {2, "data", Type::text_map},
                                {3, "binaryData", Type::bytes_map},
                                {4, "immutable", Type::flag}};
constexpr Field kSecret[] = {{1, "metadata", Type::object, kMetadata},
                             {2, "data", Type::bytes_map},
                             {3, "type", Type::text},
                             {4, "stringData", Type::text_map},
                             {5, "immutable", Type::flag}};
constexpr Field kServiceAccount[] = {{1, "metadata", Type::object, kMetadata},
                                     {2, "secrets", Type::objects, kReference},
                                     {3, "imagePullSecrets", Type::objects, kName},
                                     {4, "automountServiceAccountToken", Type::flag}};
constexpr Field kSource[] = {{1, "component", Type::text}, {2, "host", Type::text}};
constexpr Field kSeries[] = {{1, "count", Type::number}, {2, "lastObservedTime", Type::micro_time}};
constexpr Field kEvent[] = {{1, "metadata", Type::object, kMetadata},
                            {2, "involvedObject", Type::object, kReference},
                            {3, "reason", Type::text},
                            {4, "message", Type::text},
                            {5, "source", Type::object, kSource},
                            {6, "firstTimestamp", Type::time},
                            {7, "lastTimestamp", Type::time},
                            {8, "count", Type::number},
                            {9, "type", Type::text},
                            {10, "eventTime", Type::micro_time},
                            {11, "series", Type::object, kSeries},
                            {12, "action", Type::text},
                            {13, "related", Type::object, kReference},
                            {14, "reportingComponent", Type::text},
                            {15, "reportingInstance", Type::text}};
constexpr Field kEventsEvent[] = {{1, "metadata", Type::object, kMetadata},
                                  {2, "eventTime", Type::micro_time},
                                  {3, "series", Type::object, kSeries},
                                  {4, "reportingController", Type::text},
                                  {5, "reportingInstance", Type::text},
                                  {6, "action", Type::text},
                                  {7, "reason", Type::text},
                                  {8, "regarding", Type::object, kReference},
                                  {9, "related", Type::object, kReference},
                                  {10, "note", Type::text},
                                  {11, "type", Type::text},
                                  {12, "deprecatedSource", Type::object, kSource},
                                  {13, "deprecatedFirstTimestamp", Type::time},
                                  {14, "deprecatedLastTimestamp", Type::time},
                                  {15, "deprecatedCount", Type::number}};
constexpr Field kLeaseSpec[] = {
    {1, "holderIdentity", Type::text},     {2, "leaseDurationSeconds", Type::number},
    {3, "acquireTime", Type::micro_time},  {4, "renewTime", Type::micro_time},
    {5, "leaseTransitions", Type::number}, {6, "strategy", Type::text},
    {7, "preferredHolder", Type::text}};
constexpr Field kLease[] = {{1, "metadata", Type::object, kMetadata},
                            {2, "spec", Type::object, kLeaseSpec}};
constexpr Field kResourceAttributes[] = {
    {1, "namespace", Type::text}, {2, "verb", Type::text},     {3, "group", Type::text},
    {4, "version", Type::text},   {5, "resource", Type::text}, {6, "subresource", Type::text},
    {7, "name", Type::text}};
constexpr Field kPathAttributes[] = {{1, "path", Type::text}, {2, "verb", Type::text}};
constexpr Field kAccessSpec[] = {{1, "resourceAttributes", Type::object, kResourceAttributes},
                                 {2, "nonResourceAttributes", Type::object, kPathAttributes}};
constexpr Field kAccessReview[] = {{1, "metadata", Type::object, kMetadata},
                                   {2, "spec", Type::object, kAccessSpec}};
constexpr Field kRulesSpec[] = {{1, "namespace", Type::text}};
constexpr Field kRulesReview[] = {{1, "metadata", Type::object, kMetadata},
                                  {2, "spec", Type::object, kRulesSpec}};
constexpr Field kSubjectReview[] = {{1, "metadata", Type::object, kMetadata}};
constexpr Field kPreconditions[] = {{1, "uid", Type::text}, {2, "resourceVersion", Type::text}};
constexpr Field kDeleteOptions[] = {{1, "gracePeriodSeconds", Type::number},
                                    {2, "preconditions", Type::object, kPreconditions},
                                    {3, "orphanDependents", Type::flag},
                                    {4, "propagationPolicy", Type::text},
                                    {5, "dryRun", Type::texts}};

Fields fields_of(std::string_view api_version, std::string_view kind) {
  struct Row {
    std::string_view kind;
    Fields fields;
  };
  static constexpr Row rows[] = {{"Namespace", kNamespace},
                                 {"ConfigMap", kConfigMap},
                                 {"Secret", kSecret},
                                 {"ServiceAccount", kServiceAccount},
                                 {"Lease", kLease},
                                 {"SelfSubjectAccessReview", kAccessReview},
                                 {"SelfSubjectRulesReview", kRulesReview},
                                 {"SelfSubjectReview", kSubjectReview},
                                 {"DeleteOptions", kDeleteOptions}};
  if (kind == "Event") return api_version == "v1" ? Fields(kEvent) : Fields(kEventsEvent);
  const auto row = std::ranges::find(rows, kind, &Row::kind);
  return row == std::end(rows) ? Fields() : row->fields;
}

std::string_view expect_bytes(const WireField& field) {
  if (field.type != WireField::Type::bytes) throw Broken{};
  return field.bytes;
}

std::int64_t expect_number(const WireField& field) {
  if (field.type != WireField::Type::number) throw Broken{};
  return static_cast<std::int64_t>(field.value);
}

template <class Visit>
void each_field(std::string_view bytes, Visit visit) {
  while (const auto field = take_field(bytes)) visit(*field);
  if (!bytes.empty()) throw Broken{};
}

// Seconds since 1970 and nanoseconds; empty for the time that is none.
std::string read_time(std::string_view bytes, Type type) {
  std::int64_t seconds = 0, nanoseconds = 0;
  each_field(bytes, [&](const WireField& field) {
    if (field.number == 1) seconds = expect_number(field);
    if (field.number == 2) nanoseconds = expect_number(field);
  });
  constexpr std::int64_t kYear9999 = 253'402'300'799;
  if (seconds <= 0 || seconds > kYear9999) return "";
  const base::Timestamp time{seconds * 1000 + nanoseconds / 1'000'000};
  return type == Type::time ? kube::time_text(time) : kube::micro_time_text(time);
}

void read_entry(JsonObject& map, std::string_view bytes, Type type) {
  std::string_view key, value;
  each_field(bytes, [&](const WireField& field) {
    if (field.number == 1) key = expect_bytes(field);
    if (field.number == 2) value = expect_bytes(field);
  });
  map[key] = type == Type::bytes_map ? base::base64(value) : base::to_valid_utf8(value);
}

JsonObject read_message(std::string_view bytes, Fields fields);

JsonArray& list_at(JsonObject& object, std::string_view name) {
  Json& value = object[name];
  return value.is_array() ? value.get_array() : value.emplace_array();
}

JsonObject& map_at(JsonObject& object, std::string_view name) {
  Json& value = object[name];
  return value.is_object() ? value.get_object() : value.emplace_object();
}

// Go leaves out what is empty when it writes JSON; protobuf bodies hold it.
void set_unless_empty(JsonObject& object, std::string_view name, std::string text) {
  if (!text.empty()) object[name] = std::move(text);
}

void read_field(JsonObject& out, const Field& field, const WireField& given) {
  switch (field.type) {
    case Type::text:
      set_unless_empty(out, field.name, base::to_valid_utf8(expect_bytes(given)));
      return;
    case Type::bytes: set_unless_empty(out, field.name, base::base64(expect_bytes(given))); return;
    case Type::number:
      if (const std::int64_t value = expect_number(given); value != 0) out[field.name] = value;
      return;
    case Type::flag: out[field.name] = expect_number(given) != 0; return;
    case Type::time:
    case Type::micro_time:
      set_unless_empty(out, field.name, read_time(expect_bytes(given), field.type));
      return;
    case Type::object:
      if (JsonObject value = read_message(expect_bytes(given), field.members); !value.empty()) {
        out[field.name] = std::move(value);
      }
      return;
    case Type::texts:
      list_at(out, field.name).emplace_back(base::to_valid_utf8(expect_bytes(given)));
      return;
    case Type::objects:
      list_at(out, field.name).push_back(read_message(expect_bytes(given), field.members));
      return;
    case Type::text_map:
    case Type::bytes_map:
      read_entry(map_at(out, field.name), expect_bytes(given), field.type);
      return;
  }
}

JsonObject read_message(std::string_view bytes, Fields fields) {
  JsonObject out;
  each_field(bytes, [&](const WireField& given) {
    const auto field = std::ranges::find(fields, given.number, &Field::number);
    if (field != fields.end()) read_field(out, *field, given);
  });
  return out;
}

struct Envelope {
  std::string api_version, kind;
  std::string_view raw;
};

// runtime.Unknown: 1 typeMeta {1 apiVersion, 2 kind}, 2 raw.
Envelope read_envelope(std::string_view bytes) {
  Envelope out;
  each_field(bytes, [&](const WireField& field) {
    if (field.number == 2) out.raw = expect_bytes(field);
    if (field.number != 1) return;
    each_field(expect_bytes(field), [&](const WireField& part) {
      if (part.number == 1) out.api_version = base::to_valid_utf8(expect_bytes(part));
      if (part.number == 2) out.kind = base::to_valid_utf8(expect_bytes(part));
    });
  });
  return out;
}

}  // namespace

base::Result<Json, std::string> parse_protobuf_body(std::string_view bytes) {
  constexpr std::string_view magic("k8s\0", 4);
  if (!bytes.starts_with(magic)) return std::string("the body does not begin as protobuf ones do");
  try {
    const Envelope envelope = read_envelope(bytes.substr(magic.size()));
    const Fields fields = fields_of(envelope.api_version, envelope.kind);
    if (fields.empty()) {
      return fmt::format("{} {} is not read as protobuf: send application/json",
                         envelope.api_version, envelope.kind);
    }
    JsonObject object = read_message(envelope.raw, fields);
    object["apiVersion"] = envelope.api_version;
    object["kind"] = envelope.kind;
    return Json(std::move(object));
  } catch (const Broken&) {
    return std::string("the body is broken protobuf");
  }
}

}  // namespace meridian::kubeserver::openapi
