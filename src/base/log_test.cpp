// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/strings.h"

namespace meridian::base {
namespace {

// Before the first line is logged, in whatever terminal the test runs.
const bool json_lines = setenv("MERIDIAN_LOG_FORMAT", "json", 1) == 0;

// Standard error leads into a file meanwhile.
class LogTest : public testing::Test {
 protected:
  void SetUp() override {
    const UniqueFd file = open_file(path, O_WRONLY | O_CREAT | O_APPEND);
    ASSERT_GE(dup2(file.get(), STDERR_FILENO), 0);
  }
  void TearDown() override {
    dup2(standard_error.get(), STDERR_FILENO);
    set_log_level(LogLevel::info);
  }
  // The lines of the file, each of which must be JSON.
  std::vector<Json> lines() {
    std::vector<Json> out;
    for (const std::string& line : split(trim(read_file(path)), '\n')) {
      if (!line.empty()) out.push_back(parse_stored_json(line, "log line"));
    }
    return out;
  }

  TempDir directory;
  std::filesystem::path path = directory.path() / "log";
  UniqueFd standard_error{dup(STDERR_FILENO)};
};

TEST_F(LogTest, ALineHasTimeLevelMessageAndFields) {
  log_warn("job \"a\"\nfailed", {{"job", "a b"}, {"bytes", "\xff"}});
  const auto seen = lines();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(string_or(seen[0], "level"), "warn");
  EXPECT_EQ(string_or(seen[0], "message"), "job \"a\"\nfailed");
  EXPECT_EQ(string_or(seen[0], "job"), "a b");
  EXPECT_EQ(string_or(seen[0], "bytes"), "\xef\xbf\xbd");
  EXPECT_EQ(string_or(seen[0], "time").size(), 24u);
}

TEST_F(LogTest, SecretsAreNotWritten) {
  log_info("x", {{"secretKey", "s1"},
                 {"SessionToken", "s2"},
                 {"PASSWORD", "s3"},
                 {"x-amz-signature", "s4"},
                 {"key", "open"}});
  const std::string text = read_file(path);
  for (const char* secret : {"s1", "s2", "s3", "s4"}) {
    EXPECT_EQ(text.find('"' + std::string(secret) + '"'), std::string::npos);
  }
  EXPECT_EQ(string_or(lines()[0], "key"), "open");
}

TEST_F(LogTest, LowerLevelsAreLeftOut) {
  log_debug("no");
  set_log_level(LogLevel::error);
  log_warn("no");
  log_error("yes");
  const auto seen = lines();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(string_or(seen[0], "message"), "yes");
}

TEST_F(LogTest, LinesOfManyThreadsStayWhole) {
  set_log_level(LogLevel::error);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 5; ++i) log_error("line", {{"pad", std::string(60, 'x')}});
    });
  }
  threads.clear();
  EXPECT_EQ(lines().size(), 20u);
}

}  // namespace
}  // namespace meridian::base
