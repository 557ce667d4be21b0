// From a request to its operation, and from errors to answers.
//
// SPDX-License-Identifier: Apache-2.0
#include "s3/server/server.h"

#include <algorithm>
#include <array>

#include "base/log.h"
#include "s3/error.h"
#include "s3/server/service.h"

namespace meridian::s3 {
namespace {

// Sub-resources of S3 that this server does not have, so that asking for one never falls through to
// an operation on the object or bucket itself.
constexpr std::array<std::string_view, 33> sub_resources{"accelerate",
                                                         "acl",
                                                         "analytics",
                                                         "attributes",
                                                         "cors",
                                                         "delete",
                                                         "encryption",
                                                         "intelligent-tiering",
                                                         "inventory",
                                                         "legal-hold",
                                                         "lifecycle",
                                                         "list-type",
                                                         "location",
                                                         "logging",
                                                         "metadataTable",
                                                         "metrics",
                                                         "notification",
                                                         "object-lock",
                                                         "ownershipControls",
                                                         "policy",
                                                         "policyStatus",
                                                         "publicAccessBlock",
                                                         "renameObject",
                                                         "replication",
                                                         "requestPayment",
                                                         "restore",
                                                         "retention",
                                                         "select",
                                                         "session",
                                                         "tagging",
                                                         "torrent",
                                                         "versioning",
                                                         "website"};

bool is_write(std::string_view method) {
  return method != "GET" && method != "HEAD" && method != "OPTIONS";
}

S3Error not_implemented(std::string_view what) {
  return S3Error("NotImplemented",
                 "A header or query you provided requested a function that is not implemented: " +
                     std::string(what),
                 501);
}

}  // namespace

// The first route whose method and sub-resource fit; "" fits when no other sub-resource is named.
const std::vector<Service::Route>& Service::bucket_routes() {
  static const std::vector<Route> routes{
      {"GET", "location", &Service::get_location},
      {"GET", "versioning", &Service::get_versioning},
      {"PUT", "versioning", &Service::put_versioning},
      {"GET", "versions", &Service::list_versions},
      {"GET", "uploads", &Service::list_uploads},
      {"GET", "acl", &Service::get_acl},
      {"PUT", "acl", &Service::put_acl},
      {"GET", "policyStatus", &Service::get_policy_status},
      {"GET", "tagging", &Service::get_bucket_tagging},
      {"PUT", "tagging", &Service::put_bucket_tagging},
      {"DELETE", "tagging", &Service::delete_bucket_tagging},
      {"GET", "cors", &Service::get_cors},
      {"PUT", "cors", &Service::put_cors},
      {"DELETE", "cors", &Service::delete_cors},
      {"GET", "policy", &Service::get_absent_setting},
      {"GET", "encryption", &Service::get_absent_setting},
      {"GET", "lifecycle", &Service::get_absent_setting},
      {"GET", "website", &Service::get_absent_setting},
      {"GET", "replication", &Service::get_absent_setting},
      {"GET", "object-lock", &Service::get_absent_setting},
      {"GET", "ownershipControls", &Service::get_ownership_controls},
      {"GET", "publicAccessBlock", &Service::get_public_access_block},
      {"GET", "logging", &Service::get_empty_setting},
      {"GET", "notification", &Service::get_empty_setting},
      {"GET", "accelerate", &Service::get_empty_setting},
      {"GET", "requestPayment", &Service::get_empty_setting},
      {"POST", "delete", &Service::delete_objects},
      {"GET", "list-type", &Service::list_objects_v2},
      {"GET", "", &Service::list_objects},
      {"HEAD", "", &Service::head_bucket},
      {"PUT", "", &Service::create_bucket},
      {"DELETE", "", &Service::delete_bucket},
      {"OPTIONS", "", &Service::preflight},
  };
  return routes;
}

const std::vector<Service::Route>& Service::object_routes() {
  static const std::vector<Route> routes{
      {"POST", "uploads", &Service::create_upload},
      {"PUT", "uploadId", &Service::put_part},
      {"POST", "uploadId", &Service::complete_upload},
      {"DELETE", "uploadId", &Service::abort_upload},
      {"GET", "uploadId", &Service::list_parts},
      {"GET", "attributes", &Service::get_attributes},
      {"GET", "acl", &Service::get_acl},
      {"PUT", "acl", &Service::put_acl},
      {"GET", "tagging", &Service::get_object_tagging},
      {"PUT", "tagging", &Service::put_object_tagging},
      {"DELETE", "tagging", &Service::delete_object_tagging},
      {"GET", "", &Service::get_object},
      {"HEAD", "", &Service::get_object},
      {"PUT", "", &Service::put_object},
      {"DELETE", "", &Service::delete_object},
      {"OPTIONS", "", &Service::preflight},
  };
  return routes;
}

void Service::run(Call& call) {
  const auto& method = call.http.method;
  if (method != "OPTIONS" && call.caller.account.empty()) throw access_denied();
  if (is_write(method) && !call.caller.may_write)
    throw access_denied("User: " + call.caller.principal_arn +
                        " is not authorized to write: its role is viewer");
  if (call.target.bucket.empty()) {
    if (method == "GET") return list_buckets(call);
    throw S3Error("MethodNotAllowed", "The specified method is not allowed against this resource.",
                  405)
        .with("Method", method)
        .with_header("Allow", "GET");
  }
  const auto& routes = call.target.key.empty() ? bucket_routes() : object_routes();
  for (const auto& route : routes) {
    if (route.method != method || route.sub_resource.empty() || !call.has(route.sub_resource))
      continue;
    return (this->*route.operation)(call);
  }
  for (auto name : sub_resources) {
    if (call.has(name)) throw not_implemented(method + " ?" + std::string(name));
  }
  for (const auto& route : routes) {
    if (route.method == method && route.sub_resource.empty()) return (this->*route.operation)(call);
  }
  if (method == "POST") throw not_implemented("POST");
  throw S3Error("MethodNotAllowed", "The specified method is not allowed against this resource.",
                405)
      .with("Method", method);
}

void answer_error(Call& call, const S3Error& error) {
  net::Response response{.status = error.status(),
                         .body = error_xml(error, call.http.path, call.request_id)};
  response.headers.set("Content-Type", "application/xml");
  for (const auto& [name, value] : error.headers()) response.headers.set(name, value);
  call.answer(std::move(response));
}

struct Server::State {
  State(std::map<std::string, ObjectStore*> regions, const base::Clock& clock, base::Random& random)
      : service(std::move(regions), clock, random) {}
  Service service;
};

Server::Server(std::map<std::string, ObjectStore*> regions, const base::Clock& clock,
               base::Random& random)
    : state_(std::make_unique<State>(std::move(regions), clock, random)) {}

Server::~Server() = default;

void Server::handle(const net::Request& request, const Caller& caller, net::BodyReader& body,
                    const std::function<const net::Headers*()>& trailers,
                    net::Responder& responder) {
  auto& service = state_->service;
  Call call(request, caller, body, trailers, responder, service.new_request_id());
  try {
    call.parse();
    service.add_cors_headers(call);
    service.run(call);
  } catch (const base::Error& error) {
    if (responder.begun()) throw;  // too late to say anything: the connection is dropped
    const auto s3_error = to_s3_error(error);
    if (s3_error.status() >= 500)
      base::log_error("S3 request failed", {{"method", request.method},
                                            {"path", request.path},
                                            {"request", call.request_id},
                                            {"error", error.what()}});
    answer_error(call, s3_error);
  }
}

net::Response Server::error(std::string_view code, std::string_view message, int status,
                            std::string_view resource, std::string_view request_id) {
  const S3Error error{std::string(code), std::string(message), status};
  net::Response response{.status = status, .body = error_xml(error, resource, request_id)};
  response.headers.set("Content-Type", "application/xml");
  response.headers.set("x-amz-request-id", std::string(request_id));
  return response;
}

}  // namespace meridian::s3
