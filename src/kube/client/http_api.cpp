// SPDX-License-Identifier: Apache-2.0
#include "kube/client/http_api.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "kube/client/watch_stream.h"

namespace meridian::kube {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr std::size_t most_items = 10'000'000;

// "?a=b&c=d" of the pairs whose value is not empty.
std::string query(std::initializer_list<std::pair<std::string_view, std::string>> pairs) {
  std::string out;
  for (const auto& [name, value] : pairs) {
    if (value.empty()) continue;
    out += out.empty() ? '?' : '&';
    out += fmt::format("{}={}", name, base::percent_encode(value));
  }
  return out;
}

Json parse_answer(const net::Response& response) {
  auto json = base::parse_json(response.body, {.depth = 128, .bytes = 1u << 30});
  if (!json) {
    throw base::Error(base::Code::data_loss,
                      "the Kubernetes API answered no JSON: " + json.error().text());
  }
  return std::move(*json);
}

// Throws when the answer is an error; a Retry-After header counts when the body has none.
void check(const net::Response& response) {
  auto error = response.status >= 400 ? parse_status(response.status, response.body) : std::nullopt;
  if (!error) return;
  const auto seconds = base::to_int(response.headers.get("Retry-After"));
  if (!seconds || *seconds <= 0 || error->details().retry_after_seconds > 0) throw *error;
  StatusDetails details = error->details();
  details.retry_after_seconds = static_cast<int>(std::min<std::int64_t>(*seconds, 3600));
  throw StatusError(error->status(), error->reason(), error->message(), std::move(details));
}

// Lists of built-in kinds leave out what every item is.
void add_items(const Json& page, std::vector<Json>& out) {
  std::string kind = kind_of(page);
  if (kind.ends_with("List")) kind.resize(kind.size() - 4);
  const Json* items = base::find(page, "items");
  if (items == nullptr || !items->is_array()) return;
  if (out.size() + items->get_array().size() > most_items) {
    throw base::Error(base::Code::resource_exhausted, "a list has too many items");
  }
  for (const Json& item : items->get_array()) {
    JsonObject named;
    if (api_version_of(item).empty()) named["apiVersion"] = api_version_of(page);
    if (kind_of(item).empty()) named["kind"] = kind;
    if (named.empty()) {
      out.push_back(item);
      continue;
    }
    if (item.is_object()) named.insert(item.get_object().begin(), item.get_object().end());
    out.emplace_back(std::move(named));
  }
}

std::string_view content_type_of(PatchType type) {
  switch (type) {
    case PatchType::json: return "application/json-patch+json";
    case PatchType::merge: return "application/merge-patch+json";
    case PatchType::apply: return "application/apply-patch+yaml";  // JSON is YAML
  }
  std::abort();
}

std::string_view word_of(Propagation propagation) {
  switch (propagation) {
    case Propagation::background: return "Background";
    case Propagation::foreground: return "Foreground";
    case Propagation::orphan: return "Orphan";
  }
  std::abort();
}

// Ends a watch from within its sink.
struct Enough {};

}  // namespace

HttpApi::HttpApi(net::HttpClient& http, Access access, HttpApiSettings settings)
    : http_(http),
      access_(std::move(access)),
      settings_(std::move(settings)),
      credentials_(access_, settings_.clock != nullptr ? *settings_.clock : system_clock_) {}

net::ClientRequest HttpApi::request_for(const ApiCall& call) {
  const Shown shown = credentials_.current();
  net::ClientRequest out{.method = call.method,
                         .url = access_.server + call.path,
                         .body = call.body,
                         .unix_socket = access_.unix_socket,
                         .timeout = settings_.timeout,
                         .ca_pem = access_.ca_pem,
                         .certificate_pem = shown.certificate_pem,
                         .key_pem = shown.key_pem};
  if (access_.verify == Access::Verify::no) out.verify = net::ClientRequest::Verify::no;
  out.headers.add("Accept", call.accept);
  out.headers.add("User-Agent", settings_.user_agent);
  if (!call.body.empty()) out.headers.add("Content-Type", call.content_type);
  if (!shown.authorization.empty()) out.headers.add("Authorization", shown.authorization);
  return out;
}

net::Response HttpApi::send(const ApiCall& call, std::stop_token stop) {
  net::Response response = http_.send(request_for(call), stop);
  if (response.status == 401 && credentials_.renew()) {
    response = http_.send(request_for(call), stop);
  }
  check(response);
  return response;
}

Json HttpApi::call(const ApiCall& call) { return parse_answer(send(call)); }

Json HttpApi::get(const ResourceId& resource, const ObjectKey& key) {
  return call({.path = resource.path(key.ns, key.name)});
}

List HttpApi::list(const ResourceId& resource, const std::string& ns, const ListOptions& options) {
  try {
    return list_pages(resource, ns, options);
  } catch (const StatusError& error) {
    if (error.status() != 410 || options.limit <= 0) throw;
  }
  // The pages' snapshot went away meanwhile: all in one piece then.
  ListOptions whole = options;
  whole.limit = 0;
  return list_pages(resource, ns, whole);
}

List HttpApi::list_pages(const ResourceId& resource, const std::string& ns, ListOptions options) {
  List out;
  std::string next;
  do {
    const Json page =
        call({.path = resource.path(ns) +
                      query({{"limit", options.limit > 0 ? std::to_string(options.limit) : ""},
                             {"continue", next},
                             {"labelSelector", options.label_selector},
                             {"fieldSelector", options.field_selector},
                             {"resourceVersion", next.empty() ? options.resource_version : ""}})});
    add_items(page, out.items);
    out.resource_version = resource_version_of(page);
    const Json* metadata = base::find(page, "metadata");
    next = metadata == nullptr ? "" : base::string_or(*metadata, "continue");
  } while (!next.empty());
  return out;
}

void HttpApi::watch(const ResourceId& resource, const std::string& ns, const WatchOptions& options,
                    const std::function<bool(WatchEvent)>& sink, std::stop_token stop) {
  const ApiCall call{.path = resource.path(ns) +
                             query({{"watch", "true"},
                                    {"allowWatchBookmarks", "true"},
                                    {"timeoutSeconds", std::to_string(options.timeout.count())},
                                    {"labelSelector", options.label_selector},
                                    {"fieldSelector", options.field_selector},
                                    {"resourceVersion", options.resource_version}})};
  WatchStream stream;
  const auto feed = [&](std::string_view bytes) {
    for (WatchEvent& event : stream.feed(bytes)) {
      if (!sink(std::move(event))) throw Enough();
    }
  };
  const auto follow = [&] {
    net::ClientRequest request = request_for(call);
    request.timeout = options.timeout + settings_.timeout;  // the server ends it before
    return http_.send(request, feed, stop);
  };
  try {
    net::Response response = follow();
    if (response.status == 401 && credentials_.renew()) response = follow();
    check(response);
  } catch (const Enough&) {
  } catch (const base::Error& error) {
    if (error.code() != base::Code::cancelled || !stop.stop_requested()) throw;
  }
}

Json HttpApi::create(const ResourceId& resource, const Json& object) {
  return call({.method = "POST",
               .path = resource.path(namespace_of(object)) +
                       query({{"fieldManager", settings_.field_manager}}),
               .body = base::to_text(object)});
}

Json HttpApi::update(const ResourceId& resource, const Json& object) {
  return call({.method = "PUT",
               .path = resource.path(namespace_of(object), name_of(object)) +
                       query({{"fieldManager", settings_.field_manager}}),
               .body = base::to_text(object)});
}

Json HttpApi::update_status(const ResourceId& resource, const Json& object) {
  return call({.method = "PUT",
               .path = resource.path(namespace_of(object), name_of(object), "status") +
                       query({{"fieldManager", settings_.field_manager}}),
               .body = base::to_text(object)});
}

Json HttpApi::patch(const ResourceId& resource, const ObjectKey& key, PatchType type,
                    const Json& patch, const PatchOptions& options,
                    const std::string& subresource) {
  const bool force = options.force == PatchOptions::Force::yes;
  return call({.method = "PATCH",
               .path = resource.path(key.ns, key.name, subresource) +
                       query({{"fieldManager", options.field_manager},
                              {"force", type == PatchType::apply && force ? "true" : ""}}),
               .body = base::to_text(patch),
               .content_type = std::string(content_type_of(type))});
}

void HttpApi::remove(const ResourceId& resource, const ObjectKey& key, Propagation propagation,
                     const std::string& uid) {
  JsonObject options{
      {"kind", "DeleteOptions"}, {"apiVersion", "v1"}, {"propagationPolicy", word_of(propagation)}};
  if (!uid.empty()) options["preconditions"] = JsonObject{{"uid", uid}};
  send({.method = "DELETE",
        .path = resource.path(key.ns, key.name),
        .body = base::to_text(Json(std::move(options)))});
}

}  // namespace meridian::kube
