// SPDX-License-Identifier: Apache-2.0
#include "cli/installation.h"

#include <gmock/gmock.h>

#include <map>

#include "base/file.h"

namespace meridian::cli {
namespace {

using testing::HasSubstr;

Environment variables(std::map<std::string, std::string> values) {
  return [values](const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
  };
}

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const base::Error& error) {
    return error.what();
  }
  return "";
}

TEST(DataDirectory, IsTheOptionThenTheVariableThenBelowHome) {
  const auto environment = variables({{"MERIDIAN_DATA", "/var"}, {"HOME", "/home/a"}});
  EXPECT_EQ(data_directory("/x/../opt", environment), "/opt");
  EXPECT_EQ(data_directory("", environment), "/var");
  EXPECT_EQ(data_directory("", variables({{"HOME", "/home/a"}})), "/home/a/.meridian");
  EXPECT_THROW(data_directory("", variables({})), base::Error);
}

TEST(Credentials, OnlyTheProfileAskedForCounts) {
  auto keys = parse_credentials(
      "# made by meridian\n[other]\naws_access_key_id = NO\naws_secret_access_key=no\n"
      "[default]\r\naws_access_key_id = AKIA\r\naws_secret_access_key=a=b\n");
  ASSERT_TRUE(keys);
  EXPECT_EQ(keys->access_key_id, "AKIA");
  EXPECT_EQ(keys->secret, "a=b");
}

TEST(Credentials, WhatIsNoIniIsRefusedWithItsLine) {
  auto keys = parse_credentials("[default]\nnonsense\n");
  ASSERT_FALSE(keys);
  EXPECT_EQ(keys.error().line, 2);
  EXPECT_FALSE(parse_credentials("[default]\naws_access_key_id = AKIA\n"));
}

TEST(RunFile, GivesPortsAndRegions) {
  auto run = parse_run_file(
      R"({"pid":5,"port":8470,"ports":{"aws":8470,"admin":8472},"regions":["a","b"],"account":"1"})");
  ASSERT_TRUE(run);
  EXPECT_EQ(run->ports.at("aws"), 8470);
  EXPECT_EQ(run->regions, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(parse_run_file("{}"));
  EXPECT_FALSE(parse_run_file("half"));
}

TEST(RunFile, TheEndpointIsWhereTheDaemonListens) {
  const auto endpoint = [](const std::string& members) {
    auto run = parse_run_file(R"({"pid":5,"port":8470)" + members + "}");
    return run ? endpoint_of(*run) : run.error().text();
  };
  EXPECT_EQ(endpoint(""), "http://127.0.0.1:8470");  // of an older daemon
  EXPECT_EQ(endpoint(R"(,"listen":"0.0.0.0","secure":true)"), "https://127.0.0.1:8470");
  EXPECT_EQ(endpoint(R"(,"listen":"::","secure":true)"), "https://127.0.0.1:8470");
  EXPECT_EQ(endpoint(R"(,"listen":"10.0.0.7","secure":true)"), "https://10.0.0.7:8470");
  EXPECT_EQ(endpoint(R"(,"listen":"::1","secure":false)"), "http://[::1]:8470");
  EXPECT_EQ(endpoint(R"(,"secure":true,"ports":{"aws":8470,"programs":8473})"),
            "http://127.0.0.1:8473");
}

TEST(Installation, AProcessThatIsNoMeridianIsNotTaken) {
  const base::TempDir data;
  base::write_file(data.path() / "run.json", R"({"pid":1,"port":8470,"regions":["us-west-2"]})");
  EXPECT_THAT(error_of([&] { find_installation(data.path(), "", variables({})); }),
              HasSubstr("meridian up --detach"));
}

TEST(Installation, WithoutADaemonTheEnvironmentNamesOne) {
  const base::TempDir data;
  const auto found = find_installation(data.path(), "",
                                       variables({{"AWS_ENDPOINT_URL", "http://h:1/"},
                                                  {"AWS_ACCESS_KEY_ID", "A"},
                                                  {"AWS_SECRET_ACCESS_KEY", "s"},
                                                  {"AWS_REGION", "eu-west-1"}}));
  EXPECT_EQ(found.endpoint, "http://h:1");
  EXPECT_EQ(found.region, "eu-west-1");
  EXPECT_EQ(found.credentials.secret, "s");
}

}  // namespace
}  // namespace meridian::cli
