// SPDX-License-Identifier: Apache-2.0
#include "operator_command.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <stop_token>
#include <thread>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "control/runner.h"
#include "kube/client/http_api.h"
#include "kube/object.h"
#include "net/certificates.h"
#include "net/client.h"
#include "net/server.h"
#include "operators/crd.h"
#include "operators/leader.h"
#include "operators/manifests.h"
#include "operators/operator.h"
#include "operators/region_remotes.h"
#include "operators/regions_file.h"
#include "operators/webhook.h"

namespace meridian {
namespace {

using base::Json;

// At once: they wait for answers, of the cluster and of regions, more than they compute.
constexpr std::size_t kSteps = 16;

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof(name) - 1);
  return fmt::format("{}-{}", name, getpid());
}

kube::Access access_of(const cli::OperatorOptions& options) {
  if (!options.kubeconfig.empty())
    return kube::load_kubeconfig(options.kubeconfig, options.context);
  return kube::default_access(options.context);
}

// Names this cluster in owner tags: the uid of kube-system, which lives as long as the cluster
// does. An operator of one namespace may read that one only, and its uid does as well.
std::string installation_of(kube::Api& api, const cli::OperatorOptions& options) {
  const std::string& own = options.watched_namespace;
  for (const std::string& name : {std::string("kube-system"), own}) {
    if (name.empty()) continue;
    try {
      if (const auto found = api.find({"", "v1", "namespaces"}, {"", name}))
        return kube::uid_of(*found);
    } catch (const kube::StatusError& error) {
      base::log_info("a namespace's uid cannot be read",
                     {{"namespace", name}, {"why", error.what()}});
    }
  }
  base::log_error(
      "no uid stands for this cluster in the tags of its jobs",
      {{"hint", "let the account get namespaces, as `meridian operator manifests` does"}});
  return "namespace-" + (own.empty() ? "default" : own);
}

// Until `stop`, or until the lease is lost.
void lead(kube::HttpApi& api, net::HttpClient& http, const cli::OperatorOptions& options,
          operators::Leader* leader, std::stop_token stop) {
  base::SystemClock clock;
  base::SystemRandom random;
  operators::load_regions_file(options.regions_file);  // faults are told at the start
  operators::RegionRemotes remotes(http, clock, {}, options.regions_file, operators::Others::aws);
  control::StepTable steps;
  control::ThreadRunner runner(clock, steps, kSteps);
  operators::Operator op({api, remotes, runner, clock, random},
                         {.installation = installation_of(api, options),
                          .watched_namespace = options.watched_namespace});
  op.register_steps(steps);
  op.start();
  base::log_info(
      "operator started",
      {{"server", api.access().server},
       {"namespace", options.watched_namespace.empty() ? "all" : options.watched_namespace}});
  if (leader != nullptr) {
    leader->wait_lost(stop);
  } else {
    base::Sync<bool> never(false);
    never.lock().wait(stop, [](bool) { return false; });
  }
  runner.stop();
}

// Of every operator, leading or not: a cluster asks any of them.
std::unique_ptr<net::HttpServer> start_webhook(const cli::OperatorOptions& options) {
  if (options.webhook_certificate.empty()) return nullptr;
  return std::make_unique<net::HttpServer>(
      net::ServerSettings{
          .listen = {.host = "0.0.0.0", .port = static_cast<std::uint16_t>(options.webhook_port)},
          .tls_certificate_file = options.webhook_certificate / "tls.crt",
          .tls_key_file = options.webhook_certificate / "tls.key",
          .max_workers = 16},
      operators::webhook_handler());
}

}  // namespace

std::vector<Json> operator_manifests(const cli::ManifestOptions& options) {
  if (options.only_crds) return operators::all_crds();
  operators::ManifestSettings settings{
      .ns = options.ns, .image = options.image, .watched_namespace = options.watched_namespace};
  if (options.webhook) {
    const base::TempDir made("meridian-webhook");
    const auto files = net::ensure_server_certificate(
        made.path(), operators::webhook_names(options.ns), base::SystemClock().now());
    settings.webhook_authority = base::read_file(files.authority);
    settings.webhook_certificate = base::read_file(files.certificate);
    settings.webhook_key = base::read_file(files.key);
  }
  return operators::operator_manifests(settings);
}

int run_operator(const cli::OperatorOptions& options) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  signal(SIGPIPE, SIG_IGN);

  std::stop_source stop;
  std::jthread signals([&] {
    int received = 0;
    sigwait(&ends, &received);
    stop.request_stop();
  });
  const auto webhook = start_webhook(options);
  net::HttpClient http;
  kube::HttpApi api(http, access_of(options),
                    {.user_agent = "meridian-operator", .field_manager = "meridian-operator"});
  base::SystemClock clock;
  const std::string lease_namespace =
      !options.lease_namespace.empty() ? options.lease_namespace : api.access().ns;
  operators::Leader leader(
      api, clock, {.ns = lease_namespace, .name = "meridian-operator", .identity = host_name()});
  bool lost = false;
  if (!options.leader_elect) {
    lead(api, http, options, nullptr, stop.get_token());
  } else if (leader.wait_elected(stop.get_token())) {
    lead(api, http, options, &leader, stop.get_token());
    lost = !stop.stop_requested();
    if (!lost) leader.release();
  }
  if (lost) base::log_error("the lease was lost; stopping, so that only one operator works");
  kill(getpid(), SIGTERM);  // ends the thread that waits for signals
  return lost ? 1 : 0;
}

}  // namespace meridian
