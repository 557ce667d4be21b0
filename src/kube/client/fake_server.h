// For tests: a FakeApi behind HTTP, as thin as it goes. Pages lists two at a time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <thread>

#include "base/strings.h"
#include "base/sync.h"
#include "kube/client/api.h"
#include "net/server.h"

namespace meridian::kube {

class FakeServer {
 public:
  explicit FakeServer(Api& api, std::string unix_socket = "")
      : api_(api),
        server_({.listen = {.unix_path = std::move(unix_socket)}},
                [this](net::Request& request, net::Responder& responder) {
                  serve(request, responder);
                }) {}
  std::uint16_t port() const { return server_.port(); }
  std::string token;  // required when set

 private:
  using Json = base::Json;

  struct Target {
    ResourceId resource;
    ObjectKey key;
    std::string subresource;
    std::map<std::string, std::string> query;
  };

  static Target parse(const net::Request& request) {
    Target out;
    std::vector<std::string> parts = base::split(request.path.substr(1), '/');
    out.resource = {parts.at(1), parts.at(2), ""};  // only /apis/GROUP/VERSION
    std::size_t at = 3;
    if (parts.at(at) == "namespaces") {
      out.key.ns = parts.at(at + 1);
      at += 2;
    }
    out.resource.plural = parts.at(at);
    if (parts.size() > at + 1) out.key.name = parts[at + 1];
    if (parts.size() > at + 2) out.subresource = parts[at + 2];
    for (const auto& [name, value] : net::parse_query(request.query)) out.query[name] = value;
    return out;
  }

  void serve(net::Request& request, net::Responder& responder) {
    try {
      if (!token.empty() && request.headers.get("Authorization") != "Bearer " + token) {
        throw StatusError(401, "Unauthorized", "Unauthorized");
      }
      Target target = parse(request);
      if (target.query["watch"] == "true") return watch(target, responder);
      send(responder, 200, answer(request, target));
    } catch (const base::Error& error) {
      const StatusError status = to_status_error(error);
      send(responder, status.status(), status.to_json());
    }
  }

  static void send(net::Responder& responder, int status, const Json& body) {
    net::Response out{.status = status, .body = base::to_text(body)};
    out.headers.add("Content-Type", "application/json");
    responder.send(std::move(out));
  }

  Json answer(net::Request& request, Target& target) {
    if (request.method == "GET") {
      return target.key.name.empty() ? list(target) : api_.get(target.resource, target.key);
    }
    const Json body = base::parse_json(request.body->read_all(1 << 20)).value();
    if (request.method == "POST") return api_.create(target.resource, body);
    if (request.method == "PUT") {
      return target.subresource == "status" ? api_.update_status(target.resource, body)
                                            : api_.update(target.resource, body);
    }
    if (request.method == "PATCH") return patch(request, target, body);
    remove(target, body);
    return Json{{"kind", "Status"}, {"status", "Success"}};
  }

  Json list(Target& target) {
    const List all = api_.list(target.resource, target.key.ns,
                               {.label_selector = target.query["labelSelector"],
                                .field_selector = target.query["fieldSelector"]});
    const bool paged = !target.query["limit"].empty();
    const std::size_t start =
        static_cast<std::size_t>(base::to_uint(target.query["continue"]).value_or(0));
    base::JsonArray items;
    std::size_t at = start;
    for (; at < all.items.size() && (!paged || at < start + 2); ++at)
      items.push_back(all.items[at]);
    base::JsonObject metadata{{"resourceVersion", all.resource_version}};
    if (at < all.items.size()) metadata["continue"] = std::to_string(at);
    // Without kind and apiVersion in the items, as lists of built-in kinds are.
    for (Json& item : items) {
      item.as_object().erase("kind");
      item.as_object().erase("apiVersion");
    }
    return Json{{"kind", "ThingList"},
                {"apiVersion", target.resource.group + "/" + target.resource.version},
                {"metadata", std::move(metadata)},
                {"items", std::move(items)}};
  }

  Json patch(const net::Request& request, Target& target, const Json& body) {
    const std::string type = request.headers.get("Content-Type");
    PatchOptions options{.field_manager = target.query["fieldManager"]};
    if (target.query["force"] == "true") options.force = PatchOptions::Force::yes;
    return api_.patch(target.resource, target.key,
                      type == "application/json-patch+json"    ? PatchType::json
                      : type == "application/merge-patch+json" ? PatchType::merge
                                                               : PatchType::apply,
                      body, options, target.subresource);
  }

  void remove(const Target& target, const Json& body) {
    const std::string policy = base::string_or(body, "propagationPolicy");
    const Json* uid = base::find_path(body, "preconditions.uid");
    api_.remove(target.resource, target.key,
                policy == "Foreground" ? Propagation::foreground
                : policy == "Orphan"   ? Propagation::orphan
                                       : Propagation::background,
                uid == nullptr ? "" : std::string(base::view(uid->as_string())));
  }

  void watch(Target& target, net::Responder& responder) {
    static constexpr const char* names[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK"};
    WatchOptions options{.label_selector = target.query["labelSelector"],
                         .field_selector = target.query["fieldSelector"],
                         .resource_version = target.query["resourceVersion"]};
    responder.begin(200, {});
    const auto send_event = [&](const char* type, const Json& object) {
      responder.write(base::to_text(Json{{"type", type}, {"object", object}}) + "\n");
    };
    std::stop_source stop;
    std::jthread watchdog([&](const std::stop_token& done) {
      const base::Sync<int> never;
      while (!done.stop_requested() && !responder.peer_gone()) {
        never.lock().wait_until(done,
                                std::chrono::steady_clock::now() + std::chrono::milliseconds(10),
                                [](int) { return false; });
      }
      stop.request_stop();
    });
    options.timeout =
        std::chrono::seconds(base::to_int(target.query["timeoutSeconds"]).value_or(60));
    try {
      api_.watch(
          target.resource, target.key.ns, options,
          [&](const WatchEvent& event) {
            send_event(names[static_cast<int>(event.type)], event.object);
            return true;
          },
          stop.get_token());
    } catch (const StatusError& error) {
      send_event("ERROR", error.to_json());
    }
  }

  Api& api_;
  net::HttpServer server_;
};

}  // namespace meridian::kube
