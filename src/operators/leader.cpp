// SPDX-License-Identifier: Apache-2.0
#include "operators/leader.h"

#include <fmt/format.h>

#include "base/log.h"
#include "base/sync.h"
#include "kube/object.h"

namespace meridian::operators {
namespace {

using base::Json;

const kube::ResourceId kLeases{"coordination.k8s.io", "v1", "leases"};

void pause(std::stop_token stop, base::Duration span) {
  base::Sync<bool> never(false);
  never.lock().wait_until(stop, std::chrono::steady_clock::now() + span,
                          [](bool) { return false; });
}

}  // namespace

Leader::Leader(kube::Api& api, const base::Clock& clock, LeaderSettings settings)
    : api_(api), clock_(clock), settings_(std::move(settings)) {}

Json Leader::lease_body(const Json* present) const {
  const std::string now = kube::micro_time_text(clock_.now());
  base::JsonObject spec{{"holderIdentity", settings_.identity},
                        {"leaseDurationSeconds", settings_.duration.count() / 1000},
                        {"renewTime", now}};
  const Json* before = present != nullptr ? base::find(*present, "spec") : nullptr;
  const bool ours =
      before != nullptr && base::string_or(*before, "holderIdentity") == settings_.identity;
  const Json* acquired = ours ? base::find(*before, "acquireTime") : nullptr;
  spec["acquireTime"] = acquired != nullptr ? *acquired : Json(now);
  spec["leaseTransitions"] =
      (before != nullptr ? base::int_or(*before, "leaseTransitions", 0) : 0) + (ours ? 0 : 1);
  Json lease = present != nullptr
                   ? *present
                   : Json{{"apiVersion", "coordination.k8s.io/v1"},
                          {"kind", "Lease"},
                          {"metadata", {{"name", settings_.name}, {"namespace", settings_.ns}}}};
  lease.as_object()["spec"] = std::move(spec);
  return lease;
}

bool Leader::try_hold() {
  const base::Ticks asked = clock_.ticks();
  const std::optional<Json> present = api_.find(kLeases, {settings_.ns, settings_.name});
  if (present) {
    const Json* spec = base::find(*present, "spec");
    const std::string holder = spec != nullptr ? base::string_or(*spec, "holderIdentity") : "";
    const std::string renewed = spec != nullptr ? base::string_or(*spec, "renewTime") : "";
    if (!holder.empty() && holder != settings_.identity) {
      if (renewed != seen_renewal_ || !seen_at_) {
        seen_renewal_ = renewed;
        seen_at_ = asked;
      }
      if (asked - *seen_at_ < settings_.duration) return false;
    }
  }
  try {
    const Json body = lease_body(present ? &*present : nullptr);
    present ? api_.update(kLeases, body) : api_.create(kLeases, body);
  } catch (const kube::StatusError& error) {  // somebody else was quicker
    if (error.reason() == "Conflict" || error.reason() == "AlreadyExists") return false;
    throw;
  }
  held_until_ = asked + settings_.duration;
  return true;
}

bool Leader::wait_elected(std::stop_token stop) {
  bool said = false;
  while (!stop.stop_requested()) {
    try {
      if (try_hold()) return true;
      if (!said) base::log_info("another operator leads; waiting", {{"lease", settings_.name}});
      said = true;
    } catch (const base::Error& error) {
      base::log_warn("cannot take the lease", {{"lease", settings_.name}, {"why", error.what()}});
    }
    pause(stop, settings_.renew);
  }
  return false;
}

void Leader::wait_lost(std::stop_token stop) {
  while (!stop.stop_requested()) {
    pause(stop, settings_.renew);
    try {
      if (!stop.stop_requested() && !try_hold()) return;
    } catch (const base::Error& error) {
      base::log_warn("cannot renew the lease", {{"lease", settings_.name}, {"why", error.what()}});
    }
    if (clock_.ticks() > held_until_) return;
  }
}

void Leader::release() {
  try {
    std::optional<Json> present = api_.find(kLeases, {settings_.ns, settings_.name});
    if (!present ||
        base::string_or(*base::find(*present, "spec"), "holderIdentity") != settings_.identity)
      return;
    present->as_object()["spec"].as_object()["holderIdentity"] = "";
    api_.update(kLeases, *present);
  } catch (const base::Error& error) {
    base::log_warn("cannot give the lease back",
                   {{"lease", settings_.name}, {"why", error.what()}});
  }
}

}  // namespace meridian::operators
