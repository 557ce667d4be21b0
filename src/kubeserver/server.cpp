// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/server.h"

#include <fmt/format.h>

#include "base/log.h"
#include "base/metrics.h"
#include "kube/object.h"
#include "kube/value.h"
#include "kubeserver/access.h"
#include "kubeserver/call.h"
#include "kubeserver/document_calls.h"
#include "kubeserver/objects/housekeeper.h"
#include "kubeserver/objects/hub.h"
#include "kubeserver/read_calls.h"
#include "kubeserver/write_calls.h"

namespace meridian::kubeserver {
namespace {

using base::Json;
using base::JsonObject;
using kube::StatusError;

constexpr std::size_t kSpareWorkers = 64;

StatusError no_such_resource() {
  return {404, "NotFound", "the server could not find the requested resource"};
}

StatusError no_such_method() {
  return {405, "MethodNotAllowed",
          "the server does not allow this method on the requested resource"};
}

bool is_subresource(const kinds::Served& served, const std::string& name) {
  if (name.empty()) return true;
  for (const std::string& known : served.subresources()) {
    if (known == name) return true;
  }
  return false;
}

void check_method(const Call& call) {
  const bool of_status = !call.target.subresource.empty();
  bool known = call.verb == "get" || call.verb == "update" || call.verb == "patch";
  if (!of_status) {
    known = false;
    for (const std::string& verb : call.served->verbs()) known |= verb == call.verb;
  }
  const bool needs_name = call.verb == "update" || call.verb == "patch";
  const bool needs_namespace = call.served->namespaced() && call.target.ns.empty() &&
                               (call.verb == "create" || !call.target.name.empty());
  if (!known || (needs_name && call.target.name.empty()) || needs_namespace ||
      (call.verb == "deletecollection" && call.served->namespaced() && call.target.ns.empty())) {
    throw no_such_method();
  }
}

base::Counter& requests_counter(std::string_view verb, int status) {
  return base::metrics().counter("meridian_kubernetes_requests_total",
                                 "Requests to the Kubernetes API",
                                 {{"verb", std::string(verb)}, {"status", std::to_string(status)}});
}

}  // namespace

struct Server::State {
  State(Settings s, Parts p)
      : settings(std::move(s)),
        parts(p),
        storage(p.store, p.clock, settings.account),
        catalog(storage),
        objects(storage, catalog, p.admission, p.clock, p.random, {settings.strict_groups}),
        housekeeper(objects, p.runner, {settings.event_lifetime}),
        hub(storage),
        documents(settings.version) {}

  void ensure_namespace(const std::string& name);
  void handle(net::Request& request, net::Responder& responder, const Caller* trusted);
  void serve(net::Request& request, net::Responder& responder, const Caller& caller);
  void serve_resource(net::Request& request, net::Responder& responder, const Caller& caller,
                      std::shared_ptr<const kinds::Registry> registry);

  const Settings settings;
  const Parts parts;
  objects::Storage storage;
  objects::Catalog catalog;
  objects::Objects objects;
  objects::Housekeeper housekeeper;
  objects::Hub hub;
  Documents documents;
};

void Server::State::ensure_namespace(const std::string& name) {
  const kinds::Served& namespaces = objects::builtin("namespaces");
  if (storage.find(namespaces, {"", name})) return;
  objects.create(namespaces, "", JsonObject{{"metadata", JsonObject{{"name", name}}}},
                 {.field_manager = "meridian", .user = "system:meridian"});
}

void Server::State::handle(net::Request& request, net::Responder& responder,
                           const Caller* trusted) {
  try {
    if (documents.serve_open(request, responder)) return;
    if (trusted != nullptr) {
      serve(request, responder, *trusted);
    } else {
      serve(request, responder, authenticate(request, parts.tokens));
    }
  } catch (const base::Error& error) {
    if (responder.begun()) throw;  // the answer is broken off
    const StatusError status = kube::to_status_error(error);
    if (status.status() >= 500) {
      base::log_error("a Kubernetes request failed",
                      {{"method", request.method}, {"path", request.path}, {"why", error.what()}});
    }
    requests_counter(request.method, status.status()).add();
    send_status(responder, status);
  }
}

void Server::State::serve(net::Request& request, net::Responder& responder, const Caller& caller) {
  const auto registry = catalog.registry();
  if (documents.serve(request, responder, registry)) return;
  serve_resource(request, responder, caller, registry);
}

void Server::State::serve_resource(net::Request& request, net::Responder& responder,
                                   const Caller& caller,
                                   std::shared_ptr<const kinds::Registry> registry) {
  auto target = parse_target(request.path);
  if (!target || target->plural.empty()) throw no_such_resource();
  kinds::ServedPtr served = registry->find(target->group, target->version, target->plural);
  if (!served || !is_subresource(*served, target->subresource)) throw no_such_resource();
  if (!served->namespaced() && !target->ns.empty()) throw no_such_resource();
  Query query(request.query);
  const std::string verb(verb_of(request.method, *target, query));
  Call call{request, responder, caller, registry, served, std::move(*target), query, verb};
  check_method(call);
  require(caller,
          {verb, call.target.group, call.target.plural, call.target.subresource, call.target.ns,
           call.target.name},
          *registry);
  if (verb == "get") {
    serve_get(call, objects, parts.clock.now());
  } else if (verb == "list") {
    serve_list(call, objects, parts.clock.now());
  } else if (verb == "watch") {
    call.registry.reset();  // an old one shall not live as long as a watch
    registry.reset();
    serve_watch(call, {objects, hub, parts.clock, parts.random, settings.most_watches});
  } else {
    serve_write(call, objects);
  }
  requests_counter(verb, 200).add();
}

Server::Server(Settings settings, Parts parts)
    : state_(std::make_unique<State>(std::move(settings), parts)) {
  state_->ensure_namespace("default");
  state_->ensure_namespace("kube-system");
}

Server::~Server() { stop(); }

void Server::register_steps(control::StepTable& steps) {
  state_->housekeeper.register_steps(steps);
}

void Server::start() { state_->housekeeper.resume(); }

void Server::stop() { state_->hub.stop(); }

net::Handler Server::handler() {
  return [state = state_.get()](net::Request& request, net::Responder& responder) {
    state->handle(request, responder, nullptr);
  };
}

net::Handler Server::local_handler() {
  return [state = state_.get()](net::Request& request, net::Responder& responder) {
    static const Caller controller = Caller::controller();
    state->handle(request, responder, &controller);
  };
}

std::size_t Server::workers() const { return state_->settings.most_watches + kSpareWorkers; }

void Server::install(const Json& definition) {
  const kinds::Served& definitions = objects::builtin("customresourcedefinitions");
  const std::string name = kube::name_of(definition);
  const objects::WriteOptions options{.field_manager = "meridian", .user = "system:meridian"};
  const auto current = state_->storage.find(definitions, {"", name});
  if (!current) {
    state_->objects.create(definitions, "", definition, options);
    return;
  }
  Json next = current->object;
  const Json* spec = base::find(definition, "spec");
  if (spec == nullptr) throw kube::bad_request("a definition without spec: " + name);
  next.as_object()["spec"] = *spec;
  state_->objects.update(definitions, {"", name}, "", std::move(next), options);
}

}  // namespace meridian::kubeserver
