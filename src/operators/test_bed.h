// What tests of controllers stand on: a Kubernetes API and a region in memory, under virtual time.
//
//   struct Test : testing::Test, TestBed { JobController jobs{kind, resources(kind), parts, …}; };
//   steps.add(kind.plural, …);  settle(kind, seconds);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kube/client/fake_api.h"
#include "kube/object.h"
#include "operators/fake_remotes.h"
#include "operators/job_controller.h"

namespace meridian::operators {

class TestBed {
 public:
  TestBed() {
    steps.add(std::string(Feed::kStep), [this](const control::Key& key) { return feed.step(key); });
  }

  // Reads straight from the API.
  Resources& resources(const Kind& kind) {
    auto& slot = resources_[kind.plural];
    if (!slot) {
      slot = std::make_unique<Resources>(
          kind.resource(), api,
          Resources::Source{
              .find = [this, &kind](
                          const kube::ObjectKey& key) { return api.find(kind.resource(), key); },
              .list = [this, &kind](
                          const std::string& ns) { return api.list(kind.resource(), ns).items; }});
    }
    return *slot;
  }

  // What watches do in production: a look at everything that there is of these kinds, each second.
  void settle(const std::vector<const Kind*>& kinds, int seconds) {
    for (int i = 0; i < seconds; ++i) {
      for (const Kind* kind : kinds) {
        for (const base::Json& object : api.list(kind->resource(), "").items) {
          runner.add(JobController::key_for(*kind, kube::key_of(object)));
        }
      }
      runner.run_for(base::Duration(1'000));
    }
  }

  std::vector<std::string> event_reasons() {
    std::vector<std::string> reasons;
    for (const base::Json& event : api.list({"", "v1", "events"}, "").items) {
      reasons.push_back(base::string_or(event, "reason"));
    }
    return reasons;
  }

  base::ManualClock clock;
  base::SeededRandom random{7};
  kube::FakeApi api{clock, random};
  FakeRemotes remotes{clock};
  control::StepTable steps;
  control::VirtualRunner runner{clock, steps};
  Feed feed{remotes, runner, clock};
  Events events{api, clock, random};
  const ControllerParts parts{remotes, feed, events, clock};

 private:
  std::map<std::string, std::unique_ptr<Resources>> resources_;
};

}  // namespace meridian::operators
