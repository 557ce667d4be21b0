// SPDX-License-Identifier: Apache-2.0
#include "operators/operator.h"

#include <atomic>
#include <map>

#include "operators/events.h"
#include "operators/feed.h"
#include "operators/job_controller.h"
#include "operators/kinds.h"
#include "operators/resources.h"

namespace meridian::operators {

// One kind: its cache, its view, its controller.
struct Watched {
  std::unique_ptr<Resources> resources;
  std::unique_ptr<JobController> jobs;
  std::atomic<kube::Cache*> ready{nullptr};
  std::unique_ptr<kube::Cache> cache;  // last: its thread uses the others
};

struct Operator::State {
  State(const OperatorParts& p, OperatorSettings s)
      : parts(p),
        settings(std::move(s)),
        feed(p.remotes, p.runner, p.clock),
        events(p.api, p.clock, p.random) {
    for (const Kind& kind : kinds()) {
      if (kind.nature == Nature::job) add(kind);
    }
  }

  void add(const Kind& kind) {
    Watched& w = watched[kind.plural];
    w.resources = std::make_unique<Resources>(kind, parts.api, [&w](const kube::ObjectKey& key) {
      const kube::Cache* cache = w.ready.load();
      return cache != nullptr ? cache->find(key) : std::nullopt;
    });
    w.jobs = std::make_unique<JobController>(
        kind, *w.resources, ControllerParts{parts.remotes, feed, events, parts.clock},
        ControllerSettings{settings.installation, settings.escape});
  }

  OperatorParts parts;
  OperatorSettings settings;
  Feed feed;
  Events events;
  std::map<std::string, Watched> watched;  // by plural
};

Operator::Operator(const OperatorParts& parts, OperatorSettings settings)
    : state_(std::make_unique<State>(parts, std::move(settings))) {}

Operator::~Operator() = default;

void Operator::register_steps(control::StepTable& steps) {
  steps.add(std::string(Feed::kStep),
            [this](const control::Key& key) { return state_->feed.step(key); });
  for (auto& [plural, watched] : state_->watched) {
    JobController& controller = *watched.jobs;
    steps.add(plural, [&controller](const control::Key& key) { return controller.step(key); });
  }
}

void Operator::start() {
  for (const Kind& kind : kinds()) {
    const auto found = state_->watched.find(kind.plural);
    if (found == state_->watched.end()) continue;
    Watched& watched = found->second;
    const auto look = [this, &kind](const kube::ObjectKey& key) {
      state_->parts.runner.add(JobController::key_for(kind, key));
    };
    watched.cache = std::make_unique<kube::Cache>(state_->parts.api, kind.resource(),
                                                  state_->settings.watched_namespace, look);
    watched.ready = watched.cache.get();
    // Steps that ran before the cache could be asked saw nothing.
    for (const base::Json& object : watched.cache->list()) look(kube::key_of(object));
  }
}

}  // namespace meridian::operators
