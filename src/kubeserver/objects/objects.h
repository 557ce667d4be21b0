// Reads and writes objects as the Kubernetes API means it: one compare-and-set commit per write.
//
// A write decodes nothing: it takes JSON values, and gives back the object as it is stored, with
// warnings. In this order: metadata, unknown fields, pruning, the kind's own part, defaults, schema
// and CEL, admission, generation, managedFields, commit. What is refused throws StatusError. A
// write that changes nothing commits nothing.
//
// A write that lost a race begins again, unless the client named a resourceVersion.
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "kubeserver/objects/admission.h"
#include "kubeserver/objects/catalog.h"
#include "kubeserver/objects/draft.h"
#include "kubeserver/objects/options.h"
#include "kubeserver/objects/storage.h"

namespace meridian::kubeserver::objects {

struct ObjectsSettings {
  // Groups whose unknown fields are refused when the client does not say what it wants.
  std::set<std::string> strict_groups;
};

inline constexpr std::string_view kForeground = "foregroundDeletion";
inline constexpr std::string_view kOrphan = "orphan";

class Objects {
 public:
  Objects(Storage& storage, Catalog& catalog, Admission& admission, const base::Clock& clock,
          base::Random& random, ObjectsSettings settings = {});

  // Called after every commit, by the thread that made it. To be set before the first write.
  void on_commit(std::function<void(const Aftermath&)> listener) {
    listener_ = std::move(listener);
  }

  base::Json get(const kinds::Served& served, const kube::ObjectKey& key) const;
  Written create(const kinds::Served& served, const std::string& ns, base::Json object,
                 const WriteOptions& options);
  // `subresource`: "" or "status".
  Written update(const kinds::Served& served, const kube::ObjectKey& key,
                 const std::string& subresource, base::Json object, const WriteOptions& options);
  Written patch(const kinds::Served& served, const kube::ObjectKey& key,
                const std::string& subresource, PatchKind kind, const base::Json& patch,
                const WriteOptions& options);
  Removed remove(const kinds::Served& served, const kube::ObjectKey& key,
                 const RemoveOptions& options);

  // For controllers of this server: changes what is stored, without rules and admission. `edit`
  // says whether it changed anything; an object that is being deleted and is held by nothing any
  // more goes. Absent object: nothing happens.
  void edit(const kinds::Served& served, const kube::ObjectKey& key,
            const std::function<bool(base::Json&)>& edit);

  const Storage& storage() const { return storage_; }
  Catalog& catalog() const { return catalog_; }
  base::Timestamp now() const { return clock_.now(); }

 private:
  // What the object that is stored now shall become.
  using Change = std::function<base::Json(const base::Json& current)>;

  Written change(const kinds::Served& served, const kube::ObjectKey& key,
                 const std::string& subresource, const Change& change, const WriteOptions& options,
                 bool by_apply);
  Written patch_applied(const kinds::Served& served, const kube::ObjectKey& key,
                        const std::string& subresource, base::Json patch,
                        const WriteOptions& options);
  Written create_once(const kinds::Served& served, const base::Json& object,
                      const WriteOptions& options, bool by_apply);
  base::Json finish(const Draft& draft, std::vector<std::string>& warnings);
  // StatusError(422) with `faults` and what admission adds.
  void admit(const kinds::Served& served, const base::Json* object, const base::Json* old,
             const std::string& subresource, const std::string& user,
             std::vector<std::string>* warnings, std::vector<kube::Cause> faults = {});
  std::vector<store::Write> with_namespace(const kinds::Served& served, const base::Json& object,
                                           store::Write write);
  // Puts the object, or removes it when it is being deleted and nothing holds it. False: the race
  // is lost.
  bool commit_change(const kinds::Served& served, base::Json& object, const Stored& current);
  void committed(Aftermath aftermath, base::Json& object, store::Revision revision);

  Storage& storage_;
  Catalog& catalog_;
  Admission& admission_;
  const base::Clock& clock_;
  base::Random& random_;
  const ObjectsSettings settings_;
  std::function<void(const Aftermath&)> listener_;
  std::mutex definitions_;  // one write of a definition at a time: names must not clash
};

inline constexpr int kRaces = 20;  // attempts before a write gives up

bool is_namespace(const kinds::Served& served);
// Nothing in it holds the namespace any more.
bool is_emptied(const base::Json& ns);

}  // namespace meridian::kubeserver::objects
