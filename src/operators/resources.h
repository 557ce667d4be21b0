// The resources of one kind as a controller reads and writes them.
//
// Reads come from a cache that may be behind our own writes; an object that we wrote is kept until
// the cache has caught up, so that no step decides on what it has changed already.
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/json.h"
#include "base/sync.h"
#include "kube/client/api.h"
#include "operators/kinds.h"

namespace meridian::operators {

class Resources {
 public:
  // Where reads come from: a kube::Cache, or the API itself in tests.
  struct Source {
    std::function<std::optional<base::Json>(const kube::ObjectKey&)> find;
    std::function<std::vector<base::Json>(const std::string& ns)> list;
  };
  Resources(kube::ResourceId resource, kube::Api& api, Source cached);

  std::optional<base::Json> find(const kube::ObjectKey& key);
  std::vector<base::Json> list(const std::string& ns) const;  // as the cache has them
  // Each returns the object as it is now. Error(conflict): someone else wrote; look again.
  base::Json add_finalizer(const base::Json& object, std::string_view finalizer);
  void remove_finalizer(const base::Json& object, std::string_view finalizer);
  // Writes only what differs; the same object when nothing does.
  base::Json write_status(const base::Json& object, const base::JsonObject& status);
  base::Json create(const base::Json& object);
  void remove(const base::Json& object);
  kube::Api& api() { return api_; }

 private:
  base::Json keep(base::Json object);

  const kube::ResourceId resource_;
  kube::Api& api_;
  Source cached_;
  base::Sync<std::map<kube::ObjectKey, base::Json>> written_;
};

}  // namespace meridian::operators
