// Talks to a Kubernetes API, embedded or real: the calls, and list-watch caches over them.
//
//   net::HttpClient http;
//   kube::HttpApi api(http, kube::default_access());             // kube/http_api.h, kubeconfig.h
//   Json job = api.get(kTrainingJobs, {"default", "a"});
//   kube::Cache cache(api, kTrainingJobs, "", [&](const ObjectKey& k) { queue.add(k.text()); });
//
// Calls throw StatusError (what the server answered) or Error (no answer). Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/json.h"
#include "kube/object.h"
#include "kube/status.h"

namespace meridian::kube {

struct ListOptions {
  std::string label_selector, field_selector;
  int limit = 500;               // per page; all pages are fetched
  std::string resource_version;  // "" = the newest
};
struct List {
  std::vector<base::Json> items;
  std::string resource_version;
};
struct WatchOptions {
  std::string label_selector, field_selector, resource_version;
  std::chrono::seconds timeout{300};
};
struct WatchEvent {
  enum class Type { added, modified, deleted, bookmark } type;
  base::Json object;
};
enum class PatchType { json, merge, apply };
struct PatchOptions {
  std::string field_manager = "meridian";
  enum class Force { no, yes } force = Force::no;
};
enum class Propagation { background, foreground, orphan };

// The calls of a Kubernetes API on one resource. Implemented by HttpApi (kube/http_api.h) and by an
// in-memory fake for tests (kube/fake_api.h); both pass the same contract tests
// (kube/api_contract.h).
class Api {
 public:
  virtual ~Api() = default;
  virtual base::Json get(const ResourceId& resource, const ObjectKey& key) = 0;
  std::optional<base::Json> find(const ResourceId& resource, const ObjectKey& key);
  virtual List list(const ResourceId& resource, const std::string& ns,
                    const ListOptions& options = {}) = 0;
  // Calls `sink` for each event until the server ends the watch, `sink` returns false, or `stop`.
  // StatusError(410, Expired): list again.
  virtual void watch(const ResourceId& resource, const std::string& ns, const WatchOptions& options,
                     const std::function<bool(WatchEvent)>& sink, std::stop_token stop) = 0;
  virtual base::Json create(const ResourceId& resource, const base::Json& object) = 0;
  virtual base::Json update(const ResourceId& resource, const base::Json& object) = 0;
  virtual base::Json update_status(const ResourceId& resource, const base::Json& object) = 0;
  virtual base::Json patch(const ResourceId& resource, const ObjectKey& key, PatchType type,
                           const base::Json& patch, const PatchOptions& options = {},
                           const std::string& subresource = "") = 0;
  // With `uid`: only that object (409 otherwise).
  virtual void remove(const ResourceId& resource, const ObjectKey& key,
                      Propagation propagation = Propagation::background,
                      const std::string& uid = "") = 0;
};

struct CacheSettings {
  std::string label_selector, field_selector;
  std::chrono::milliseconds first_retry{500}, longest_retry{30'000};  // doubling, after failures
  std::chrono::seconds watch_timeout{300};
};

// All objects of one resource, kept current by list and watch on a thread of its own.
//
// Promises:
//   1. Reads are of one moment, and never go back in time: not behind a newer listing or event.
//   2. A broken watch is resumed where it ended; only when the server has forgotten that revision
//      (410) everything is listed again.
//   3. `changed` is called from the cache's thread for every object that was added, changed or
//      removed, and for all after a listing. It must be quick (add a key to a queue).
//   4. Failures are retried, later each time, and told by trouble(); what was read before stays
//      readable.
//
// Thread-safe.
class Cache {
 public:
  Cache(Api& api, ResourceId resource, std::string ns,
        std::function<void(const ObjectKey&)> changed, CacheSettings settings = {});
  ~Cache();  // stops and joins
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  std::optional<base::Json> find(const ObjectKey& key) const;
  std::vector<base::Json> list() const;  // by namespace and name
  // The same without copying the objects.
  std::vector<std::shared_ptr<const base::Json>> snapshot() const;
  // True once everything was listed for the first time.
  bool wait_synced(std::stop_token stop, std::chrono::milliseconds timeout) const;
  std::string trouble() const;  // why it is not current; "" when it is, as far as it knows

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meridian::kube
