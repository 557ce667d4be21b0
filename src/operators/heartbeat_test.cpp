// SPDX-License-Identifier: Apache-2.0
#include "operators/heartbeat.h"

#include <gtest/gtest.h>

#include "operators/test_bed.h"

namespace meridian::operators {
namespace {

TEST(Heartbeat, ALeaseIsHeldAndRenewedInEachCoveredNamespace) {
  TestBed bed;
  std::set<std::string> covered{"a"};
  Heartbeat heartbeat(bed.api, bed.clock, "me", [&] { return covered; });
  bed.steps.add(std::string(Heartbeat::kStep),
                [&](const control::Key& key) { return heartbeat.step(key); });
  const kube::ResourceId leases{"coordination.k8s.io", "v1", "leases"};
  const auto renewed = [&](const std::string& ns) {
    const auto lease = bed.api.find(leases, {ns, std::string(kHeartbeatLease)});
    const base::Json* spec = lease ? base::find(*lease, "spec") : nullptr;
    return spec == nullptr ? "" : base::string_or(*spec, "renewTime");
  };
  bed.runner.add(std::string(Heartbeat::kStep));
  bed.runner.run_for(base::Duration(1'000));
  const std::string first = renewed("a");
  EXPECT_EQ(renewed("b"), "");
  ASSERT_FALSE(first.empty());
  covered.insert("b");
  bed.api.fail_next("patch", kube::StatusError(403, "Forbidden", "not in a"));
  bed.runner.run_for(base::Duration(60'000));
  EXPECT_EQ(renewed("a"), first) << "a failure in one namespace";
  EXPECT_FALSE(renewed("b").empty()) << "holds up no other";
  bed.runner.run_for(base::Duration(60'000));
  EXPECT_GT(renewed("a"), first);
}

}  // namespace
}  // namespace meridian::operators
