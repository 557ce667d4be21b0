// SPDX-License-Identifier: Apache-2.0
#include "kubernetes_face.h"

#include <fmt/format.h>
#include <unistd.h>

#include <map>

#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "base/strings.h"
#include "control/runner.h"
#include "fleet/array_crd.h"
#include "kube/client/http_api.h"
#include "kubeserver/kubeconfig.h"
#include "kubeserver/server.h"
#include "net/certificates.h"
#include "net/client.h"
#include "net/server.h"
#include "operators/admission.h"
#include "operators/crd.h"
#include "operators/kinds.h"
#include "operators/operator.h"
#include "operators/region_remotes.h"

namespace meridian {
namespace fs = std::filesystem;
namespace {

// Steps at once: they wait for answers, of the API and of regions, more than they compute.
constexpr std::size_t kSteps = 16;

// The operators' rules as the server asks for them.
class OperatorAdmission final : public kubeserver::objects::Admission {
 public:
  kubeserver::objects::Verdict review(const kubeserver::objects::Review& review) override {
    using kubeserver::objects::Operation;
    const bool ours = review.resource.id.group == operators::kGroup;
    if (!ours || review.operation == Operation::remove || !review.subresource.empty()) return {};
    const operators::Kind* kind = operators::find_kind(review.resource.kind);
    if (kind == nullptr) return {};
    operators::Review verdict = operators::review(*kind, *review.object, review.old);
    return {std::move(verdict.causes), std::move(verdict.warnings)};
  }
};

operators::Regions local_regions(const KubernetesSettings& settings) {
  operators::Regions regions;
  for (const std::string& region : settings.regions) {
    regions[region] = {.endpoint = "http://localhost",
                       .unix_socket = settings.aws_socket.string(),
                       .credentials = settings.credentials};
  }
  return regions;
}

// The installation's name in owner tags: made at the first start, kept with the data.
std::string installation_name(const fs::path& data, base::Random& random) {
  const fs::path file = data / "installation";
  std::string name(base::trim(base::read_file_if_exists(file)));
  if (name.empty()) {
    name = random.uuid();
    base::write_file(file, name + "\n", base::Durability::synced, 0600);
  }
  return name;
}

}  // namespace

struct KubernetesFace::State {
  State(KubernetesSettings s, store::Store& control, identity::Tokens& tokens,
        fleet::Catalog& catalog, const base::Clock& clock, base::Random& random);
  ~State();
  void bind(identity::Tokens& tokens);

  KubernetesSettings settings;
  OperatorAdmission admission;
  control::StepTable steps;
  control::ThreadRunner runner;
  kubeserver::Server server;
  net::CertificateFiles certificate;
  net::HttpClient http;
  kube::HttpApi api;
  operators::RegionRemotes remotes;
  const std::string installation;
  operators::Operator operators_;
  fleet::Arrays arrays;
  std::unique_ptr<net::HttpServer> face, local_face;
};

KubernetesFace::State::State(KubernetesSettings s, store::Store& control, identity::Tokens& tokens,
                             fleet::Catalog& catalog, const base::Clock& clock,
                             base::Random& random)
    : settings(std::move(s)),
      runner(clock, steps, kSteps),
      server({.account = settings.account, .version = settings.version},
             {control, tokens, clock, random, runner, admission}),
      certificate(net::ensure_server_certificate(
          settings.data / "kubernetes", {"127.0.0.1", "localhost", settings.listen}, clock.now())),
      api(http, kube::socket_access(settings.socket.string()),
          {.user_agent = "meridian-operator", .field_manager = "meridian-operator"}),
      remotes(http, clock, local_regions(settings), settings.data / "regions.yaml"),
      installation(installation_name(settings.data, random)),
      operators_({api, remotes, runner, clock, random},
                 {.installation = installation, .mirrored_regions = settings.regions}),
      arrays({api, remotes, operators_.feed(), operators_.events(), control, catalog, clock,
              settings.read_object, settings.pools},
             {.installation = installation, .campaigns = settings.campaigns}, runner) {
  // Before the first request: steps must be known when their keys come.
  server.register_steps(steps);
  operators_.register_steps(steps);
  arrays.register_steps(steps);
  bind(tokens);
}

KubernetesFace::State::~State() {
  server.stop();
  face.reset();
  local_face.reset();
  runner.stop();
}

void KubernetesFace::State::bind(identity::Tokens& tokens) {
  face = std::make_unique<net::HttpServer>(
      net::ServerSettings{.listen = {.host = settings.listen, .port = settings.port},
                          .tls_certificate_file = certificate.certificate,
                          .tls_key_file = certificate.key,
                          .max_workers = server.workers()},
      server.handler());
  local_face = std::make_unique<net::HttpServer>(
      net::ServerSettings{.listen = {.unix_path = settings.socket.string()}, .max_workers = 64},
      server.local_handler());
  kubeserver::ensure_kubeconfig(settings.data / "kubeconfig",
                                fmt::format("https://{}:{}", settings.listen, face->port()),
                                base::read_file(certificate.authority), tokens);
}

KubernetesFace::KubernetesFace(KubernetesSettings settings, store::Store& control,
                               identity::Tokens& tokens, fleet::Catalog& catalog,
                               const base::Clock& clock, base::Random& random)
    : state_(
          std::make_unique<State>(std::move(settings), control, tokens, catalog, clock, random)) {}

KubernetesFace::~KubernetesFace() = default;

void KubernetesFace::start() {
  state_->server.start();
  for (const base::Json& definition : operators::all_crds()) state_->server.install(definition);
  state_->server.install(fleet::training_array_crd());
  state_->operators_.start();
  state_->arrays.start();
}

std::uint16_t KubernetesFace::port() const { return state_->face->port(); }

fleet::Arrays& KubernetesFace::arrays() { return state_->arrays; }

}  // namespace meridian
