// What the server does by itself, as steps (control/runner.h):
//
//   kube-owner/UID         an object is gone or going: its dependents go too, wait or are orphaned
//   kube-dependent/GROUP/PLURAL/NS/NAME   an object whose owners must be there
//   kube-namespace/NAME    a namespace that is being deleted: empties it
//   kube-definition/NAME   a definition that is being deleted, or that waits for its names
//   kube-events/           events pass after a while
//   kube-scan/             after a start: what the one before did not get to
//
// Every step reads the state of the world, so repeated and lost keys end in the same place.
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>

#include "base/sync.h"
#include "control/runner.h"
#include "kubeserver/objects/objects.h"

namespace meridian::kubeserver::objects {

struct HousekeeperSettings {
  base::Duration event_lifetime = std::chrono::hours(24);
};

class Housekeeper {
 public:
  // Listens to the commits of `objects` from now on.
  Housekeeper(Objects& objects, control::Runner& runner, HousekeeperSettings settings = {});

  void register_steps(control::StepTable& steps);
  void resume();  // adds the keys of what is unfinished

 private:
  struct Found {
    kinds::ServedPtr served;
    base::Json object;
    kube::ObjectKey key() const { return kube::key_of(object); }
  };
  using Outcome = control::Outcome;

  void committed(const Aftermath& aftermath);
  void add_ending(const kinds::Served& served, const base::Json& object);

  Outcome look_after_owner(const std::string& uid);
  Outcome look_after_dependent(const std::string& place);
  Outcome empty_namespace(const std::string& name);
  Outcome look_after_definition(const std::string& name);
  Outcome expire_events();
  Outcome scan();

  Outcome delete_orphans(const std::string& uid);
  Outcome finish_foreground(const Found& owner, const std::string& uid);
  Outcome let_go(const Found& owner, const std::string& uid);
  Outcome accept_again(const std::string& name);
  Outcome close_definition(const std::string& name, const base::Json& definition);
  void say_what_remains(const std::string& ns, const std::map<std::string, std::size_t>& remaining,
                        const std::map<std::string, std::size_t>& finalizers);

  // Visits the documents with that indexed field until `visit` says false.
  void visit(const std::string& prefix, const std::string& field, const std::string& value,
             const std::function<bool(Found)>& visit) const;
  std::optional<Found> read(const store::Document& document) const;
  std::optional<Found> find_by_uid(const std::string& uid) const;
  bool owner_exists(const kube::OwnerReference& owner, const std::string& ns) const;
  // False when it is refused: absent, changed meanwhile, or admission says no.
  bool try_remove(const Found& found, Propagation propagation);

  Objects& objects_;
  control::Runner& runner_;
  const HousekeeperSettings settings_;
  base::Sync<std::set<std::string>> closing_;  // namespaces that are being emptied
  base::Sync<std::string> scanned_;            // the last document key that scan() looked at
};

}  // namespace meridian::kubeserver::objects
