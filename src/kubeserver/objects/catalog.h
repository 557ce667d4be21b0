// What is served at present: follows the CustomResourceDefinitions in the store.
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/sync.h"
#include "kubeserver/kinds/registry.h"
#include "kubeserver/objects/storage.h"

namespace meridian::kubeserver::objects {

class Catalog {
 public:
  explicit Catalog(const Storage& storage);

  std::shared_ptr<const kinds::Registry> registry() const { return *registry_.lock(); }
  // A definition was written or removed. Returns with the new state served.
  void reload();

 private:
  struct Entry {
    store::Revision revision = 0;
    std::vector<kinds::ServedPtr> served;
  };
  using Entries = std::map<std::string, Entry>;  // by definition

  const Storage& storage_;
  base::Sync<Entries> entries_;  // held through a reload, so that the last one sees all
  base::Sync<std::shared_ptr<const kinds::Registry>> registry_;
};

// A built-in resource by its plural; the one in the core group where there are two.
const kinds::Served& builtin(std::string_view plural);

}  // namespace meridian::kubeserver::objects
