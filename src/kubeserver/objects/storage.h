// Where objects lie in the store, and how they look there.
//
// One document an object, at ACCOUNT/global/kubernetes/GROUP/PLURAL/NAMESPACE/NAME ("core" for the
// core group, "-" for objects outside namespaces). The body is the object in its stored version
// without metadata.resourceVersion, which is the document's revision.
//
// Indexed fields: uid; "owner:UID" = 1 for each owner and owned = 1; deleting = 1; written (time)
// for kinds whose objects pass; what the kind adds.
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "kube/object.h"
#include "kubeserver/kinds/kind.h"
#include "store/store.h"

namespace meridian::kubeserver::objects {

struct Stored {
  base::Json object;  // in the served version, with its resourceVersion
  store::Revision revision = 0;
};

// The parts of a document's key behind the prefix.
struct Location {
  std::string collection;  // "core/configmaps"
  kube::ObjectKey key;
};

class Storage {
 public:
  Storage(store::Store& store, const base::Clock& clock, std::string account);

  store::Store& store() const { return store_; }
  const std::string& prefix() const { return prefix_; }  // of everything
  // Of a collection, and of one namespace in it.
  std::string prefix_of(std::string_view collection, std::string_view ns = "") const;
  std::string key_of(const kinds::Served& served, const kube::ObjectKey& key) const;
  std::optional<Location> location_of(std::string_view document_key) const;

  std::optional<Stored> find(const kinds::Served& served, const kube::ObjectKey& key) const;
  store::Write put(const kinds::Served& served, const base::Json& object,
                   std::optional<store::Revision> expect) const;

 private:
  store::Store& store_;
  const base::Clock& clock_;
  std::string prefix_;
};

// A stored body in the served version; Error(data_loss) when it is no JSON.
base::Json read_object(const kinds::Served& served, std::string_view body,
                       store::Revision revision);
inline constexpr base::JsonLimits kObjectLimits{.depth = 128, .bytes = 8u << 20};

}  // namespace meridian::kubeserver::objects
