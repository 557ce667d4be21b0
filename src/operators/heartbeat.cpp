// SPDX-License-Identifier: Apache-2.0
#include "operators/heartbeat.h"

#include "base/log.h"
#include "kube/object.h"

namespace meridian::operators {

using base::Json;
using base::JsonObject;

Heartbeat::Heartbeat(kube::Api& api, const base::Clock& clock, std::string identity,
                     std::function<std::set<std::string>()> covered)
    : api_(api), clock_(clock), identity_(std::move(identity)), covered_(std::move(covered)) {}

void Heartbeat::beat(const std::string& ns) {
  static const kube::ResourceId kLeases{"coordination.k8s.io", "v1", "leases"};
  const JsonObject spec{{"holderIdentity", identity_},
                        {"leaseDurationSeconds", kHold.count() / 1'000},
                        {"renewTime", kube::micro_time_text(clock_.now())}};
  const std::string name(kHeartbeatLease);
  try {
    api_.patch(kLeases, {ns, name}, kube::PatchType::merge, {{"spec", spec}});
  } catch (const kube::StatusError& error) {
    if (error.reason() != "NotFound") throw;
    api_.create(kLeases, {{"apiVersion", "coordination.k8s.io/v1"},
                          {"kind", "Lease"},
                          {"metadata", {{"name", name}, {"namespace", ns}}},
                          {"spec", spec}});
  }
}

control::Outcome Heartbeat::step(const control::Key&) {
  for (const std::string& ns : covered_()) {
    try {
      beat(ns);
    } catch (const base::Error& error) {
      // A namespace that is going, or no permission: the others are told of all the same.
      base::log_warn("no heartbeat in a namespace", {{"namespace", ns}, {"why", error.message()}});
    }
  }
  return control::Outcome::again(kRenew);
}

}  // namespace meridian::operators
