// SPDX-License-Identifier: Apache-2.0
#include "xgboost/tracker.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/socket.h>

#include "base/file.h"

namespace meridian::xgboost {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Links, FormATreeAndARing) {
  EXPECT_THAT(links_of(0, 1).tree, IsEmpty());
  EXPECT_EQ(links_of(0, 1).next, -1);
  EXPECT_EQ(links_of(0, 5).parent, -1);
  EXPECT_THAT(links_of(0, 5).tree, ElementsAre(1, 2));
  EXPECT_THAT(links_of(1, 5).tree, ElementsAre(0, 3, 4));
  EXPECT_EQ(links_of(4, 5).parent, 1);
  EXPECT_EQ(links_of(4, 5).next, 0);
  EXPECT_EQ(links_of(0, 5).previous, 4);
}

// A worker as the tracker sees one.
class Worker {
 public:
  Worker(std::uint16_t port, const std::string& task) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    EXPECT_EQ(connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    put(0xff99);
    EXPECT_EQ(get(), 0xff99);
    put(-1);
    put(2);
    text(task);
    text("start");
  }
  void put(std::int32_t value) { send(socket_.get(), &value, sizeof value, 0); }
  std::int32_t get() {
    std::int32_t value = -99;
    recv(socket_.get(), &value, sizeof value, MSG_WAITALL);
    return value;
  }
  void text(const std::string& bytes) {
    put(static_cast<std::int32_t>(bytes.size()));
    send(socket_.get(), bytes.data(), bytes.size(), 0);
  }
  std::string get_text() {
    std::string bytes(static_cast<std::size_t>(get()), '\0');
    recv(socket_.get(), bytes.data(), bytes.size(), MSG_WAITALL);
    return bytes;
  }

 private:
  base::UniqueFd socket_;
};

TEST(Tracker, IntroducesTwoWorkersInTheOrderOfTheirTasks) {
  Tracker tracker(0, 2);
  Worker second(tracker.port(), "1"), first(tracker.port(), "0");
  // rank, parent, workers, one tree neighbour, ring neighbours
  EXPECT_EQ(first.get(), 0);
  EXPECT_EQ(first.get(), -1);
  EXPECT_EQ(first.get(), 2);
  EXPECT_EQ(first.get(), 1);
  EXPECT_EQ(first.get(), 1);
  EXPECT_EQ(first.get(), 1);
  EXPECT_EQ(first.get(), 1);
  first.put(0);               // no good connection yet
  EXPECT_EQ(first.get(), 0);  // nobody to connect to
  EXPECT_EQ(first.get(), 1);  // one will come
  first.put(0);               // no errors
  first.put(4711);            // listens here
  EXPECT_EQ(second.get(), 1);
  EXPECT_EQ(second.get(), 0);
  EXPECT_EQ(second.get(), 2);
  for (int skipped = 0; skipped < 4; ++skipped) second.get();
  second.put(0);
  EXPECT_EQ(second.get(), 1);
  EXPECT_EQ(second.get(), 0);
  EXPECT_EQ(second.get_text(), "127.0.0.1");
  EXPECT_EQ(second.get(), 4711);
  EXPECT_EQ(second.get(), 0);
  second.put(0);
  second.put(4712);
}

}  // namespace
}  // namespace meridian::xgboost
