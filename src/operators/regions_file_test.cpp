// SPDX-License-Identifier: Apache-2.0
#include "operators/regions_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "operators/region_remotes.h"

namespace meridian::operators {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class RegionsFileTest : public testing::Test {
 protected:
  void write(const std::string& text) {
    base::write_file(file, text);
    // Within a file system's tick both the time and the size may stay the same.
    std::filesystem::last_write_time(
        file, std::filesystem::file_time_type::clock::now() + std::chrono::seconds(++written));
  }
  std::string fault(const std::string& text) {
    write(text);
    try {
      load_regions_file(file);
    } catch (const base::Error& error) {
      return error.message();
    }
    return "";
  }

  base::TempDir scratch;
  std::filesystem::path file = scratch.path() / "regions.yaml", keys = scratch.path() / "keys";
  int written = 0;
};

TEST_F(RegionsFileTest, SaysWhereARegionIsAndWithWhichKeys) {
  base::write_file(keys, "[default]\naws_access_key_id = A\naws_secret_access_key = s\n");
  write("regions:\n  a-1:\n    endpoint: http://there:1\n    credentials: " + keys.string() +
        "\n  b-1: {}\n");
  const Regions regions = load_regions_file(file);
  ASSERT_THAT(regions, SizeIs(2));
  EXPECT_EQ(regions.at("a-1").endpoint, "http://there:1");
  EXPECT_EQ(regions.at("a-1").credentials().access_key_id, "A");
  EXPECT_EQ(regions.at("a-1").listing_interval(), base::Duration(1'000));
  EXPECT_FALSE(regions.at("b-1").credentials) << "the environment's";
  EXPECT_EQ(regions.at("b-1").listing_interval(), base::Duration(5'000)) << "AWS's own";
}

TEST_F(RegionsFileTest, KeysThatAreWrittenAnewAreUsedAtOnce) {
  base::write_file(keys, "[default]\naws_access_key_id = A\naws_secret_access_key = s\n");
  write("regions:\n  a-1: {credentials: " + keys.string() + "}\n");
  const Regions regions = load_regions_file(file);
  base::write_file(keys, "[default]\naws_access_key_id = LONGER\naws_secret_access_key = s\n");
  EXPECT_EQ(regions.at("a-1").credentials().access_key_id, "LONGER");
}

TEST_F(RegionsFileTest, FaultsAreToldWithTheirLine) {
  EXPECT_THAT(fault("regions:\n  a-1:\n    endpoint: there\n"), HasSubstr("regions.yaml:3: "));
  EXPECT_THAT(fault("regions:\n  a-1:\n    keys: x\n"), HasSubstr("endpoint, credentials and ca"));
  EXPECT_THAT(fault("regions:\n  a-1:\n    credentials: /nonexistent\n"),
              HasSubstr("/nonexistent"));
  EXPECT_THAT(fault("a: b\n"), HasSubstr("expected regions by name"));
}

TEST_F(RegionsFileTest, ARegionThatIsAddedLaterIsKnownWithoutARestart) {
  base::ManualClock clock;
  net::HttpClient http;
  RegionRemotes remotes(http, clock, {{"here-1", {.endpoint = "http://here"}}}, file);
  EXPECT_THROW(remotes.get({"a-1", ""}), base::Error);
  Remote& before = remotes.get({"here-1", ""});
  write("regions:\n  a-1: {endpoint: 'http://there:1'}\n");
  EXPECT_EQ(remotes.get({"a-1", ""}).listing_interval(), base::Duration(1'000));
  EXPECT_EQ(before.listing_interval(), base::Duration(1'000)) << "what was given stays good";
  write("regions: {}\n# taken out again\n");
  EXPECT_THROW(remotes.get({"a-1", ""}), base::Error);
}

TEST_F(RegionsFileTest, AFileThatBecomesUnreadableChangesNothing) {
  base::ManualClock clock;
  net::HttpClient http;
  write("regions:\n  a-1: {endpoint: 'http://there:1'}\n");
  RegionRemotes remotes(http, clock, {}, file);
  remotes.get({"a-1", ""});
  write("regions: [\n");
  EXPECT_NO_THROW(remotes.get({"a-1", ""}));
}

TEST_F(RegionsFileTest, AnEndpointOfTheSpecNeedsNoRegionOfTheFile) {
  base::ManualClock clock;
  net::HttpClient http;
  RegionRemotes remotes(http, clock, {});
  EXPECT_EQ(remotes.get({"a-1", "http://there:1"}).listing_interval(), base::Duration(1'000));
}

TEST_F(RegionsFileTest, ANameThatNoRegionOfAwsHasIsRefused) {
  base::ManualClock clock;
  net::HttpClient http;
  RegionRemotes remotes(http, clock, {}, file, Others::aws);
  for (const char* region : {"us-east-1", "us-gov-west-1", "cn-north-1", "eusc-de-east-1"})
    EXPECT_NO_THROW(remotes.get({region, ""})) << region;
  for (const char* region : {"mars-north-1", "us-west", "useast1", ""})
    EXPECT_THROW(remotes.get({region, ""}), base::Error) << region;
}

}  // namespace
}  // namespace meridian::operators
