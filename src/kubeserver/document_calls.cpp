// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/document_calls.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "base/strings.h"
#include "kube/status.h"
#include "kubeserver/call.h"
#include "kubeserver/media.h"
#include "kubeserver/openapi/discovery.h"
#include "kubeserver/openapi/documents.h"

namespace meridian::kubeserver {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using kinds::Registry;
using RegistryPtr = std::shared_ptr<const Registry>;

// Clients of version 1.20 do not understand the media type that they ask for when it is echoed.
constexpr std::string_view kGnosticType =
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

// "v2" or "v2beta1" when the client prefers the aggregated form; "" for the plain one.
std::string aggregated_version(const net::Request& request) {
  for (const MediaRange& range : parse_accept(request.headers.get("accept"))) {
    if (!range.accepts_json()) continue;
    if (range.parameter("as").empty()) return "";
    const std::string version = range.parameter("v");
    const bool known = range.parameter("as") == "APIGroupDiscoveryList" &&
                       range.parameter("g") == "apidiscovery.k8s.io" &&
                       (version == "v2" || version == "v2beta1");
    if (known) return version;
  }
  return "";
}

void send(net::Responder& responder, std::string body, std::string_view type,
          const std::string& tag = "") {
  net::Response response{.body = std::move(body)};
  response.headers.add("Content-Type", std::string(type));
  response.headers.add("Vary", "Accept");
  if (!tag.empty()) response.headers.add("ETag", "\"" + tag + "\"");
  responder.send(std::move(response));
}

// Answers 304 when the client has this already.
bool is_known(const net::Request& request, net::Responder& responder, const std::string& tag) {
  if (tag.empty() || request.headers.get("if-none-match") != "\"" + tag + "\"") return false;
  net::Response response{.status = 304};
  response.headers.add("ETag", "\"" + tag + "\"");
  response.headers.add("Vary", "Accept");
  responder.send(std::move(response));
  return true;
}

void send_aggregated(net::Responder& responder, const Registry& registry, openapi::Core core,
                     const std::string& version) {
  send(
      responder, base::to_text(openapi::aggregated_discovery(registry, core, version)) + "\n",
      fmt::format("application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList", version));
}

bool wants_gnostic(const net::Request& request) {
  for (const MediaRange& range : parse_accept(request.headers.get("accept"))) {
    if (range.type.find("protobuf") != std::string::npos) return true;
    if (range.accepts_json()) return false;
  }
  return false;
}

JsonObject version_document(const std::string& version) {
  const std::string kubernetes(openapi::kKubernetesVersion);
  const auto numbers = base::split(kubernetes.substr(1), '.');
  return {{"major", numbers[0]},
          {"minor", numbers[1]},
          {"gitVersion", fmt::format("{}+meridian-{}", kubernetes, version)},
          {"gitCommit", ""},
          {"gitTreeState", "clean"},
          {"buildDate", "1970-01-01T00:00:00Z"},
          {"goVersion", "none"},
          {"compiler", "none"},
          {"platform", "linux/amd64"}};
}

JsonArray root_paths(const Registry& registry) {
  JsonArray paths{"/api", "/api/v1", "/apis"};
  for (const kinds::Group& group : registry.groups()) {
    if (group.name.empty()) continue;
    paths.emplace_back("/apis/" + group.name);
    for (const std::string& version : group.versions) {
      paths.emplace_back("/apis/" + group.name + "/" + version);
    }
  }
  for (const char* path :
       {"/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"}) {
    paths.emplace_back(path);
  }
  return paths;
}

bool is_health(std::string_view path) {
  for (const std::string_view root : {"/healthz", "/livez", "/readyz"}) {
    if (path == root || path == std::string(root) + "/ping") return true;
  }
  return false;
}

}  // namespace

bool Documents::serve_open(const net::Request& request, net::Responder& responder) const {
  if (request.method != "GET" && request.method != "HEAD") return false;
  if (is_health(request.path)) {
    send(responder, "ok", "text/plain; charset=utf-8");
  } else if (request.path == "/version" || request.path == "/version/") {
    send_json(responder, 200, version_document(version_));
  } else {
    return false;
  }
  return true;
}

bool Documents::serve(const net::Request& request, net::Responder& responder,
                      const RegistryPtr& registry) {
  if (request.method != "GET" && request.method != "HEAD") return false;
  const std::string& path = request.path;
  if (path == "/") {
    send_json(responder, 200, JsonObject{{"paths", root_paths(*registry)}});
  } else if (path == "/openapi/v2") {
    serve_v2(request, responder, registry);
  } else if (path.starts_with("/openapi/v3")) {
    serve_v3(request, responder, registry);
  } else {
    return serve_discovery(request, responder, *registry);
  }
  return true;
}

bool Documents::serve_discovery(const net::Request& request, net::Responder& responder,
                                const Registry& registry) const {
  std::string path = request.path;
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const std::vector<std::string> parts = base::split(path.substr(1), '/');
  const std::string aggregated = parts.size() == 1 ? aggregated_version(request) : "";
  Json document;
  if (path == "/api") {
    if (!aggregated.empty()) {
      send_aggregated(responder, registry, openapi::Core::yes, aggregated);
      return true;
    }
    document = openapi::api_versions(request.headers.get("host"));
  } else if (path == "/apis") {
    if (!aggregated.empty()) {
      send_aggregated(responder, registry, openapi::Core::no, aggregated);
      return true;
    }
    document = openapi::api_group_list(registry);
  } else if (parts[0] == "api" && parts.size() == 2) {
    document = openapi::api_resource_list(registry, "", parts[1]);
  } else if (parts[0] == "apis" && parts.size() == 2) {
    document = openapi::api_group(registry, parts[1]);
  } else if (parts[0] == "apis" && parts.size() == 3) {
    document = openapi::api_resource_list(registry, parts[1], parts[2]);
  }
  if (document.is_null()) return false;
  send_json(responder, 200, document);
  return true;
}

Documents::Made& Documents::made_of(const RegistryPtr& registry) {
  if (made_.of != registry) made_ = {registry, "", ""};
  return made_;
}

void Documents::serve_v3(const net::Request& request, net::Responder& responder,
                         const RegistryPtr& registry) {
  const std::vector<std::string> parts = base::split(request.path.substr(1), '/');
  if (parts.size() == 2) {
    const std::lock_guard lock(mutex_);
    std::string& index = made_of(registry).v3_index;
    if (index.empty()) index = base::to_text(openapi::v3_index(*registry));
    return send(responder, index, "application/json");
  }
  const bool core = parts.size() == 4 && parts[2] == "api";
  const bool group = parts.size() == 5 && parts[2] == "apis";
  const Json document = core || group
                            ? openapi::v3_document(*registry, core ? "" : parts[3], parts.back())
                            : Json(nullptr);
  if (document.is_null()) throw kube::StatusError(404, "NotFound", "no such OpenAPI document");
  std::string text = base::to_text(document);
  const std::string tag = base::sha256_hex(text).substr(0, 32);
  if (!is_known(request, responder, tag)) send(responder, std::move(text), "application/json", tag);
}

void Documents::serve_v2(const net::Request& request, net::Responder& responder,
                         const RegistryPtr& registry) {
  const bool gnostic = wants_gnostic(request);
  if (gnostic) {
    const std::lock_guard lock(mutex_);
    if (is_known(request, responder, made_of(registry).v2_tag)) return;
  }
  const Json document = openapi::v2_document(*registry);
  if (!gnostic) return send(responder, base::to_text(document), "application/json");
  std::string bytes = openapi::to_gnostic(document);
  const std::string tag = base::sha256_hex(bytes).substr(0, 32);
  {
    const std::lock_guard lock(mutex_);
    made_of(registry).v2_tag = tag;
  }
  send(responder, std::move(bytes), kGnosticType, tag);
}

}  // namespace meridian::kubeserver
