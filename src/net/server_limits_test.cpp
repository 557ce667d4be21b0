// The server against slow, silent, greedy and hostile clients.
//
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "base/error.h"
#include "net/server.h"
#include "net/test_peer.h"

namespace meridian::net {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

void hello(Request&, Responder& responder) { responder.send({.status = 200, .body = "hello"}); }

const std::string kGet = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

TEST(HttpServerLimits, HostileRequestsNeverReachTheHandler) {
  std::atomic<int> handled = 0;
  HttpServer server({}, [&](Request& request, Responder& responder) {
    ++handled;
    hello(request, responder);
  });
  const std::pair<std::string, int> hostile[] = {
      {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
       400},
      {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, identity\r\n\r\n", 501},
      {"GET / HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n", 400},
      {"GET / HTTP/1.1\nHost: h\n\n", 400},
      {"GET / HTTP/3.0\r\nHost: h\r\n\r\n", 505},
      {"GET / HTTP/1.1\r\nHost: h\r\nExpect: x\r\n\r\n", 417},
      {"GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(40'000, 'x') + "\r\n\r\n", 431},
      {"\x16\x03\x01", 400},
  };
  for (const auto& [bytes, status] : hostile) {
    TestPeer peer(server.port());
    peer.send(bytes + kGet);
    const std::string answer = peer.read_to_end();
    EXPECT_EQ(status_of(answer), status) << bytes.substr(0, 100);
    EXPECT_THAT(answer, HasSubstr("\r\nConnection: close\r\n"));
  }
  EXPECT_EQ(handled, 0);
}

TEST(HttpServerLimits, ABrokenChunkedBodyIsABadRequest) {
  HttpServer server({}, [](Request& request, Responder& responder) {
    responder.send({.status = 200, .body = request.body->read_all(1000)});
  });
  TestPeer peer(server.port());
  peer.send("PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX" + kGet);
  EXPECT_EQ(status_of(peer.read_to_end()), 400);
}

TEST(HttpServerLimits, ABodyThatEndsEarlyIsAnErrorForItsReader) {
  std::promise<base::Code> code;
  HttpServer server({}, [&](Request& request, Responder&) {
    try {
      request.body->read_all(1000);
    } catch (const base::Error& error) {
      code.set_value(error.code());
      throw;
    }
  });
  TestPeer peer(server.port());
  peer.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhalf");
  peer.end_writing();
  EXPECT_EQ(status_of(peer.read_to_end()), 400);
  EXPECT_EQ(code.get_future().get(), base::Code::unavailable);
}

TEST(HttpServerLimits, SlowClientsCostNoWorker) {
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
  ServerSettings settings;
  settings.max_workers = 1;
  HttpServer server(settings, hello);
  std::vector<std::unique_ptr<TestPeer>> slow;
  for (int i = 0; i < 500; ++i) {
    slow.push_back(std::make_unique<TestPeer>(server.port()));
    ASSERT_TRUE(slow.back()->connected());
    if (i % 2 == 0) slow.back()->send("GET / HTTP/1.1\r\nHost: ");
  }
  TestPeer quick(server.port());
  quick.send(kGet);
  EXPECT_EQ(status_of(quick.read_answer()), 200);
  slow[0]->send("h\r\n\r\n");
  EXPECT_EQ(status_of(slow[0]->read_answer()), 200);
}

TEST(HttpServerLimits, ClosesConnectionsWhoseHeadDoesNotArrive) {
  ServerSettings settings;
  settings.header_timeout = 20ms;
  HttpServer server(settings, hello);
  TestPeer peer(server.port());
  peer.send("GET / HT");
  EXPECT_EQ(peer.read_to_end(), "");
  TestPeer still_there(server.port());
  EXPECT_TRUE(still_there.silent_for(60)) << "nothing sent yet: that is idle, not slow";
}

TEST(HttpServerLimits, TheTimeOfAHeadBeginsAfterTheRequestBeforeIt) {
  ServerSettings settings;
  settings.header_timeout = 40ms;
  HttpServer server(settings, [](Request& request, Responder& responder) {
    std::this_thread::sleep_for(60ms);
    hello(request, responder);
  });
  TestPeer peer(server.port());
  peer.send(kGet + "GET / HTTP/1.1\r\n");
  EXPECT_EQ(status_of(peer.read_answer()), 200);
  peer.send("Host: h\r\n\r\n");
  EXPECT_EQ(status_of(peer.read_answer()), 200);
}

TEST(HttpServerLimits, WaitsWhenThereAreNoDescriptors) {
  HttpServer server({}, hello);
  TestPeer peer(server.port());
  peer.send(kGet);
  EXPECT_EQ(status_of(peer.read_answer()), 200);
  const base::UniqueFd socket(::socket(AF_INET, SOCK_STREAM, 0));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(::dup(0));  // the lowest that is free
  ::close(static_cast<int>(none.rlim_cur));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(server.port())};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::send(socket.get(), kGet.data(), kGet.size(), 0), ssize_t(kGet.size()));
  peer.send(kGet);
  EXPECT_EQ(status_of(peer.read_answer()), 200) << "those that are there are served";
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  char answer[12];
  EXPECT_EQ(::recv(socket.get(), answer, sizeof answer, MSG_WAITALL), 12);
  EXPECT_EQ(status_of({answer, 12}), 200);
}

TEST(HttpServerLimits, ClosesIdleConnections) {
  ServerSettings settings;
  settings.idle_timeout = 20ms;
  HttpServer server(settings, hello);
  TestPeer peer(server.port());
  peer.send(kGet);
  EXPECT_EQ(status_of(peer.read_answer()), 200);
  EXPECT_EQ(peer.read_to_end(), "");
}

TEST(HttpServerLimits, AnswersTimeoutToABodyThatDoesNotArrive) {
  ServerSettings settings;
  settings.body_timeout = 20ms;
  HttpServer server(settings, [](Request& request, Responder& responder) {
    responder.send({.status = 200, .body = request.body->read_all(1000)});
  });
  TestPeer peer(server.port());
  peer.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhalf");
  EXPECT_EQ(status_of(peer.read_to_end()), 408);
}

TEST(HttpServerLimits, ABodyThatTricklesHoldsItsWorkerForABoundedTime) {
  ServerSettings settings;
  settings.body_timeout = 100ms;  // never silent for so long
  settings.min_body_rate = 10'000;
  HttpServer server(settings, [](Request& request, Responder& responder) {
    responder.send({.status = 200, .body = request.body->read_all(10'000)});
  });
  for (const std::string framing : {"Content-Length: 5000", "Transfer-Encoding: chunked"}) {
    TestPeer peer(server.port());
    peer.send("PUT / HTTP/1.1\r\nHost: h\r\n" + framing + "\r\n\r\n");
    const std::string byte = framing.starts_with("T") ? "1\r\nx\r\n" : "x";
    for (int i = 0; i < 2'000 && peer.silent_for(4); ++i) peer.send(byte);
    EXPECT_EQ(status_of(peer.read_to_end()), 408) << framing;
  }
}

TEST(HttpServerLimits, ABodyMayBeSlowAsLongAsItIsQuickerThanTheLeastRate) {
  ServerSettings settings;
  settings.body_timeout = 100ms;
  settings.min_body_rate = 100;
  HttpServer server(settings, [](Request& request, Responder& responder) {
    responder.send({.status = 200, .body = request.body->read_all(10'000)});
  });
  TestPeer peer(server.port());
  peer.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 4000\r\n\r\n");
  for (int i = 0; i < 40 && peer.silent_for(4); ++i) peer.send(std::string(100, 'x'));
  EXPECT_EQ(status_of(peer.read_answer()), 200);
}

TEST(HttpServerLimits, GivesUpOnAClientThatDoesNotRead) {
  ServerSettings settings;
  settings.body_timeout = 20ms;
  std::promise<base::Code> code;
  HttpServer server(settings, [&](Request&, Responder& responder) {
    responder.begin(200, {});
    try {
      for (int i = 0; i < 10'000; ++i) responder.write(std::string(64 * 1024, 'x'));
    } catch (const base::Error& error) {
      code.set_value(error.code());
      throw;
    }
  });
  TestPeer peer(server.port());
  peer.send(kGet);
  EXPECT_EQ(code.get_future().get(), base::Code::deadline_exceeded);
}

TEST(HttpServerLimits, BlockedHandlersDoNotBlockOthers) {
  std::promise<void> go_on;
  auto released = go_on.get_future().share();
  HttpServer server({}, [&](Request& request, Responder& responder) {
    if (request.path == "/blocked") released.wait();
    hello(request, responder);
  });
  std::vector<std::unique_ptr<TestPeer>> blocked;
  for (int i = 0; i < 30; ++i) {
    blocked.push_back(std::make_unique<TestPeer>(server.port()));
    blocked.back()->send("GET /blocked HTTP/1.1\r\nHost: h\r\n\r\n");
  }
  TestPeer quick(server.port());
  quick.send(kGet);
  EXPECT_EQ(status_of(quick.read_answer()), 200);
  go_on.set_value();
  for (auto& peer : blocked) EXPECT_EQ(status_of(peer->read_answer()), 200);
}

TEST(HttpServerLimits, SaysBusyWhenTooManyRequestsWait) {
  ServerSettings settings;
  settings.max_workers = 1;
  settings.max_queue = 1;
  std::promise<void> running;
  std::promise<void> go_on;
  HttpServer server(settings, [&](Request& request, Responder& responder) {
    if (request.path == "/blocked") {
      running.set_value();
      go_on.get_future().wait();
    }
    hello(request, responder);
  });
  TestPeer blocked(server.port());
  blocked.send("GET /blocked HTTP/1.1\r\nHost: h\r\n\r\n");
  running.get_future().wait();
  std::vector<std::unique_ptr<TestPeer>> more;
  for (int i = 0; i < 3; ++i) {
    more.push_back(std::make_unique<TestPeer>(server.port()));
    more.back()->send(kGet);
  }
  // One of them waits; which one is the kernel's choice.
  int busy = 0;
  pollfd all[] = {
      {more[0]->fd(), POLLIN, 0}, {more[1]->fd(), POLLIN, 0}, {more[2]->fd(), POLLIN, 0}};
  for (int ready = 0; ready < 2;) ready = ::poll(all, 3, 10'000);
  for (std::size_t i = 0; i < 3; ++i) {
    if (all[i].revents == 0) continue;
    const std::string answer = more[i]->read_to_end();
    EXPECT_EQ(status_of(answer), 503);
    EXPECT_THAT(answer, HasSubstr("\r\nRetry-After: 1\r\n"));
    ++busy;
  }
  EXPECT_EQ(busy, 2);
  go_on.set_value();
  EXPECT_EQ(status_of(blocked.read_answer()), 200);
}

TEST(HttpServerLimits, KeepsNoMoreConnectionsThanAllowed) {
  ServerSettings settings;
  settings.max_connections = 2;
  HttpServer server(settings, hello);
  TestPeer one(server.port());
  TestPeer two(server.port());
  for (TestPeer* peer : {&one, &two}) {
    peer->send(kGet);
    EXPECT_EQ(status_of(peer->read_answer()), 200);
  }
  TestPeer three(server.port());
  EXPECT_EQ(three.read_to_end(), "");
}

}  // namespace
}  // namespace meridian::net
