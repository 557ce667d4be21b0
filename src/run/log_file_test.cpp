// SPDX-License-Identifier: Apache-2.0
#include "run/log_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meridian::run {
namespace {

using testing::ElementsAre;

class LogFile : public testing::Test {
 protected:
  std::vector<std::string> messages(std::uint64_t from = 0) const {
    std::vector<std::string> out;
    for (const auto& record : read_log_file(path(), from).records) out.push_back(record.message);
    return out;
  }
  std::filesystem::path path() const { return directory_.path() / "log"; }

  base::TempDir directory_;
  base::ManualClock clock_{{1000}};
};

TEST_F(LogFile, LinesComeBackWithTheirTimes) {
  LogFileWriter writer(path(), clock_);
  writer.append("one\ntw");
  clock_.advance(base::Duration(5));
  writer.append("o\n");
  const auto slice = read_log_file(path(), 0);
  ASSERT_EQ(slice.records.size(), 2u);
  EXPECT_EQ(slice.records[0].at.ms, 1000);
  EXPECT_EQ(slice.records[1].message, "two");
  EXPECT_EQ(slice.records[1].at.ms, 1005);
}

TEST_F(LogFile, AnUnfinishedLineWaitsForItsEnd) {
  LogFileWriter writer(path(), clock_);
  writer.append("half");
  EXPECT_TRUE(messages().empty());
  writer.finish();
  EXPECT_THAT(messages(), ElementsAre("half"));
}

TEST_F(LogFile, ReadingGoesOnWhereItStopped) {
  LogFileWriter writer(path(), clock_);
  writer.append("a\n");
  const auto first = read_log_file(path(), 0);
  writer.append("b\n");
  EXPECT_THAT(messages(first.next_offset), ElementsAre("b"));
  EXPECT_EQ(read_log_file(path(), first.next_offset).records[0].offset, first.next_offset);
}

TEST_F(LogFile, ATornRecordIsLeftUntilItIsWhole) {
  base::write_file(path(), "1000 - whole\n1001 - to");
  const auto slice = read_log_file(path(), 0);
  EXPECT_EQ(slice.records.size(), 1u);
  EXPECT_EQ(slice.next_offset, 13u);
}

TEST_F(LogFile, OverlongLinesAreCutIntoRecordsThatAddUp) {
  LogFileWriter writer(path(), clock_);
  const std::string line(700'000, 'x');
  writer.append(line + "\nnext\n");
  const auto all = messages();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0] + all[1] + all[2], line);
  EXPECT_EQ(all[3], "next");
}

TEST_F(LogFile, BytesThatAreNoTextSurvive) {
  LogFileWriter writer(path(), clock_);
  const std::string bytes("\0\xff\r\t", 4);
  writer.append(bytes + "\n");
  EXPECT_THAT(messages(), ElementsAre(bytes));
}

TEST_F(LogFile, AFileThatIsNotThereYetIsEmpty) {
  EXPECT_TRUE(read_log_file(path(), 0).records.empty());
}

TEST_F(LogFile, LinesThatAreNoRecordsAreSkipped) {
  base::write_file(path(), "garbage\n12 - ok\n");
  EXPECT_THAT(messages(), ElementsAre("ok"));
}

}  // namespace
}  // namespace meridian::run
