// SPDX-License-Identifier: Apache-2.0
#include "operators/operator.h"

#include <atomic>
#include <functional>
#include <map>
#include <set>

#include "kube/object.h"
#include "operators/definition_controller.h"
#include "operators/events.h"
#include "operators/feed.h"
#include "operators/heartbeat.h"
#include "operators/hosting_children.h"
#include "operators/hosting_controller.h"
#include "operators/job_controller.h"
#include "operators/kinds.h"
#include "operators/region_mirrors.h"
#include "operators/resources.h"
#include "operators/scaling_controller.h"

namespace meridian::operators {
namespace {

// One kind: its cache, and the view that its controller has of it.
struct Watched {
  std::unique_ptr<Resources> resources;
  control::Step step;
  std::atomic<kube::Cache*> ready{nullptr};
  std::unique_ptr<kube::Cache> cache;  // last: its thread uses the others
};

// Copies what is asked for and no more: a cache may hold ten thousand.
std::vector<base::Json> objects_of(const kube::Cache& cache, const std::string& ns) {
  std::vector<base::Json> objects;
  for (const auto& object : cache.snapshot()) {
    if (kube::namespace_of(*object) == ns) objects.push_back(*object);
  }
  return objects;
}

}  // namespace

struct Operator::State {
  State(const OperatorParts& p, OperatorSettings s);
  void add_resources(const Kind& kind);
  void add_controllers();
  void look(const Kind& kind, const kube::ObjectKey& key);
  std::set<std::string> covered() const;

  OperatorParts parts;
  OperatorSettings settings;
  Feed feed;
  Events events;
  Heartbeat heartbeat;
  std::unique_ptr<TuningChildren> children;
  std::vector<std::unique_ptr<JobController>> jobs;
  std::vector<std::unique_ptr<DefinitionController>> definitions;
  std::unique_ptr<HostingController> hosting;
  std::unique_ptr<ScalingController> scaling;
  std::unique_ptr<RegionMirrors> mirrors;
  std::map<std::string, Watched> watched;  // by plural; after the controllers that it feeds
};

Operator::State::State(const OperatorParts& p, OperatorSettings s)
    : parts(p),
      settings(std::move(s)),
      feed(p.remotes, p.runner, p.clock),
      events(p.api, p.clock, p.random),
      heartbeat(p.api, p.clock, settings.installation, [this] { return covered(); }) {
  for (const Kind& kind : kinds()) add_resources(kind);
  add_controllers();
}

void Operator::State::add_resources(const Kind& kind) {
  Watched& w = watched[kind.plural];
  w.resources = std::make_unique<Resources>(
      kind.resource(), parts.api,
      Resources::Source{.find =
                            [&w](const kube::ObjectKey& key) {
                              const kube::Cache* cache = w.ready.load();
                              return cache != nullptr ? cache->find(key) : std::nullopt;
                            },
                        .list =
                            [&w](const std::string& ns) {
                              const kube::Cache* cache = w.ready.load();
                              return cache != nullptr ? objects_of(*cache, ns)
                                                      : std::vector<base::Json>{};
                            }});
}

void Operator::State::add_controllers() {
  const ControllerParts to_all{parts.remotes, feed, events, parts.clock};
  const ControllerSettings with{settings.installation, settings.escape};
  Resources& training = *watched["trainingjobs"].resources;
  children = std::make_unique<TuningChildren>(training, parts.remotes);
  mirrors =
      std::make_unique<RegionMirrors>(training, parts.remotes, feed, parts.runner, parts.clock);
  for (const Kind& kind : kinds()) {
    Watched& w = watched[kind.plural];
    if (kind.nature == Nature::job) {
      const bool tuning = kind.name == "HyperparameterTuningJob";
      auto& made = jobs.emplace_back(std::make_unique<JobController>(
          kind, *w.resources, to_all, with, tuning ? children.get() : nullptr));
      w.step = [controller = made.get()](const control::Key& key) { return controller->step(key); };
    } else if (kind.nature == Nature::definition) {
      auto& made = definitions.emplace_back(
          std::make_unique<DefinitionController>(kind, *w.resources, to_all, with));
      w.step = [controller = made.get()](const control::Key& key) { return controller->step(key); };
    } else if (kind.nature == Nature::scaling) {
      scaling = std::make_unique<ScalingController>(*w.resources, to_all, with);
      w.step = [this](const control::Key& key) { return scaling->step(key); };
    } else {
      hosting =
          std::make_unique<HostingController>(*w.resources, *watched["models"].resources,
                                              *watched["endpointconfigs"].resources, to_all, with);
      w.step = [this](const control::Key& key) { return hosting->step(key); };
    }
  }
}

// Namespaces with resources of ours.
std::set<std::string> Operator::State::covered() const {
  std::set<std::string> namespaces;
  if (!settings.watched_namespace.empty()) namespaces.insert(settings.watched_namespace);
  for (const auto& [_, w] : watched) {
    const kube::Cache* cache = w.ready.load();
    if (cache == nullptr) continue;
    for (const auto& object : cache->snapshot()) namespaces.insert(kube::namespace_of(*object));
  }
  return namespaces;
}

// A resource changed: its own step, and that of the deployment it belongs to.
void Operator::State::look(const Kind& kind, const kube::ObjectKey& key) {
  parts.runner.add(JobController::key_for(kind, key));
  if (kind.nature != Nature::definition) return;
  const auto child = watched[kind.plural].resources->find(key);
  const std::string owner = child ? deployment_of(*child) : "";
  if (!owner.empty())
    parts.runner.add(JobController::key_for(get_kind("HostingDeployment"), {key.ns, owner}));
}

Operator::Operator(const OperatorParts& parts, OperatorSettings settings)
    : state_(std::make_unique<State>(parts, std::move(settings))) {}

Operator::~Operator() = default;

Feed& Operator::feed() { return state_->feed; }
Events& Operator::events() { return state_->events; }

void Operator::register_steps(control::StepTable& steps) {
  steps.add(std::string(Feed::kStep),
            [this](const control::Key& key) { return state_->feed.step(key); });
  steps.add(std::string(RegionMirrors::kStep),
            [this](const control::Key& key) { return state_->mirrors->step(key); });
  steps.add(std::string(Heartbeat::kStep),
            [this](const control::Key& key) { return state_->heartbeat.step(key); });
  for (auto& [plural, watched] : state_->watched) steps.add(plural, watched.step);
}

void Operator::start() {
  for (const Kind& kind : kinds()) {
    Watched& watched = state_->watched.at(kind.plural);
    const auto look = [this, &kind](const kube::ObjectKey& key) { state_->look(kind, key); };
    watched.cache = std::make_unique<kube::Cache>(state_->parts.api, kind.resource(),
                                                  state_->settings.watched_namespace, look);
    watched.ready = watched.cache.get();
    // Steps that ran before the cache could be asked saw nothing.
    for (const base::Json& object : watched.cache->list()) look(kube::key_of(object));
  }
  state_->mirrors->start(state_->settings.mirrored_regions);
  // By now the first lists are in; those that are not are seen at the next.
  state_->parts.runner.add_after(std::string(Heartbeat::kStep), base::Duration(2'000));
}

}  // namespace meridian::operators
