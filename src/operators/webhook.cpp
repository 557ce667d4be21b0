// SPDX-License-Identifier: Apache-2.0
#include "operators/webhook.h"

#include <fmt/format.h>

#include "base/error.h"
#include "operators/admission.h"

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr std::size_t kMostBytes = 8u << 20;  // object and old object; etcd takes 1.5 MiB of one

Review review_of(const Json& request) {
  const std::string operation = base::string_or(request, "operation");
  const Json* object = base::find(request, "object");
  if ((operation != "CREATE" && operation != "UPDATE") || object == nullptr || !object->is_object())
    return {};
  const Json* resource = base::find(request, "resource");
  if (!base::string_or(request, "subResource").empty() || resource == nullptr ||
      base::string_or(*resource, "group") != kGroup)
    return {};
  const Kind* kind = find_kind(base::string_or(*resource, "resource"));
  if (kind == nullptr) return {};
  const Json* old = base::find(request, "oldObject");
  return review(*kind, *object, old != nullptr && old->is_object() ? old : nullptr);
}

// "spec.a: what is wrong; spec.b: …": the one message that the API server passes on.
std::string message_of(const std::vector<kube::Cause>& causes) {
  std::string text;
  for (const kube::Cause& cause : causes)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", cause.field, cause.message);
  return text;
}

void handle(net::Request& request, net::Responder& responder) {
  if (request.path == "/healthz") {
    responder.send({.status = 200, .headers = {}, .body = "ok\n"});
    return;
  }
  if (request.path != "/validate" || request.method != "POST") {
    responder.send({.status = 404, .headers = {}, .body = "POST /validate\n"});
    return;
  }
  net::Response response{.status = 200, .headers = {}, .body = ""};
  response.headers.set("Content-Type", "application/json");
  const auto body = base::parse_json(request.body->read_all(kMostBytes));
  try {
    if (!body) throw base::Error(base::Code::invalid_argument, body.error().text());
    response.body = base::to_text(answer_review(*body));
  } catch (const base::Error& error) {  // the API server's request is not one
    response.status = 400;
    response.body = base::to_text(JsonObject{{"message", error.message()}});
  }
  responder.send(std::move(response));
}

}  // namespace

Json answer_review(const Json& asked) {
  const Json* request = base::find(asked, "request");
  if (base::string_or(asked, "kind") != "AdmissionReview" || request == nullptr ||
      base::string_or(*request, "uid").empty()) {
    throw base::Error(base::Code::invalid_argument, "expected an AdmissionReview with a request");
  }
  const Review verdict = review_of(*request);
  JsonObject response{{"uid", base::string_or(*request, "uid")},
                      {"allowed", verdict.causes.empty()}};
  if (!verdict.causes.empty()) {
    response["status"] =
        JsonObject{{"code", 422}, {"reason", "Invalid"}, {"message", message_of(verdict.causes)}};
  }
  if (!verdict.warnings.empty())
    response["warnings"] = JsonArray(verdict.warnings.begin(), verdict.warnings.end());
  return {{"apiVersion", "admission.k8s.io/v1"},
          {"kind", "AdmissionReview"},
          {"response", std::move(response)}};
}

net::Handler webhook_handler() { return handle; }

}  // namespace meridian::operators
