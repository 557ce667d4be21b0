// SPDX-License-Identifier: Apache-2.0
#include "s3/store/lifecycle_keeper.h"

#include <pthread.h>

#include <chrono>

#include "base/log.h"
#include "base/sync.h"

namespace meridian::s3 {
namespace {

constexpr base::Duration sweep_every = std::chrono::hours(1);
constexpr std::chrono::seconds look_every{5};

}  // namespace

bool LifecycleRounds::is_due(const Swept& before, const std::string& document) const {
  return before.document != document || clock_.now() < before.at ||
         clock_.now() - before.at >= sweep_every;
}

LifecycleCounts LifecycleRounds::step(std::stop_token stop) {
  LifecycleCounts all;
  for (auto* store : stores_) {
    for (const auto& bucket : store->list_buckets()) {
      const auto found = bucket->documents.find("lifecycle");
      if (found == bucket->documents.end() || stop.stop_requested()) continue;
      auto& before = swept_[{store->region(), bucket->name}];
      if (!is_due(before, found->second)) continue;
      before = {clock_.now(), found->second};
      try {
        const auto rules = parse_lifecycle(found->second);
        if (!rules) throw base::Error(base::Code::data_loss, rules.error().text());
        const auto counts = apply_lifecycle(*store, bucket->name, *rules, clock_.now(), stop);
        all.expired += counts.expired;
        all.old_versions += counts.old_versions;
        all.markers += counts.markers;
        all.uploads += counts.uploads;
        if (counts.any())
          base::log_info("life cycle rules applied",
                         {{"bucket", bucket->name},
                          {"expired", std::to_string(counts.expired)},
                          {"old_versions", std::to_string(counts.old_versions)},
                          {"markers", std::to_string(counts.markers)},
                          {"uploads", std::to_string(counts.uploads)}});
      } catch (const base::Error& error) {  // of one bucket: the others go on
        base::log_warn("life cycle rules not applied",
                       {{"bucket", bucket->name}, {"error", error.what()}});
      }
    }
  }
  return all;
}

LifecycleKeeper::LifecycleKeeper(std::vector<ObjectStore*> stores, const base::Clock& clock)
    : rounds_(std::move(stores), clock), thread_([this](std::stop_token stop) {
        pthread_setname_np(pthread_self(), "s3-lifecycle");
        const base::Sync<bool> never;
        while (!stop.stop_requested()) {
          rounds_.step(stop);
          never.lock().wait_until(stop, std::chrono::steady_clock::now() + look_every,
                                  [](bool) { return false; });
        }
      }) {}

}  // namespace meridian::s3
