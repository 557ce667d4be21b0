// SPDX-License-Identifier: Apache-2.0
#include "region/training/pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "region/training/fixture.h"

namespace meridian::region::training {
namespace {

class PipeTest : public testing::Test {
 protected:
  PipeTest() {
    objects_.put_bytes("data", "p/a", "first");
    objects_.put_bytes("data", "p/b", "second");
    feed_.directory = directory_.path();
    feed_.channel.name = "train";
    feed_.channel.mode = InputMode::pipe;
    feed_.channel.s3 = s3::ChannelSource{.uri = "s3://data/p/"};
  }
  void start() {
    make_fifo(fifo_path(directory_.path(), "train", 0));
    feeder_ = std::jthread([this](std::stop_token stop) {
      try {
        feed_pipes(objects_, {feed_}, stop);
      } catch (const base::Error& error) {
        *error_.lock() = error.what();
      }
    });
  }
  std::string read_epoch(int epoch) {
    std::ifstream fifo(fifo_path(directory_.path(), "train", epoch));
    return {std::istreambuf_iterator<char>(fifo), {}};
  }

  base::TempDir directory_;
  MemoryObjects objects_;
  PipeFeed feed_;
  base::Sync<std::string> error_;
  std::jthread feeder_;  // last: it uses the others
};

TEST_F(PipeTest, EachEpochIsTheObjectsOneAfterTheOther) {
  start();
  EXPECT_EQ(read_epoch(0), "firstsecond");
  EXPECT_EQ(read_epoch(1), "firstsecond");
  EXPECT_EQ(read_epoch(2), "firstsecond");
}

TEST_F(PipeTest, AReaderThatLeavesEarlyFindsTheNextEpoch) {
  objects_.put_bytes("data", "p/a", std::string(4 << 20, 'x'));
  start();
  {
    int fd = open(fifo_path(directory_.path(), "train", 0).c_str(), O_RDONLY);
    char byte;
    EXPECT_EQ(read(fd, &byte, 1), 1);
    close(fd);
  }
  EXPECT_TRUE(std::filesystem::exists(fifo_path(directory_.path(), "train", 1)));
  EXPECT_EQ(read_epoch(1).size(), (4u << 20) + 6);
}

TEST_F(PipeTest, FeedingStopsWhileNobodyReads) {
  start();
  feeder_.request_stop();
  feeder_.join();
  EXPECT_EQ(*error_.lock(), "");
}

TEST_F(PipeTest, DataThatVanishedIsAnErrorThatNamesTheChannel) {
  objects_.remove("data", "p/a");
  objects_.remove("data", "p/b");
  start();
  EXPECT_EQ(read_epoch(0), "");
  feeder_.join();
  EXPECT_THAT(*error_.lock(), testing::HasSubstr("channel 'train'"));
}

TEST_F(PipeTest, ARestartGoesOnWithTheNewestFifo) {
  make_fifo(fifo_path(directory_.path(), "train", 0));
  make_fifo(fifo_path(directory_.path(), "train", 1));
  EXPECT_EQ(newest_epoch(directory_.path(), "train"), 1);
  start();
  EXPECT_EQ(read_epoch(1), "firstsecond");
}

}  // namespace
}  // namespace meridian::region::training
