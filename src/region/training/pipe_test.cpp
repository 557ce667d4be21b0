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
    feed_.instance = directory_.path();
    feed_.directory = "data";
    std::filesystem::create_directory(fifos());
    feed_.channel.name = "train";
    feed_.channel.mode = InputMode::pipe;
    feed_.channel.s3 = s3::ChannelSource{.uri = "s3://data/p/"};
  }
  void start() {
    make(0);
    feeder_ = std::jthread([this](std::stop_token stop) {
      try {
        feed_pipes(objects_, {feed_}, stop);
      } catch (const base::Error& error) {
        *error_.lock() = error.what();
      }
    });
  }
  std::filesystem::path fifos() const { return directory_.path() / "data"; }
  std::filesystem::path fifo(int epoch) const { return fifos() / fifo_name("train", epoch); }
  void make(int epoch) {
    auto directory = base::open_file(fifos(), O_RDONLY | O_DIRECTORY);
    make_fifo(directory.get(), fifo_name("train", epoch));
  }
  std::string read_epoch(int epoch) {
    std::ifstream fifo(this->fifo(epoch));
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
    int fd = open(fifo(0).c_str(), O_RDONLY);
    char byte;
    EXPECT_EQ(read(fd, &byte, 1), 1);
    close(fd);
  }
  EXPECT_TRUE(std::filesystem::exists(fifo(1)));
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

TEST_F(PipeTest, ALinkInAFifosPlaceIsNotWrittenThrough) {
  base::write_file(directory_.path() / "victim", "untouched");
  make(0);
  std::filesystem::create_symlink(directory_.path() / "victim", fifo(1));
  start();
  feeder_.join();  // the newest "FIFO" is the link
  EXPECT_EQ(base::read_file(directory_.path() / "victim"), "untouched");
  EXPECT_NE(*error_.lock(), "");
}

TEST_F(PipeTest, ARestartGoesOnWithTheNewestFifo) {
  make(0);
  make(1);
  EXPECT_EQ(newest_epoch(fifos(), "train"), 1);
  start();
  EXPECT_EQ(read_epoch(1), "firstsecond");
}

}  // namespace
}  // namespace meridian::region::training
