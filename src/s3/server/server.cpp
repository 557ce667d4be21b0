// From a request to its operation, and from errors to answers.
//
// SPDX-License-Identifier: Apache-2.0
#include "s3/server/server.h"

#include <algorithm>
#include <array>

#include "base/log.h"
#include "s3/error.h"
#include "s3/server/bucket_documents.h"
#include "s3/server/service.h"

namespace meridian::s3 {
namespace {

struct SubResource {
  std::string_view name, advice;
};

// All sub-resources of S3, so that asking for one that is not routed never falls through to an
// operation on the object or bucket itself; and what to do instead.
constexpr std::string_view no_locks = "objects cannot be locked; versioning keeps old versions";
constexpr std::string_view no_reports = "list the bucket instead";
constexpr std::array<SubResource, 33> sub_resources{{
    {"accelerate", "there is one endpoint"},
    {"acl", "there are no ACLs; the roles of the keys decide"},
    {"analytics", no_reports},
    {"attributes", ""},
    {"cors", ""},
    {"delete", ""},
    {"encryption", ""},
    {"intelligent-tiering", "every storage class is stored alike"},
    {"inventory", no_reports},
    {"legal-hold", no_locks},
    {"lifecycle", ""},
    {"list-type", ""},
    {"location", ""},
    {"logging", "requests are counted on the page /metrics"},
    {"metadataTable", no_reports},
    {"metrics", "requests are counted on the page /metrics"},
    {"notification", "list the bucket to see what is new"},
    {"object-lock", no_locks},
    {"ownershipControls", "there are no ACLs"},
    {"policy", ""},
    {"policyStatus", ""},
    {"publicAccessBlock", ""},
    {"renameObject", "copy the object and delete the old one; a copy shares the bytes"},
    {"replication", "copy with CopyObject or `meridian s3 cp`, which cross regions"},
    {"requestPayment", "requests cost nothing"},
    {"restore", "nothing is archived; the object can be read"},
    {"retention", no_locks},
    {"select", "read the object and filter it yourself"},
    {"session", "directory buckets are not there; use an ordinary bucket"},
    {"tagging", ""},
    {"torrent", "use GetObject"},
    {"versioning", ""},
    {"website", "let a web server read the bucket"},
}};

bool is_write(std::string_view method) {
  return method != "GET" && method != "HEAD" && method != "OPTIONS";
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
      {"GET", "policy", &Service::get_document},
      {"PUT", "policy", &Service::put_document},
      {"DELETE", "policy", &Service::delete_document},
      {"GET", "encryption", &Service::get_document},
      {"PUT", "encryption", &Service::put_document},
      {"DELETE", "encryption", &Service::delete_document},
      {"GET", "lifecycle", &Service::get_document},
      {"PUT", "lifecycle", &Service::put_document},
      {"DELETE", "lifecycle", &Service::delete_document},
      {"GET", "publicAccessBlock", &Service::get_document},
      {"PUT", "publicAccessBlock", &Service::put_document},
      {"DELETE", "publicAccessBlock", &Service::delete_document},
      {"GET", "website", &Service::get_absent_setting},
      {"DELETE", "website", &Service::delete_absent_setting},
      {"GET", "replication", &Service::get_absent_setting},
      {"DELETE", "replication", &Service::delete_absent_setting},
      {"GET", "object-lock", &Service::get_absent_setting},
      {"GET", "ownershipControls", &Service::get_ownership_controls},
      {"PUT", "ownershipControls", &Service::put_fixed_setting},
      {"DELETE", "ownershipControls", &Service::delete_absent_setting},
      {"GET", "logging", &Service::get_empty_setting},
      {"GET", "notification", &Service::get_empty_setting},
      {"GET", "accelerate", &Service::get_empty_setting},
      {"GET", "requestPayment", &Service::get_empty_setting},
      {"PUT", "logging", &Service::put_fixed_setting},
      {"PUT", "notification", &Service::put_fixed_setting},
      {"PUT", "accelerate", &Service::put_fixed_setting},
      {"PUT", "requestPayment", &Service::put_fixed_setting},
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
      {"GET", "retention", &Service::get_absent_setting},
      {"GET", "legal-hold", &Service::get_absent_setting},
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
  for (const auto& [name, advice] : sub_resources) {
    if (call.has(name)) throw not_implemented(method + " ?" + std::string(name), advice);
  }
  for (const auto& route : routes) {
    if (route.method == method && route.sub_resource.empty()) return (this->*route.operation)(call);
  }
  if (method == "POST")
    throw not_implemented("uploads by POST forms", "use a presigned URL of PutObject");
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
  State(const std::vector<ObjectStore*>& stores, const base::Clock& clock, base::Random& random,
        ServerSettings settings)
      : service(stores, clock, random, settings) {}
  Service service;
};

Server::Server(const std::vector<ObjectStore*>& stores, const base::Clock& clock,
               base::Random& random, ServerSettings settings)
    : state_(std::make_unique<State>(stores, clock, random, settings)) {}

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
    if (s3_error.status() >= 500 && s3_error.status() != 501)
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
