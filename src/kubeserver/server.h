// The embedded Kubernetes API: what kubectl, helm and client libraries talk to when there is no
// cluster.
//
//   kubeserver::Server server({.version = "0.1.0"}, {store, tokens, clock, random, runner,
//   admission}); server.register_steps(steps); net::HttpServer face({.listen = …, .tls_… ,
//   .max_workers = server.workers()}, server.handler()); net::HttpServer local({.listen =
//   {.unix_path = socket}}, server.local_handler()); server.start(); … server.stop();   // before
//   the faces go: ends open watches
//
// Objects are documents of the store (kubeserver/objects/storage.h): what was acknowledged survives
// kill -9. What is served, and what differs from Kubernetes: docs/reference/kubernetes-api.md.
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "base/random.h"
#include "control/runner.h"
#include "identity/tokens.h"
#include "kubeserver/objects/admission.h"
#include "net/server.h"
#include "store/store.h"

namespace meridian::kubeserver {

struct Settings {
  std::string account = "000000000000";
  std::string version = "0";  // Meridian's, shown in /version
  // Groups in which an unknown field is an error when the client does not say what it wants;
  // elsewhere it is a warning, as in Kubernetes.
  std::set<std::string> strict_groups{"sagemaker.aws.amazon.com", "meridian.dev"};
  std::size_t most_watches = 1'024;
  base::Duration event_lifetime = std::chrono::hours(24);
};

struct Parts {
  store::Store& store;
  identity::Tokens& tokens;
  const base::Clock& clock;
  base::Random& random;
  control::Runner& runner;
  objects::Admission& admission;
};

class Server {
 public:
  // Makes the namespaces default and kube-system when they are not there.
  Server(Settings settings, Parts parts);
  ~Server();

  // Its steps begin with "kube-". To be registered before the runner meets their keys.
  void register_steps(control::StepTable& steps);
  void start();  // looks for what a run before left unfinished
  void stop();   // ends open watches, and refuses new ones

  net::Handler handler();        // for clients with a bearer token
  net::Handler local_handler();  // for a socket that only the daemon's own user can open
  // Threads that a face needs: one for each open watch, and some more.
  std::size_t workers() const;

  // Creates the definition, or brings it up to date; returns once it is served.
  void install(const base::Json& definition);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meridian::kubeserver
