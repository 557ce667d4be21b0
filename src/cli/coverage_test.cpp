// SPDX-License-Identifier: Apache-2.0
#include "cli/coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/file.h"
#include "kube/client/fake_api.h"
#include "kube/client/fake_server.h"
#include "kube/kubeconfig_text.h"

namespace meridian::cli {
namespace {

using base::Json;
using testing::HasSubstr;

const kube::ResourceId kJobs{"sagemaker.aws.amazon.com", "v1", "trainingjobs"};
const kube::ResourceId kLeases{"coordination.k8s.io", "v1", "leases"};

class CoverageTest : public testing::Test {
 protected:
  CoverageTest() {
    base::write_file(
        data.path() / "kubeconfig",
        kube::kubeconfig_text({.server = "http://127.0.0.1:" + std::to_string(server.port())}));
    api.create(kJobs, {{"apiVersion", "sagemaker.aws.amazon.com/v1"},
                       {"kind", "TrainingJob"},
                       {"metadata", {{"name", "a"}, {"namespace", "ml"}}}});
  }
  void hold_lease(base::Timestamp renewed) {
    api.create(
        kLeases,
        {{"apiVersion", "coordination.k8s.io/v1"},
         {"kind", "Lease"},
         {"metadata", {{"name", "meridian-operator-heartbeat"}, {"namespace", "ml"}}},
         {"spec", {{"renewTime", kube::micro_time_text(renewed)}, {"leaseDurationSeconds", 180}}}});
  }
  std::string warning() {
    Context context{
        console, hooks, clock, [](const std::string&) { return ""; }, data.path().string(), ""};
    Cluster cluster(context, {});
    return uncovered(context, cluster, {.id = kJobs, .kind = "TrainingJob"}, {"ml", "a"},
                     base::Duration(0));
  }

  base::TempDir data;
  base::ManualClock clock;
  base::SeededRandom random{7};
  kube::FakeApi api{clock, random};
  kube::FakeServer server{api};
  std::ostringstream out, err;
  Console console{out, err, {}};
  const Hooks hooks{.up = {}, .version = ""};
};

TEST_F(CoverageTest, ANamespaceWithoutOperatorIsToldWithWhatToDo) {
  EXPECT_THAT(warning(), HasSubstr("no operator acts on namespace ml"));
  EXPECT_THAT(warning(), HasSubstr("--namespace ml"));
}

TEST_F(CoverageTest, AHeldLeaseCoversItsNamespaceUntilItEnds) {
  hold_lease(clock.now());
  EXPECT_EQ(warning(), "");
  clock.advance(base::Duration(181'000));
  EXPECT_THAT(warning(), HasSubstr("no operator"));
}

TEST_F(CoverageTest, AStatusShowsThatSomebodyLooked) {
  api.patch(kJobs, {"ml", "a"}, kube::PatchType::merge, {{"status", {{"reason", "x"}}}}, {},
            "status");
  EXPECT_EQ(warning(), "");
}

TEST_F(CoverageTest, WhatCannotBeKnownIsNotTold) {
  api.fail_next("get", kube::StatusError(403, "Forbidden", "no leases for you"), 2);
  EXPECT_EQ(warning(), "");
}

TEST(Coverage, ALeaseWithoutTimesIsNotHeld) {
  EXPECT_FALSE(is_held({{"spec", {{"holderIdentity", "x"}}}}, {}));
  EXPECT_FALSE(is_held(base::JsonObject{}, {}));
}

}  // namespace
}  // namespace meridian::cli
