// SPDX-License-Identifier: Apache-2.0
#include "kube/status.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/strings.h"

namespace meridian::kube {
namespace {

using base::Code;
using base::Json;
using base::JsonArray;
using base::JsonObject;
using base::Retry;

struct Row {
  int status;
  std::string_view reason;
  Code code;
  Retry retry;
};
// The first row of a status is its usual reason.
constexpr Row rows[] = {
    {400, "BadRequest", Code::invalid_argument, Retry::no},
    {401, "Unauthorized", Code::unauthenticated, Retry::no},
    {403, "Forbidden", Code::permission_denied, Retry::no},
    {404, "NotFound", Code::not_found, Retry::no},
    {405, "MethodNotAllowed", Code::unimplemented, Retry::no},
    {406, "NotAcceptable", Code::invalid_argument, Retry::no},
    {409, "Conflict", Code::conflict, Retry::no},
    {409, "AlreadyExists", Code::already_exists, Retry::no},
    {410, "Expired", Code::failed_precondition, Retry::no},
    {410, "Gone", Code::failed_precondition, Retry::no},
    {413, "RequestEntityTooLarge", Code::resource_exhausted, Retry::no},
    {415, "UnsupportedMediaType", Code::invalid_argument, Retry::no},
    {422, "Invalid", Code::invalid_argument, Retry::no},
    {429, "TooManyRequests", Code::resource_exhausted, Retry::yes},
    {500, "InternalError", Code::internal, Retry::yes},
    {503, "ServiceUnavailable", Code::unavailable, Retry::yes},
    {504, "Timeout", Code::deadline_exceeded, Retry::yes},
};

const Row& row_of(int status, std::string_view reason) {
  const Row* usual = nullptr;
  for (const Row& row : rows) {
    if (row.status != status) continue;
    if (row.reason == reason) return row;
    if (usual == nullptr) usual = &row;
  }
  if (usual != nullptr) return *usual;
  return status >= 500 ? row_of(500, "") : row_of(400, "");
}

std::string qualified(std::string_view group, std::string_view word) {
  return group.empty() ? std::string(word) : fmt::format("{}.{}", word, group);
}

Json causes_json(const std::vector<Cause>& causes) {
  JsonArray out;
  for (const Cause& cause : causes) {
    JsonObject one;
    if (!cause.reason.empty()) one["reason"] = cause.reason;
    if (!cause.message.empty()) one["message"] = cause.message;
    if (!cause.field.empty()) one["field"] = cause.field;
    out.emplace_back(std::move(one));
  }
  return out;
}

StatusDetails read_details(const Json& status) {
  StatusDetails out;
  const Json* details = base::find(status, "details");
  if (details == nullptr) return out;
  out.group = base::string_or(*details, "group");
  out.kind = base::string_or(*details, "kind");
  out.name = base::string_or(*details, "name");
  out.uid = base::string_or(*details, "uid");
  out.retry_after_seconds = static_cast<int>(std::clamp<std::int64_t>(
      base::int_or(*details, "retryAfterSeconds", 0), 0, std::int64_t{24} * 3600));
  const Json* causes = base::find(*details, "causes");
  if (causes == nullptr || !causes->is_array()) return out;
  for (const Json& cause : causes->get_array()) {
    out.causes.push_back({.field = base::string_or(cause, "field"),
                          .reason = base::string_or(cause, "reason"),
                          .message = base::string_or(cause, "message")});
  }
  return out;
}

StatusError read_status(const Json& status) {
  const std::int64_t given = base::int_or(status, "code", 500);
  const int code = given >= 400 && given < 600 ? static_cast<int>(given) : 500;
  const std::string reason = base::string_or(status, "reason", row_of(code, "").reason);
  return {code, reason, base::string_or(status, "message", reason), read_details(status)};
}

// What a proxy or a foreign server said instead of a Status.
std::string plain_message(int http_status, std::string_view body) {
  const std::string text =
      base::to_valid_utf8(base::utf8_prefix(base::trim(body), std::size_t{1024}));
  return text.empty() ? fmt::format("the server answered {} without a message", http_status)
                      : fmt::format("the server answered {}: {}", http_status, text);
}

// "CAUSE", or "[CAUSE, CAUSE]" without repetitions.
std::string summary(const std::vector<Cause>& causes) {
  std::vector<std::string> texts;
  for (const Cause& cause : causes) {
    std::string text = cause.field.empty() ? cause.message : cause.field + ": " + cause.message;
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) {
      texts.push_back(std::move(text));
    }
  }
  return texts.size() == 1 ? texts.front() : "[" + base::join(texts, ", ") + "]";
}

int status_of(Code code) {
  switch (code) {
    case Code::invalid_argument: return 400;
    case Code::not_found: return 404;
    case Code::already_exists:
    case Code::conflict:
    case Code::failed_precondition: return 409;
    case Code::unauthenticated: return 401;
    case Code::permission_denied: return 403;
    case Code::resource_exhausted: return 429;
    case Code::unavailable:
    case Code::cancelled: return 503;
    case Code::deadline_exceeded: return 504;
    case Code::unimplemented: return 405;
    case Code::data_loss:
    case Code::internal: return 500;
  }
  std::abort();
}

}  // namespace

StatusError::StatusError(int code, std::string reason, std::string message, StatusDetails details)
    : base::Error(row_of(code, reason).code, std::move(message), row_of(code, reason).retry),
      status_(code),
      reason_(std::move(reason)),
      details_(std::move(details)) {}

Json StatusError::to_json() const {
  JsonObject details;
  if (!details_.name.empty()) details["name"] = details_.name;
  if (!details_.group.empty()) details["group"] = details_.group;
  if (!details_.kind.empty()) details["kind"] = details_.kind;
  if (!details_.uid.empty()) details["uid"] = details_.uid;
  if (!details_.causes.empty()) details["causes"] = causes_json(details_.causes);
  if (details_.retry_after_seconds > 0) details["retryAfterSeconds"] = details_.retry_after_seconds;
  JsonObject out{{"kind", "Status"},        {"apiVersion", "v1"},   {"metadata", JsonObject()},
                 {"status", "Failure"},     {"message", message()}, {"reason", reason_},
                 {"details", JsonObject()}, {"code", status_}};
  if (details.empty()) {
    out.stable_erase("details");
  } else {
    out["details"] = std::move(details);
  }
  return out;
}

StatusError not_found(std::string_view group, std::string_view plural, std::string_view name) {
  return {404,
          "NotFound",
          fmt::format("{} \"{}\" not found", qualified(group, plural), name),
          {std::string(group), std::string(plural), std::string(name)}};
}

StatusError already_exists(std::string_view group, std::string_view plural, std::string_view name) {
  return {409,
          "AlreadyExists",
          fmt::format("{} \"{}\" already exists", qualified(group, plural), name),
          {std::string(group), std::string(plural), std::string(name)}};
}

StatusError conflict(std::string_view group, std::string_view plural, std::string_view name,
                     std::string_view why) {
  return {409,
          "Conflict",
          fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", qualified(group, plural),
                      name, why),
          {std::string(group), std::string(plural), std::string(name)}};
}

StatusError invalid(std::string_view group, std::string_view kind, std::string_view name,
                    std::vector<Cause> causes) {
  std::string message =
      fmt::format("{} \"{}\" is invalid: {}", qualified(group, kind), name, summary(causes));
  return {422,
          "Invalid",
          std::move(message),
          {std::string(group), std::string(kind), std::string(name), "", std::move(causes)}};
}

StatusError bad_request(std::string message) { return {400, "BadRequest", std::move(message)}; }

StatusError expired(std::string message) { return {410, "Expired", std::move(message)}; }

StatusError to_status_error(const base::Error& error) {
  if (const auto* status = dynamic_cast<const StatusError*>(&error)) return *status;
  const int status = status_of(error.code());
  const std::string reason(row_of(status, base::name(error.code())).reason);
  if (error.code() == Code::already_exists) return {409, "AlreadyExists", error.what()};
  if (status == 500) return {500, reason, "Internal error occurred"};
  return {status, reason, error.what()};
}

std::optional<StatusError> find_status_error(const Json& status) {
  if (base::string_or(status, "kind") != "Status") return std::nullopt;
  if (base::string_or(status, "status") == "Success") return std::nullopt;
  return read_status(status);
}

std::optional<StatusError> parse_status(int http_status, std::string_view body) {
  const auto json = base::parse_json(body);
  if (json) {
    if (auto status = find_status_error(*json)) return status;
  }
  if (http_status < 400) return std::nullopt;
  return StatusError(http_status, std::string(row_of(http_status, "").reason),
                     plain_message(http_status, body));
}

}  // namespace meridian::kube
