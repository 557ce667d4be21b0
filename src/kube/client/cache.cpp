// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include "base/log.h"
#include "base/sync.h"
#include "kube/client/api.h"

namespace meridian::kube {
namespace {

using base::Json;
using std::chrono::milliseconds;
using Object = std::shared_ptr<const Json>;

struct Contents {
  std::map<ObjectKey, Object> objects;
  bool synced = false;
  std::string trouble;
};

}  // namespace

struct Cache::State {
  Api& api;
  const ResourceId resource;
  const std::string ns;
  const std::function<void(const ObjectKey&)> changed;
  const CacheSettings settings;
  base::Sync<Contents> contents;
  // Of the cache's thread alone:
  std::string revision;  // of the last event or listing; "" = list first
  std::string listed;    // of the last listing
  milliseconds delay{0};
  std::jthread thread;

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      try {
        if (revision.empty()) list_all();
        const auto started = std::chrono::steady_clock::now();
        const bool any = follow(stop);
        const bool brief = std::chrono::steady_clock::now() - started < settings.first_retry;
        if (any || !brief) {
          delay = milliseconds(0);
        } else {
          pause(stop);  // a server that ends watches at once is not asked again at once
        }
      } catch (const StatusError& error) {
        if (error.status() == 410) {
          // Not at once when the listing itself is what is too old.
          if (revision.empty() || revision == listed) pause(stop);
          revision.clear();
        } else {
          fail(error, stop);
        }
      } catch (const base::Error& error) {
        fail(error, stop);
      }
    }
  }

  void list_all() {
    List all = api.list(
        resource, ns,
        {.label_selector = settings.label_selector, .field_selector = settings.field_selector});
    std::map<ObjectKey, Object> objects;
    for (Json& item : all.items) {
      ObjectKey key = key_of(item);
      objects[std::move(key)] = std::make_shared<const Json>(std::move(item));
    }
    std::set<ObjectKey> keys;
    for (const auto& [key, object] : objects) keys.insert(key);
    {
      auto now = contents.lock();
      for (const auto& [key, object] : now->objects) keys.insert(key);
      now->objects = std::move(objects);
      now->synced = true;
      now->trouble.clear();
    }
    contents.notify_all();
    revision = listed = std::move(all.resource_version);
    for (const ObjectKey& key : keys) changed(key);
  }

  // Says whether the watch brought anything.
  bool follow(const std::stop_token& stop) {
    bool any = false;
    const WatchOptions options{.label_selector = settings.label_selector,
                               .field_selector = settings.field_selector,
                               .resource_version = revision,
                               .timeout = settings.watch_timeout};
    api.watch(
        resource, ns, options,
        [&](WatchEvent event) {
          any = true;
          delay = milliseconds(0);
          take(std::move(event));
          return !stop.stop_requested();
        },
        stop);
    set_trouble("");
    return any;
  }

  void take(WatchEvent event) {
    if (std::string seen = resource_version_of(event.object); !seen.empty()) {
      revision = std::move(seen);
    }
    if (event.type == WatchEvent::Type::bookmark) return;
    const ObjectKey key = key_of(event.object);
    {
      auto now = contents.lock();
      if (event.type == WatchEvent::Type::deleted) {
        now->objects.erase(key);
      } else {
        now->objects[key] = std::make_shared<const Json>(std::move(event.object));
      }
      now->trouble.clear();
    }
    changed(key);
  }

  void fail(const base::Error& error, const std::stop_token& stop) {
    if (stop.stop_requested()) return;
    if (delay == milliseconds(0)) {
      base::log_warn("cannot follow a resource",
                     {{"resource", resource.plural}, {"why", error.what()}});
    }
    set_trouble(error.what());
    pause(stop);
  }

  void set_trouble(const std::string& why) { contents.lock()->trouble = why; }

  void pause(const std::stop_token& stop) {
    delay = std::clamp(delay * 2, settings.first_retry, settings.longest_retry);
    contents.lock().wait_until(stop, std::chrono::steady_clock::now() + delay,
                               [](const Contents&) { return false; });
  }
};

Cache::Cache(Api& api, ResourceId resource, std::string ns,
             std::function<void(const ObjectKey&)> changed, CacheSettings settings)
    : state_(new State{.api = api,
                       .resource = std::move(resource),
                       .ns = std::move(ns),
                       .changed = std::move(changed),
                       .settings = std::move(settings)}) {
  state_->thread = std::jthread([state = state_.get()](std::stop_token stop) { state->run(stop); });
}

Cache::~Cache() = default;

std::optional<Json> Cache::find(const ObjectKey& key) const {
  Object found;
  {
    auto now = state_->contents.lock();
    const auto at = now->objects.find(key);
    if (at == now->objects.end()) return std::nullopt;
    found = at->second;
  }
  return *found;
}

std::vector<Object> Cache::snapshot() const {
  std::vector<Object> out;
  auto now = state_->contents.lock();
  out.reserve(now->objects.size());
  for (const auto& [key, object] : now->objects) out.push_back(object);
  return out;
}

std::vector<Json> Cache::list() const {
  std::vector<Json> out;
  for (const Object& object : snapshot()) out.push_back(*object);
  return out;
}

bool Cache::wait_synced(std::stop_token stop, milliseconds timeout) const {
  return state_->contents.lock().wait_until(std::move(stop),
                                            std::chrono::steady_clock::now() + timeout,
                                            [](const Contents& now) { return now.synced; });
}

std::string Cache::trouble() const { return state_->contents.lock()->trouble; }

}  // namespace meridian::kube
