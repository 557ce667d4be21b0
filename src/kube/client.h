// Talks to a Kubernetes API, embedded or real: the calls, and list-watch caches over them.
//
//   kube::Client client(http, kube::load_kubeconfig(file));
//   Json job = client.get(kTrainingJobs, {"default", "a"});
//   kube::Cache cache(client, kTrainingJobs, "", [&](const ObjectKey& k) { queue.add(k.text()); });
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

// The calls of a Kubernetes API on one resource. Implemented by Client over HTTP and by an
// in-memory fake for tests (kube/fake_api.h); both pass the same contract tests.
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

// All objects of one resource, kept current by list and watch on a thread of its own. Reads are
// snapshots. `changed` is called from that thread for every object that was added, changed or
// removed, and for all after a new listing; it must be quick (add a key to a queue).
class Cache {
 public:
  Cache(Api& api, ResourceId resource, std::string ns,
        std::function<void(const ObjectKey&)> changed);
  ~Cache();  // stops and joins
  std::optional<base::Json> find(const ObjectKey& key) const;
  std::vector<base::Json> list() const;
  bool wait_synced(std::stop_token stop, std::chrono::milliseconds timeout) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meridian::kube
