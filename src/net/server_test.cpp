// SPDX-License-Identifier: Apache-2.0
#include "net/server.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <future>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "net/test_peer.h"

namespace meridian::net {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Answers with what it was asked.
void echo(Request& request, Responder& responder) {
  const std::string body = request.body->read_all(64u << 20);
  responder.send({.status = 200, .body = request.method + " " + request.target + " " + body});
}

std::string get(std::string_view target, std::string_view more = "") {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: h\r\n" + std::string(more) + "\r\n";
}

TEST(HttpServer, AnswersSeveralRequestsOnOneConnection) {
  HttpServer server({}, echo);
  TestPeer peer(server.port());
  for (const std::string target : {"/a", "/b?c=d", "/%2F%20"}) {
    peer.send(get(target));
    const std::string answer = peer.read_answer();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(answer, HasSubstr("\r\n\r\nGET " + target + " "));
    EXPECT_THAT(answer, HasSubstr("\r\nDate: "));
    EXPECT_THAT(answer, HasSubstr("\r\nServer: meridian\r\n"));
    EXPECT_THAT(answer, Not(HasSubstr("Connection:")));
  }
}

TEST(HttpServer, AnswersPipelinedRequestsInOrder) {
  HttpServer server({}, echo);
  TestPeer peer(server.port());
  peer.send(get("/1") + "POST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc" + get("/3") +
            "GET /4 HTTP/1.1\r\nHo");
  EXPECT_THAT(peer.read_answer(), HasSubstr("\r\n\r\nGET /1 "));
  EXPECT_THAT(peer.read_answer(), HasSubstr("\r\n\r\nPOST /2 abc"));
  EXPECT_THAT(peer.read_answer(), HasSubstr("\r\n\r\nGET /3 "));
  peer.send("st: h\r\n\r\n");
  EXPECT_THAT(peer.read_answer(), HasSubstr("\r\n\r\nGET /4 "));
}

TEST(HttpServer, AnswersAClientThatHasEndedItsSide) {
  HttpServer server({}, echo);
  TestPeer peer(server.port());
  peer.send(get("/half"));
  peer.end_writing();
  EXPECT_THAT(peer.read_to_end(), HasSubstr("\r\n\r\nGET /half "));
}

TEST(HttpServer, AnswersARequestThatArrivesByteByByte) {
  HttpServer server({}, echo);
  TestPeer peer(server.port());
  for (const char c : get("/slow")) peer.send({&c, 1});
  EXPECT_THAT(peer.read_answer(), HasSubstr("\r\n\r\nGET /slow "));
}

TEST(HttpServer, ReadsAChunkedBodyWhateverItsPieces) {
  HttpServer server({}, echo);
  TestPeer peer(server.port());
  const std::string request =
      "PUT /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\n1;name=value\r\n,\r\n6\r\n";
  peer.send(request.substr(0, request.size() - 2));
  peer.send("\r\n world\r\n0\r\nChecksum: 1\r\n\r\n" + get("/next"));
  EXPECT_THAT(peer.read_answer(), HasSubstr("\r\n\r\nPUT /x hello, world"));
  EXPECT_THAT(peer.read_answer(), HasSubstr("\r\n\r\nGET /next "));
}

TEST(HttpServer, ReadsALargeChunkedBody) {
  std::size_t total = 0;
  HttpServer server({}, [&](Request& request, Responder& responder) {
    std::vector<char> buffer(256 * 1024);
    while (const std::size_t got = request.body->read(buffer.data(), buffer.size())) total += got;
    responder.send({.status = 204});
  });
  TestPeer peer(server.port());
  peer.send("PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string piece(128 * 1024, 'x');
  for (int i = 0; i < 16; ++i) peer.send("20000\r\n" + piece + "\r\n");
  peer.send("0\r\n\r\n");
  EXPECT_EQ(status_of(peer.read_answer()), 204);
  EXPECT_EQ(total, 16u * 128 * 1024);
}

TEST(HttpServer, StreamsAnAnswerInChunks) {
  HttpServer server({}, [](Request&, Responder& responder) {
    responder.begin(200, {});
    responder.write("hello, ");
    responder.write("");
    responder.write("world");
  });
  TestPeer peer(server.port());
  peer.send(get("/") + get("/"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(peer.read_until("\r\n\r\n"), HasSubstr("\r\nTransfer-Encoding: chunked\r\n"));
    EXPECT_EQ(peer.read_until("0\r\n\r\n"), "7\r\nhello, \r\n5\r\nworld\r\n0\r\n\r\n");
  }
}

TEST(HttpServer, ShowsTheHeadOfAStreamBeforeItsFirstByte) {
  std::promise<void> go_on;
  HttpServer server({}, [&](Request&, Responder& responder) {
    responder.begin(200, {});
    go_on.get_future().wait();
    responder.write("late");
  });
  TestPeer peer(server.port());
  peer.send(get("/watch"));
  EXPECT_EQ(status_of(peer.read_until("\r\n\r\n")), 200);
  go_on.set_value();
  EXPECT_EQ(peer.read_until("0\r\n\r\n"), "4\r\nlate\r\n0\r\n\r\n");
}

TEST(HttpServer, PermitsTheBodyWhenTheHandlerReadsIt) {
  std::promise<void> read_now;
  HttpServer server({}, [&](Request& request, Responder& responder) {
    read_now.get_future().wait();
    echo(request, responder);
  });
  TestPeer peer(server.port());
  peer.send("PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_TRUE(peer.silent_for(30));
  read_now.set_value();
  EXPECT_EQ(peer.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  peer.send("ok");
  EXPECT_THAT(peer.read_answer(), HasSubstr("\r\n\r\nPUT / ok"));
  peer.send(
      "PUT /again HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_EQ(status_of(peer.read_answer()), 500) << "the promise is spent: get_future throws";
}

TEST(HttpServer, PermitsAnEmptyBodyTooSoThatTheConnectionGoesOn) {
  HttpServer server({}, echo);
  TestPeer peer(server.port());
  for (int i = 0; i < 2; ++i) {
    peer.send("PUT /0 HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(peer.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    EXPECT_THAT(peer.read_answer(), HasSubstr("\r\n\r\nPUT /0 "));
  }
}

TEST(HttpServer, EndsTheConnectionWhenAnEmptyBodyThatIsExpectedIsNotRead) {
  HttpServer server({}, [](Request&, Responder& responder) { responder.send({.status = 204}); });
  TestPeer peer(server.port());
  peer.send("PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n");
  EXPECT_THAT(peer.read_to_end(), HasSubstr("\r\nConnection: close\r\n"));
}

TEST(HttpServer, EndsTheExchangeWhenABodyIsRefusedUnseen) {
  HttpServer server({}, [](Request&, Responder& responder) { responder.send({.status = 403}); });
  TestPeer peer(server.port());
  peer.send("PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n");
  const std::string answer = peer.read_to_end();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 403 Forbidden\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nConnection: close\r\n"));
}

TEST(HttpServer, SkipsASmallBodyThatNobodyRead) {
  HttpServer server({}, [](Request& request, Responder& responder) {
    responder.send({.status = 200, .body = request.target});
  });
  TestPeer peer(server.port());
  peer.send("PUT /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nGET /" + get("/2"));
  EXPECT_THAT(peer.read_answer(), HasSubstr("\r\n\r\n/1"));
  EXPECT_THAT(peer.read_answer(), HasSubstr("\r\n\r\n/2"));
}

TEST(HttpServer, LetsTheClientReadItsAnswerBeforeItDropsALargeBody) {
  HttpServer server(
      {}, [](Request&, Responder& responder) { responder.send({.status = 403, .body = "no"}); });
  TestPeer peer(server.port());
  peer.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 8000000\r\n\r\n");
  peer.send(std::string(8'000'000, 'x'));
  const std::string answer = peer.read_to_end();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 403 Forbidden\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nConnection: close\r\n"));
}

TEST(HttpServer, SendsNoBodyToHead) {
  HttpServer server({}, [](Request& request, Responder& responder) {
    if (request.path == "/sized") {
      Headers headers;
      headers.add("Content-Length", "1000");
      return responder.send({.status = 200, .headers = headers});
    }
    if (request.path == "/streamed") {
      responder.begin(200, {});
      return responder.write("body");
    }
    responder.send({.status = 200, .body = "body"});
  });
  TestPeer peer(server.port());
  peer.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\nHEAD /sized HTTP/1.1\r\nHost: h\r\n\r\n");
  peer.send("HEAD /streamed HTTP/1.1\r\nHost: h\r\n\r\n" + get("/end", "Connection: close\r\n"));
  EXPECT_THAT(peer.read_until("\r\n\r\n"), HasSubstr("\r\nContent-Length: 4\r\n"));
  EXPECT_THAT(peer.read_until("\r\n\r\n"), HasSubstr("\r\nContent-Length: 1000\r\n"));
  EXPECT_THAT(peer.read_until("\r\n\r\n"), HasSubstr("\r\nTransfer-Encoding: chunked\r\n"));
  EXPECT_THAT(peer.read_to_end(), HasSubstr("\r\n\r\nbody"));
}

TEST(HttpServer, ClosesAfterAnHttp10RequestUnlessAskedToKeep) {
  HttpServer server({}, [](Request& request, Responder& responder) {
    if (request.path == "/stream") {
      responder.begin(200, {});
      return responder.write("all of it");
    }
    echo(request, responder);
  });
  TestPeer one(server.port());
  one.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_THAT(one.read_to_end(), HasSubstr("\r\nConnection: close\r\n"));
  TestPeer two(server.port());
  two.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_THAT(two.read_answer(), HasSubstr("\r\nConnection: keep-alive\r\n"));
  two.send("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const std::string streamed = two.read_to_end();
  EXPECT_THAT(streamed, Not(HasSubstr("Transfer-Encoding")));
  EXPECT_THAT(streamed, HasSubstr("\r\n\r\nall of it"));
}

TEST(HttpServer, SendsRangesOfFiles) {
  base::TempDir directory;
  std::string content(3'000'000, '\0');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 7 / 5);
  base::write_file(directory.path() / "f", content);
  HttpServer server({}, [&](Request&, Responder& responder) {
    const auto file = base::open_file(directory.path() / "f", O_RDONLY);
    Headers headers;
    headers.add("Content-Length", "2000003");
    responder.begin(206, headers);
    responder.send_file(file.get(), 999, 2'000'000);
    responder.send_file(file.get(), 0, 3);
  });
  TestPeer peer(server.port());
  peer.send(get("/"));
  const std::string answer = peer.read_answer();
  EXPECT_EQ(status_of(answer), 206);
  EXPECT_EQ(answer.substr(answer.find("\r\n\r\n") + 4),
            content.substr(999, 2'000'000) + content.substr(0, 3));
}

TEST(HttpServer, BreaksOffWhenAFileIsShorterThanAnnounced) {
  base::TempDir directory;
  base::write_file(directory.path() / "f", "short");
  HttpServer server({}, [&](Request&, Responder& responder) {
    const auto file = base::open_file(directory.path() / "f", O_RDONLY);
    Headers headers;
    headers.add("Content-Length", "100");
    responder.begin(200, headers);
    responder.send_file(file.get(), 0, 100);
  });
  TestPeer peer(server.port());
  peer.send(get("/") + get("/"));
  const std::string answer = peer.read_to_end();
  EXPECT_THAT(answer, ::testing::EndsWith("\r\n\r\nshort"));
}

TEST(HttpServer, AnswersAFailedHandlerWithoutDetails) {
  HttpServer server({}, [](Request& request, Responder&) {
    if (request.path == "/error") throw base::Error(base::Code::internal, "secret");
    if (request.path == "/other") throw 42;
  });
  TestPeer peer(server.port());
  for (const std::string path : {"/error", "/other", "/silent"}) {
    peer.send(get(path));
    const std::string answer = peer.read_answer();
    EXPECT_EQ(status_of(answer), 500) << path;
    EXPECT_THAT(answer, Not(HasSubstr("secret")));
  }
}

TEST(HttpServer, DropsTheConnectionWhenAHandlerFailsAfterTheHead) {
  HttpServer server({}, [](Request&, Responder& responder) {
    responder.begin(200, {});
    responder.write("begun");
    throw base::Error(base::Code::internal, "broken");
  });
  TestPeer peer(server.port());
  peer.send(get("/"));
  const std::string answer = peer.read_to_end();
  EXPECT_THAT(answer, ::testing::EndsWith("5\r\nbegun\r\n")) << "no last chunk";
}

TEST(HttpServer, RefusesToWriteAHeaderWithALineBreak) {
  HttpServer server({}, [](Request&, Responder& responder) {
    Headers headers;
    headers.add("X", "a\r\nSet-Cookie: b");
    responder.send({.status = 200, .headers = headers});
  });
  TestPeer peer(server.port());
  peer.send(get("/"));
  EXPECT_EQ(status_of(peer.read_answer()), 500);
}

TEST(HttpServer, SeesThatThePeerHasGone) {
  std::promise<bool> seen;
  HttpServer server({}, [&](Request&, Responder& responder) {
    responder.begin(200, {});
    for (int i = 0; i < 5000 && !responder.peer_gone(); ++i) std::this_thread::sleep_for(1ms);
    seen.set_value(responder.peer_gone());
  });
  {
    TestPeer peer(server.port());
    peer.send(get("/watch"));
    EXPECT_EQ(status_of(peer.read_until("\r\n\r\n")), 200);
  }
  EXPECT_TRUE(seen.get_future().get());
}

TEST(HttpServer, LetsARunningHandlerFinishWhenItStops) {
  std::promise<void> running;
  std::promise<void> go_on;
  HttpServer server({}, [&](Request& request, Responder& responder) {
    running.set_value();
    go_on.get_future().wait();
    echo(request, responder);
  });
  TestPeer idle(server.port());
  TestPeer peer(server.port());
  peer.send(get("/last"));
  running.get_future().wait();
  std::thread stopper([&] { server.stop(); });
  EXPECT_EQ(idle.read_to_end(), "") << "idle connections end at once";
  go_on.set_value();
  const std::string answer = peer.read_to_end();
  EXPECT_THAT(answer, HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\nGET /last "));
  stopper.join();
  EXPECT_FALSE(TestPeer(server.port()).connected());
}

TEST(HttpServer, CutsRequestsOffThatOutliveTheGrace) {
  ServerSettings settings;
  settings.stop_grace = 20ms;
  std::atomic<bool> failed = false;
  HttpServer server(settings, [&](Request& request, Responder& responder) {
    try {
      echo(request, responder);
    } catch (const base::Error&) {
      failed = true;
    }
  });
  TestPeer peer(server.port());
  peer.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(status_of(peer.read_until("\r\n\r\n")), 100);
  server.stop();
  EXPECT_TRUE(failed);
}

TEST(HttpServer, ServesAUnixSocketThatOnlyItsOwnerMayUse) {
  base::TempDir directory;
  const std::string path = directory.path() / "admin.sock";
  std::string peer_name;
  for (int i = 0; i < 2; ++i) {
    HttpServer server({.listen = {.unix_path = path}}, [&](Request& request, Responder& responder) {
      peer_name = request.peer;
      echo(request, responder);
    });
    struct stat info{};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
    TestPeer peer(path);
    peer.send(get("/"));
    EXPECT_THAT(peer.read_answer(), HasSubstr("\r\n\r\nGET / "));
    EXPECT_EQ(peer_name, "unix");
    EXPECT_THROW(HttpServer({.listen = {.unix_path = path}}, echo), base::Error);
  }
  EXPECT_NE(::access(path.c_str(), F_OK), 0) << "removed with its server";
}

TEST(HttpServer, ReplacesTheSocketOfADeadServer) {
  base::TempDir directory;
  const std::string path = directory.path() / "admin.sock";
  {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    const base::UniqueFd dead(::socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(::bind(dead.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  HttpServer server({.listen = {.unix_path = path}}, echo);
  TestPeer peer(path);
  peer.send(get("/"));
  EXPECT_EQ(status_of(peer.read_answer()), 200);
}

TEST(HttpServer, SaysWhoMayHoldAPortAndWhatToDo) {
  HttpServer first({}, echo);
  try {
    HttpServer second({.listen = {"127.0.0.1", first.port()}}, echo);
    FAIL() << "bound twice";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::Code::failed_precondition);
    EXPECT_THAT(error.what(), StartsWith("127.0.0.1:" + std::to_string(first.port()) +
                                         " is in use (another meridian?"));
    EXPECT_THAT(error.what(), HasSubstr("--port"));
  }
}

}  // namespace
}  // namespace meridian::net
