// The objects behind FakeApi, and what a server does with them. Not thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "kube/client/api.h"
#include "kube/managed_fields.h"
#include "kube/resource.h"

namespace meridian::kube {

enum class Part { all, status };  // of an object that a write may change

class FakeStore {
 public:
  struct Event {
    std::int64_t revision;
    ResourceId resource;
    base::Json before, after;  // null: it was not there, or is no more
  };
  using Objects = std::map<ObjectKey, base::Json>;

  FakeStore(base::Clock& clock, base::Random& random) : clock_(clock), random_(random) {}

  void serve(Resource resource);
  std::int64_t revision() const { return revision_; }
  std::int64_t oldest() const { return oldest_; }  // watches from before it cannot be served
  void forget_history();
  const std::deque<Event>& history() const { return history_; }

  const Objects& objects(const ResourceId& resource) { return objects_[resource]; }
  const base::Json& get(const ResourceId& resource, const ObjectKey& key);
  base::Json create(const ResourceId& resource, base::Json object, const Manager& manager);
  base::Json update(const ResourceId& resource, base::Json object, Part part,
                    const Manager& manager);
  base::Json patch(const ResourceId& resource, const ObjectKey& key, PatchType type,
                   const base::Json& patch, Part part, const Manager& manager, Force force);
  void remove(const ResourceId& resource, const ObjectKey& key, Propagation propagation,
              const std::string& uid);

 private:
  const Resource& resource_of(const ResourceId& id);
  void check(const Resource& resource, base::Json& object) const;
  base::Json apply(const Resource& resource, const base::Json& live, const base::Json& patch,
                   const Manager& manager, Force force) const;
  base::Json replace(const Resource& resource, const base::Json& live, base::Json next, Part part);
  base::Json insert(const Resource& resource, base::Json object);
  base::Json commit(const Resource& resource, const base::Json& live, base::Json next);
  void put(const Resource& resource, const ObjectKey& key, base::Json after);
  void drop(const ResourceId& resource, const ObjectKey& key);
  void collect_children(const std::string& uid, Propagation propagation);

  base::Clock& clock_;
  base::Random& random_;
  std::map<ResourceId, Resource> resources_;
  std::map<ResourceId, Objects> objects_;
  std::deque<Event> history_;
  std::int64_t revision_ = 1, oldest_ = 1;
};

}  // namespace meridian::kube
