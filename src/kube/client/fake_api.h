// An Api in memory, for tests of whatever uses one: it behaves as a server does, and breaks on
// demand.
//
//   FakeApi api(clock, random);
//   api.serve(resources_of_crd(crd).front());       // schema, scope; unknown resources are served
//   too api.fail_next("update", StatusError(503, "ServiceUnavailable", "not now"));
//   api.break_watches();                            // they end as when a connection breaks
//   api.forget_history();                           // watches from older revisions get 410
//
// Done as a server does it: uids, revisions, generations, status apart from the rest, optimistic
// locking, generateName, schemas, server-side apply and managedFields, finalizers, owner references
// in all three propagations (at once, where a server takes its time), selectors, watches.
// Not done: paging (lists are whole), authorisation, admission.
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "kube/client/api.h"
#include "kube/resource.h"

namespace meridian::kube {

class FakeApi final : public Api {
 public:
  FakeApi(base::Clock& clock, base::Random& random);
  ~FakeApi() override;

  void serve(Resource resource);
  // The next `count` calls of this verb (get list watch create update update_status patch remove)
  // throw instead of doing anything.
  void fail_next(const std::string& verb, const StatusError& error, int count = 1);
  void break_watches();
  void forget_history();
  // Every call so far but watches: "create trainingjobs default/a".
  std::vector<std::string> calls() const;
  void forget_calls();

  base::Json get(const ResourceId& resource, const ObjectKey& key) override;
  List list(const ResourceId& resource, const std::string& ns,
            const ListOptions& options = {}) override;
  void watch(const ResourceId& resource, const std::string& ns, const WatchOptions& options,
             const std::function<bool(WatchEvent)>& sink, std::stop_token stop) override;
  base::Json create(const ResourceId& resource, const base::Json& object) override;
  base::Json update(const ResourceId& resource, const base::Json& object) override;
  base::Json update_status(const ResourceId& resource, const base::Json& object) override;
  base::Json patch(const ResourceId& resource, const ObjectKey& key, PatchType type,
                   const base::Json& patch, const PatchOptions& options = {},
                   const std::string& subresource = "") override;
  void remove(const ResourceId& resource, const ObjectKey& key,
              Propagation propagation = Propagation::background,
              const std::string& uid = "") override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meridian::kube
