// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/media.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "base/yaml.h"
#include "kube/status.h"
#include "kubeserver/openapi/bodies.h"

namespace meridian::kubeserver {
namespace {

using base::Json;
using kube::StatusError;
using objects::Form;
using objects::Shape;

constexpr std::size_t kMostBody = 3u << 20;

std::string unquoted(std::string_view text) {
  text = base::trim(text);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  return std::string(text);
}

MediaRange parse_range(std::string_view text) {
  MediaRange range;
  bool first = true;
  for (const std::string& piece : base::split(text, ';')) {
    if (std::exchange(first, false)) {
      range.type = base::to_lower(base::trim(piece));
      continue;
    }
    const std::size_t equals = piece.find('=');
    if (equals == std::string::npos) continue;
    range.parameters[base::to_lower(base::trim(std::string_view(piece).substr(0, equals)))] =
        unquoted(std::string_view(piece).substr(equals + 1));
  }
  return range;
}

double quality_of(const MediaRange& range) {
  return base::to_double(range.parameter("q")).value_or(1.0);
}

kube::RowObject rows_of(std::string_view include_object) {
  if (include_object == "None") return kube::RowObject::none;
  if (include_object == "Object") return kube::RowObject::full;
  if (include_object.empty() || include_object == "Metadata") return kube::RowObject::metadata;
  throw kube::bad_request(
      fmt::format("includeObject={}: one of None, Metadata, Object is wanted", include_object));
}

std::optional<Form> form_of(const MediaRange& range, std::string_view include_object) {
  if (!range.accepts_json()) return std::nullopt;
  const std::string as = range.parameter("as");
  if (as.empty()) return Form{};
  const bool ours = range.parameter("g") == "meta.k8s.io" && range.parameter("v") == "v1";
  if (!ours) return std::nullopt;
  if (as == "Table") return Form{Shape::table, rows_of(include_object)};
  if (as.starts_with("PartialObjectMetadata")) return Form{Shape::metadata};
  return std::nullopt;
}

std::string read_bytes(net::Request& request) {
  try {
    return request.body->read_all(kMostBody);
  } catch (const base::Error& error) {
    if (error.code() != base::Code::resource_exhausted) throw;
    throw StatusError(413, "RequestEntityTooLarge",
                      fmt::format("Request entity too large: limit is {}", kMostBody));
  }
}

Json parse_json_body(std::string_view bytes) {
  auto value = base::parse_json(bytes, objects::kObjectLimits);
  if (value) return std::move(*value);
  throw kube::bad_request("the body is no JSON: " + value.error().text());
}

Json parse_yaml_body(std::string_view bytes) {
  auto documents = base::parse_yaml(bytes);
  if (!documents) throw kube::bad_request("the body is no YAML: " + documents.error().text());
  if (documents->size() != 1) {
    throw kube::bad_request(
        fmt::format("the body holds {} YAML documents, one is wanted", documents->size()));
  }
  return std::move(documents->front().value);
}

}  // namespace

std::string MediaRange::parameter(std::string_view name) const {
  const auto found = parameters.find(std::string(name));
  return found == parameters.end() ? "" : found->second;
}

bool MediaRange::accepts_json() const {
  return type == "application/json" || type == "application/*" || type == "*/*";
}

std::vector<MediaRange> parse_accept(std::string_view header) {
  std::vector<MediaRange> ranges;
  for (const std::string& piece : base::split(header, ',')) {
    if (!base::trim(piece).empty()) ranges.push_back(parse_range(piece));
  }
  if (ranges.empty()) ranges.push_back({"*/*", {}});
  std::ranges::stable_sort(ranges, std::greater(), quality_of);
  return ranges;
}

Form choose_form(std::string_view accept, std::string_view include_object) {
  for (const MediaRange& range : parse_accept(accept)) {
    if (const auto form = form_of(range, include_object)) return *form;
  }
  throw StatusError(406, "NotAcceptable",
                    "only the following media types are accepted: application/json");
}

std::string content_type_of(const net::Request& request) {
  return parse_range(request.headers.get("content-type")).type;
}

Json read_body(net::Request& request) { return read_body(request, Empty::refused); }

Json read_body(net::Request& request, Empty empty) {
  const std::string type = content_type_of(request);
  const std::string bytes = read_bytes(request);
  if (bytes.empty()) {
    if (empty == Empty::allowed) return nullptr;
    throw kube::bad_request("the request has no body");
  }
  if (type == openapi::kProtobufType) {
    auto value = openapi::parse_protobuf_body(bytes);
    if (value) return std::move(*value);
    throw StatusError(415, "UnsupportedMediaType", value.error());
  }
  if (type.find("yaml") != std::string::npos) return parse_yaml_body(bytes);
  if (type.empty() || type.find("json") != std::string::npos || type == "*/*") {
    return parse_json_body(bytes);
  }
  throw StatusError(
      415, "UnsupportedMediaType",
      "the body of the request was in an unknown format - accepted media types "
      "include: application/json, application/yaml, application/vnd.kubernetes.protobuf");
}

}  // namespace meridian::kubeserver
