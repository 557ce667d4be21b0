// SPDX-License-Identifier: Apache-2.0
#include "daemon.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <map>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/strings.h"
#include "base/sync.h"
#include "cli/cli.h"
#include "config.h"
#include "control/activity.h"
#include "control/runner.h"
#include "grid_calls.h"
#include "identity/identity.h"
#include "identity/tokens.h"
#include "key_calls.h"
#include "kubernetes_face.h"
#include "list_offers.h"
#include "net/server.h"
#include "region/batch/batch.h"
#include "region/batch/service/service_jobs.h"
#include "region/capacity/capacity.h"
#include "region/front/front.h"
#include "region/hosting/definitions.h"
#include "region/telemetry/telemetry.h"
#include "region/training/training.h"
#include "region_settings.h"
#include "run/engine.h"
#include "run/gpu.h"
#include "s3/server/server.h"
#include "s3/store/lifecycle_keeper.h"
#include "s3/store/object_store.h"
#include "s3/store/routed_objects.h"
#include "store/store.h"
#include "token_calls.h"

namespace meridian {
namespace fs = std::filesystem;
namespace {

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// One daemon per directory: the lock lives as long as the descriptor.
base::UniqueFd lock_directory(const fs::path& data) {
  base::make_directories(data, 0700);
  base::UniqueFd fd = base::open_file(data / "lock", O_RDWR | O_CREAT, 0600);
  if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    const auto run = base::parse_json(base::read_file_if_exists(data / "run.json"));
    const std::string who = run ? fmt::format(" (pid {})", base::int_or(*run, "pid", 0)) : "";
    throw base::Error(base::Code::already_exists,
                      fmt::format("a daemon{} already serves {}; stop it with `meridian --data {} "
                                  "down`, or choose another --data",
                                  who, data.string(), data.string()));
  }
  return fd;
}

void check_listen(const DaemonSettings& settings) {
  if (settings.certificate.empty() != settings.key.empty()) {
    throw base::Error(base::Code::invalid_argument,
                      "--certificate and --key belong together: give both PEM files");
  }
  if (!is_loopback(settings.listen) && settings.certificate.empty()) {
    throw base::Error(
        base::Code::invalid_argument,
        fmt::format("--listen {} is reachable from other machines and needs TLS: give "
                    "a certificate with --certificate FILE and --key FILE",
                    settings.listen));
  }
}

// Programs on the host's network and commands reach the AWS face there without a certificate.
bool is_plain_and_here(const DaemonSettings& settings) {
  return settings.certificate.empty() &&
         (settings.listen == "127.0.0.1" || settings.listen == "localhost");
}

struct UserIds {
  std::uint32_t user = 0, group = 0;
};

// The user that programs run as: ours, unless we are root.
UserIds program_user(const Config& config) {
  if (geteuid() != 0) return {geteuid(), getegid()};
  const passwd* entry = getpwnam(config.sandbox_user.c_str());
  if (entry == nullptr) {
    throw base::Error(base::Code::invalid_argument,
                      fmt::format("config.yaml: sandbox.user '{}' does not exist on this machine",
                                  config.sandbox_user));
  }
  return {entry->pw_uid, entry->pw_gid};
}

void write_credentials(const fs::path& file, const identity::AccessKey& key,
                       std::string_view region) {
  base::write_file(file,
                   fmt::format("[default]\naws_access_key_id = {}\naws_secret_access_key = {}\n"
                               "region = {}\n",
                               key.id, key.secret, region),
                   base::Durability::synced, 0600);
}

// Where SAGEMAKER_USER_CONFIG_OVERRIDE of `meridian env` points: names the SDK's default bucket,
// which it would otherwise derive by asking AWS's own STS.
std::string sdk_configuration(const Config& config) {
  return fmt::format(
      "SchemaVersion: '1.0'\n"
      "SageMaker:\n"
      "  PythonSDK:\n"
      "    Modules:\n"
      "      Session:\n"
      "        DefaultS3Bucket: sagemaker-{}-{}\n"
      "      TelemetryOptOut: true\n",
      config.regions.front(), config.account);
}

// The sockets of the data directory ("endpoint": forwarders inside instances reach the AWS face by
// it). A unix socket's name has 107
// bytes at most; a deep data directory gets one in the runtime directory instead.
fs::path socket_file(const fs::path& data, std::string_view name) {
  const fs::path inside = data / fmt::format("{}.sock", name);
  if (inside.string().size() <= 100) return inside;
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  return fs::path(runtime != nullptr ? runtime : "/tmp") /
         fmt::format("meridian-{}-{}.sock", name, std::hash<std::string>{}(data.string()));
}

// A pool may promise devices that the machine does not have: its jobs would find none.
void compare_gpus(const std::vector<region::capacity::Pool>& pools) {
  for (const region::capacity::Pool& pool : pools) {
    if (pool.gpus == 0) continue;
    const std::size_t promised = static_cast<std::size_t>(pool.count) * pool.gpus;
    const std::size_t found = run::find_gpus().size();
    if (promised <= found) continue;
    base::log_warn("a pool promises more GPUs than nvidia-smi lists",
                   {{"pool", pool.name},
                    {"promised", std::to_string(promised)},
                    {"listed", std::to_string(found)}});
  }
}

}  // namespace

// One region: its stores and the services over them.
struct Region {
  Region(const DaemonSettings& daemon, const Config& config, const std::string& name,
         const base::Clock& clock, base::Random& random)
      : directory(daemon.data / "regions" / name),
        jobs(open_jobs(directory)),
        objects({.directory = directory,
                 .region = name,
                 .durability = config.s3_sync ? base::Durability::synced : base::Durability::none},
                clock, random),
        telemetry(*jobs, clock, {config.account, name, directory / "logs"}),
        capacity(*jobs, clock, config.account + "/" + name,
                 region::batch::with_vcpus(config.pools)),
        hosting(*jobs, clock, {config.account, name}) {}

  static std::unique_ptr<store::Store> open_jobs(const fs::path& directory) {
    base::make_directories(directory, 0700);
    return store::open_sqlite({.path = (directory / "jobs.db").string()});
  }

  fs::path directory;
  std::unique_ptr<store::Store> jobs;
  s3::ObjectStore objects;
  region::telemetry::Telemetry telemetry;
  region::capacity::Capacity capacity;
  region::hosting::Definitions hosting;
  std::unique_ptr<region::training::TrainingRegion> training;
  std::unique_ptr<region::batch::BatchRegion> batch;
  std::unique_ptr<region::batch::ServiceJobs> service_jobs;
};

struct Daemon::State {
  explicit State(DaemonSettings s) : settings(std::move(s)) {}
  ~State();

  void open_stores();
  void bind();
  void start_regions();
  void start_kubernetes();
  void sweep_old_telemetry();
  void write_run_file();
  std::uint16_t port_for_programs() const {
    return programs_face ? programs_face->port() : aws_face->port();
  }
  void serve_admin(net::Request& request, net::Responder& responder);

  DaemonSettings settings;
  base::UniqueFd lock;
  Config config;
  UserIds user;
  base::SystemClock clock;
  base::SystemRandom random;
  std::unique_ptr<store::Store> control;
  std::unique_ptr<identity::Identity> identity;
  std::unique_ptr<identity::Tokens> tokens;
  std::unique_ptr<fleet::Catalog> catalog;
  control::StepTable steps;
  std::unique_ptr<control::ThreadRunner> runner;
  std::unique_ptr<control::ThreadActivities> activities;
  std::unique_ptr<run::Engine> engine;
  std::map<std::string, std::unique_ptr<Region>> regions;
  std::unique_ptr<s3::RoutedObjects> objects;
  std::unique_ptr<s3::Server> s3;
  std::unique_ptr<s3::LifecycleKeeper> lifecycle;
  std::unique_ptr<region::front::Front> front;
  fs::path socket;
  // programs_face: the AWS face for this machine, when aws_face is not at http://127.0.0.1.
  std::unique_ptr<net::HttpServer> aws_face, local_face, programs_face, admin_face;
  std::unique_ptr<KubernetesFace> kubernetes;
  std::atomic<bool> open_gate{false};
  bool run_file_written = false;
};

Daemon::State::~State() {
  // Nobody may call in any more before the parts go: faces, exits, steps, activities.
  std::error_code ignored;
  if (run_file_written) fs::remove(settings.data / "run.json", ignored);
  kubernetes.reset();  // its controllers call the AWS face
  aws_face.reset();
  local_face.reset();
  programs_face.reset();
  admin_face.reset();
  if (engine) engine->on_change([](const std::string&) {});
  if (runner) runner->stop();
  activities.reset();
}

void Daemon::State::open_stores() {
  lock = lock_directory(settings.data);
  config = load_config(settings.data / "config.yaml");
  if (!settings.regions.empty()) config.regions = settings.regions;
  user = program_user(config);
  compare_gpus(config.pools);
  control = store::open_sqlite({.path = (settings.data / "control.db").string()});
  fs::permissions(settings.data / "control.db", fs::perms::owner_read | fs::perms::owner_write);
  identity = std::make_unique<identity::Identity>(*control, clock, random);
  tokens = std::make_unique<identity::Tokens>(*control, clock, random);
  catalog = std::make_unique<fleet::Catalog>(settings.data / "catalog.db");
  seed_offers(*catalog);
  const identity::AccessKey first = identity->ensure_first_key();
  if (!fs::exists(settings.data / "credentials")) {
    write_credentials(settings.data / "credentials", first, config.regions.front());
  }
  base::write_file(settings.data / "sagemaker-sdk.yaml", sdk_configuration(config));
  base::make_directories(settings.data / "bin");
  base::write_file(settings.data / "bin" / "aws", cli::aws_wrapper_script(), base::Durability::none,
                   0755);
  base::write_file(settings.data / "bin" / "kubectl-smlogs",
                   cli::smlogs_plugin_script(settings.programs / "meridian", settings.data),
                   base::Durability::none, 0755);
  runner = std::make_unique<control::ThreadRunner>(clock, steps);
  activities = std::make_unique<control::ThreadActivities>(*runner);
  engine = run::make_local_engine(clock, {.init_program = settings.programs / "meridian-init",
                                          .state_directory = settings.data / "engine",
                                          .user_id = user.user,
                                          .group_id = user.group});
  for (const std::string& name : config.regions) {
    regions[name] = std::make_unique<Region>(settings, config, name, clock, random);
  }
}

// Faces first, regions behind them afterwards: the ports are part of what jobs are told. Until
// start_regions is through, requests wait at the gate.
void Daemon::State::bind() {
  front = std::make_unique<region::front::Front>(
      region::front::FrontSettings{.account = config.account,
                                   .default_region = config.regions.front()},
      *identity, clock, random);
  const net::Handler gated = [this, serve = front->handler()](net::Request& q, net::Responder& r) {
    open_gate.wait(false);
    serve(q, r);
  };
  aws_face = std::make_unique<net::HttpServer>(
      net::ServerSettings{.listen = {.host = settings.listen, .port = settings.port},
                          .tls_certificate_file = settings.certificate,
                          .tls_key_file = settings.key},
      gated);
  socket = socket_file(settings.data, "endpoint");
  local_face = std::make_unique<net::HttpServer>(
      net::ServerSettings{.listen = {.unix_path = socket.string()}}, gated);
  const auto port = [&](int offset) {
    return settings.port == 0 ? std::uint16_t{0}
                              : static_cast<std::uint16_t>(settings.port + offset);
  };
  if (!is_plain_and_here(settings))
    programs_face = std::make_unique<net::HttpServer>(
        net::ServerSettings{.listen = {.host = "127.0.0.1", .port = port(3)}}, gated);
  admin_face = std::make_unique<net::HttpServer>(
      net::ServerSettings{.listen = {.host = "127.0.0.1", .port = port(2)}},
      [this](net::Request& q, net::Responder& r) { serve_admin(q, r); });
}

void Daemon::State::start_regions() {
  std::vector<s3::ObjectStore*> stores;
  for (const std::string& name : config.regions) stores.push_back(&regions[name]->objects);
  objects = std::make_unique<s3::RoutedObjects>(stores);
  s3 = std::make_unique<s3::Server>(stores, clock, random,
                                    s3::ServerSettings{.refuse_unenforced = settings.strict});
  lifecycle = std::make_unique<s3::LifecycleKeeper>(stores, clock);
  front->serve_s3(
      [this](const net::Request& request, const s3::Caller& caller, net::BodyReader& body,
             const std::function<const net::Headers*()>& trailers, net::Responder& responder) {
        s3->handle(request, caller, body, trailers, responder);
      });
  for (auto& [name, region] : regions) {
    const auto job_settings =
        training_settings(settings, config, name, port_for_programs(), socket);
    region->training = std::make_unique<region::training::TrainingRegion>(
        region::training::Parts{*region->jobs, clock, random, *identity, *objects, *engine,
                                region->telemetry, region->capacity, *runner, *activities},
        job_settings);
    region->training->register_steps(steps);
    const region::batch::Parts batch_parts{*region->jobs,    clock,   random,
                                           *identity,        *engine, region->telemetry,
                                           region->capacity, *runner, *activities};
    region->batch = std::make_unique<region::batch::BatchRegion>(
        batch_parts, batch_settings(job_settings, "batch-" + name));
    region->batch->register_steps(steps);
    region->service_jobs = std::make_unique<region::batch::ServiceJobs>(
        batch_parts, batch_settings(job_settings, "service-" + name), region->training->service());
    region->service_jobs->register_steps(steps);
    auto calls = region->training->meridian_calls();
    calls.merge(key_calls(*identity));
    calls.merge(token_calls(*identity, *tokens));
    calls.merge(grid_calls(*identity, *catalog, [this]() -> fleet::Arrays& {
      if (!kubernetes)
        throw base::Error(base::Code::unavailable, "arrays are being started; try again");
      return kubernetes->arrays();
    }));
    front->add_region(name,
                      {region->training->service(), region->hosting.service(),
                       region->batch->service(), region->service_jobs->service(),
                       region->telemetry.logs_service(), region->telemetry.cloudwatch_service()},
                      std::move(calls));
  }
  engine->on_change([this](const std::string& id) {
    for (auto& [name, region] : regions) {
      region->training->instance_changed(id);
      region->batch->instance_changed(id);
    }
  });
  sweep_old_telemetry();
  for (auto& [name, region] : regions) {
    region->training->resume();
    region->batch->resume();
    region->service_jobs->resume();
  }
  open_gate = true;
  open_gate.notify_all();
}

void Daemon::State::start_kubernetes() {
  kubernetes = std::make_unique<KubernetesFace>(
      KubernetesSettings{
          .data = settings.data,
          .socket = socket_file(settings.data, "kubernetes"),
          .listen = settings.listen,
          .port = static_cast<std::uint16_t>(settings.port == 0 ? 0 : settings.port + 1),
          .account = config.account,
          .version = MERIDIAN_VERSION,
          .regions = config.regions,
          .aws_socket = socket,
          .credentials =
              [this] {
                const identity::AccessKey key = identity->ensure_first_key();
                return aws::Credentials{key.id, key.secret, ""};
              },
          .campaigns = config.campaigns,
          .read_object =
              [this](const std::string& text) {
                const auto uri = s3::parse_uri(text);
                if (!uri)
                  throw base::Error(base::Code::invalid_argument, text + ": " + uri.error().text());
                return objects->open(uri->bucket, uri->key, 0, std::nullopt)->read_all(64u << 20);
              },
          .pools =
              [this] {
                fleet::RegionPools pools;
                for (auto& [name, region] : regions)
                  pools[name] = pools_of(region->capacity.snapshot());
                return pools;
              }},
      *control, *tokens, *catalog, clock, random);
  kubernetes->start();
}

// About once an hour, what logs and metrics need not be kept any longer is taken away.
void Daemon::State::sweep_old_telemetry() {
  constexpr base::Duration kHour{3'600'000};
  const std::string kind = "retention";
  steps.add(kind, [this](const control::Key& key) {
    auto& telemetry = regions.at(key.substr(key.find('/') + 1))->telemetry;
    const auto sweep = activities->ensure(
        key, key, [&telemetry](std::stop_token stop) { telemetry.expire(stop); });
    if (sweep.phase == control::ActivityStatus::Phase::running)
      return control::Outcome::again(kHour);
    if (sweep.error) base::log_warn("retention", {{"error", sweep.error->what()}});
    activities->forget(key);
    return control::Outcome::again(kHour);
  });
  for (auto& [name, region] : regions) runner->add(kind + "/" + name);
}

void Daemon::State::write_run_file() {
  base::JsonArray names;
  for (const std::string& name : config.regions) names.emplace_back(name);
  base::JsonObject ports{
      {"aws", aws_face->port()}, {"kubernetes", kubernetes->port()}, {"admin", admin_face->port()}};
  if (programs_face) ports["programs"] = programs_face->port();
  const base::Json run = {
      {"pid", getpid()},
      {"port", aws_face->port()},
      {"ports", std::move(ports)},
      {"listen", settings.listen},
      {"secure", !settings.certificate.empty()},
      {"regions", names},
      {"account", config.account},
      {"version", MERIDIAN_VERSION},
  };
  base::write_file(settings.data / "run.json", base::to_text(run, base::JsonStyle::pretty) + "\n");
  run_file_written = true;
}

void Daemon::State::serve_admin(net::Request& request, net::Responder& responder) {
  net::Response answer;
  answer.headers.set("Content-Type", "text/plain; charset=utf-8");
  if (request.path == "/healthz") {
    answer.body = "ok\n";
  } else if (request.path == "/readyz") {
    answer.status = open_gate ? 200 : 503;
    answer.body = open_gate ? "ready\n" : "starting\n";
  } else if (request.path == "/metrics") {
    answer.headers.set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
    answer.body = base::metrics().page();
  } else {
    answer.status = 404;
    answer.body = "there are /healthz, /readyz and /metrics\n";
  }
  responder.send(std::move(answer));
}

Daemon::Daemon(DaemonSettings settings) : state_(std::make_unique<State>(std::move(settings))) {
  check_listen(state_->settings);
  state_->open_stores();
  state_->bind();
  state_->start_regions();
  state_->start_kubernetes();
  state_->write_run_file();
}

Daemon::~Daemon() = default;

void Daemon::wait(std::stop_token stop) {
  base::Sync<bool> never(false);
  never.lock().wait(stop, [](bool) { return false; });
}

std::string Daemon::summary() const {
  const State& s = *state_;
  const std::string scheme = s.settings.certificate.empty() ? "http" : "https";
  return fmt::format(
      "Meridian serves {}\n"
      "  AWS APIs   {}://{}:{}\n"
      "  Kubernetes https://{}:{}\n"
      "  health     http://127.0.0.1:{}/healthz  /readyz  /metrics\n"
      "  data       {}\n"
      "Use it:      eval \"$(meridian --data {} env)\"\n",
      base::join(s.config.regions, ", "), scheme, s.settings.listen, s.aws_face->port(),
      s.settings.listen, s.kubernetes->port(), s.admin_face->port(), s.settings.data.string(),
      s.settings.data.string());
}

}  // namespace meridian
