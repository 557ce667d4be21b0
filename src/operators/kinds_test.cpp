// SPDX-License-Identifier: Apache-2.0
#include "operators/kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace meridian::operators {
namespace {

TEST(Kinds, AreFoundByEveryWordThatPeopleType) {
  EXPECT_EQ(get_kind("TrainingJob").plural, "trainingjobs");
  EXPECT_EQ(get_kind("trainingjobs").name, "TrainingJob");
  EXPECT_EQ(get_kind("hap").name, "HostingAutoscalingPolicy");
  EXPECT_EQ(find_kind("pod"), nullptr);
  EXPECT_THROW(get_kind("pod"), base::Error);
}

TEST(RemoteName, IsTheObjectsNameAndItsUid) {
  EXPECT_EQ(remote_name("xgboost-mnist", "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", 63),
            "xgboost-mnist-0f1e2d3c4b5a69788796a5b4c3d2e1f0");
}

TEST(RemoteName, ShortensTheNameFirst) {
  const std::string name =
      remote_name(std::string(60, 'a'), "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", 63);
  EXPECT_EQ(name, std::string(30, 'a') + "-0f1e2d3c4b5a69788796a5b4c3d2e1f0");
}

TEST(RemoteName, OfATuningJobKeepsEightLettersAndCutsTheUid) {
  EXPECT_EQ(remote_name("xgboosth", "a92f5e3c-f07b-11e9-bf6c-06d6aaaaaaaa", 32),
            "xgboostha92f5e3cf07b11e9bf6c06d6");
}

TEST(RemoteName, HasNoDotsAndNoDashAtASeam) {
  EXPECT_EQ(remote_name("a.b", "0-1", 63), "a-b-01");
  EXPECT_EQ(remote_name("abcdefg-h", "a92f5e3c-f07b-11e9-bf6c-06d6aaaaaaaa", 32),
            "abcdefga92f5e3cf07b11e9bf6c06d6a");
}

}  // namespace
}  // namespace meridian::operators
