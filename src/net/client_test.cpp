// SPDX-License-Identifier: Apache-2.0
#include "net/client.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "net/listener.h"
#include "net/server.h"
#include "net/test_peer.h"

namespace meridian::net {
namespace {

using namespace std::chrono_literals;
using base::Code;
using ::testing::HasSubstr;

std::string url(std::uint16_t port, const std::string& target = "/") {
  return "http://127.0.0.1:" + std::to_string(port) + target;
}

// The code of the Error that `work` throws.
template <class Work>
std::optional<Code> code_of(Work work) {
  try {
    work();
    return std::nullopt;
  } catch (const base::Error& error) {
    return error.code();
  }
}

// Answers each connection with the same bytes, whatever it is asked, and closes it.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::string answer)
      : answer_(std::move(answer)), thread_([this](std::stop_token stop) { run(stop); }) {}
  std::uint16_t port() const { return listener_.port(); }

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const Accepted accepted = listener_.accept();
      pollfd one{accepted.socket ? accepted.socket.get() : listener_.fd(), POLLIN, 0};
      ::poll(&one, 1, 20);
      if (!accepted.socket) continue;
      char request[4096];
      (void)!::recv(accepted.socket.get(), request, sizeof request, 0);
      (void)!::send(accepted.socket.get(), answer_.data(), answer_.size(), MSG_NOSIGNAL);
    }
  }

  Listener listener_{{}};
  const std::string answer_;
  std::jthread thread_;
};

TEST(HttpClient, SendsMethodTargetHeadersAndBodyAsGiven) {
  HttpServer server({}, [](Request& request, Responder& responder) {
    Headers headers;
    headers.add("X-Echo", request.headers.get("x-in"));
    headers.add("X-Empty", "[" + request.headers.get("x-empty", "absent") + "]");
    headers.add("X-Expect", request.headers.get("expect", "none"));
    headers.add("X-Type", request.headers.get("content-type", "none"));
    headers.add("X-Length", request.headers.get("content-length", "none"));
    responder.send(
        {.status = 201,
         .headers = headers,
         .body = request.method + " " + request.target + " " + request.body->read_all(1u << 20)});
  });
  HttpClient client;
  for (const std::string method : {"GET", "PUT", "POST", "DELETE", "PATCH", "REPORT"}) {
    ClientRequest request{.method = method, .url = url(server.port(), "/a/../b//%2f?x=%20&y#frag")};
    request.headers.add("X-In", "value");
    request.headers.add("X-Empty", "");
    const std::string body = method == "GET" ? "" : "body of " + method;
    request.body = body;
    const Response answer = client.send(request);
    EXPECT_EQ(answer.status, 201);
    EXPECT_EQ(answer.body, method + " /a/../b//%2f?x=%20&y " + body);
    EXPECT_EQ(answer.headers.get("x-echo"), "value");
    EXPECT_EQ(answer.headers.get("x-empty"), "[]");
    EXPECT_EQ(answer.headers.get("x-expect"), "none");
    EXPECT_EQ(answer.headers.get("x-type"), "none");
    EXPECT_EQ(answer.headers.get("x-length"), body.empty() ? "none" : std::to_string(body.size()));
  }
  const Response empty = client.send({.method = "POST", .url = url(server.port(), "?q")});
  EXPECT_EQ(empty.body, "POST /?q ");
  EXPECT_EQ(empty.headers.get("x-length"), "0");
}

TEST(HttpClient, KeepsItsConnections) {
  std::mutex mutex;
  std::set<std::string> peers;
  HttpServer server({}, [&](Request& request, Responder& responder) {
    const std::lock_guard lock(mutex);
    peers.insert(request.peer);
    responder.send({.status = request.path == "/missing" ? 404 : 200, .body = "x"});
  });
  HttpClient client;
  for (int i = 0; i < 5; ++i) {
    client.send({.url = url(server.port())});
    client.send({.url = url(server.port(), "/missing")});
    client.send({.method = "HEAD", .url = url(server.port())});
  }
  EXPECT_EQ(peers.size(), 1u);
}

TEST(HttpClient, ServesManyThreadsAtOnce) {
  HttpServer server({}, [](Request& request, Responder& responder) {
    responder.send({.status = 200, .body = request.target});
  });
  HttpClient client;
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 20; ++i) {
          const std::string target = "/" + std::to_string(t) + "/" + std::to_string(i);
          right += client.send({.url = url(server.port(), target)}).body == target;
        }
      });
    }
  }
  EXPECT_EQ(right, 160);
}

TEST(HttpClient, ReadsTheHeadOfHead) {
  HttpServer server({}, [](Request&, Responder& responder) {
    Headers headers;
    headers.add("Content-Length", "123456");
    responder.send({.status = 200, .headers = headers});
  });
  HttpClient client;
  const Response answer = client.send({.method = "HEAD", .url = url(server.port())});
  EXPECT_EQ(answer.headers.get("content-length"), "123456");
  EXPECT_EQ(answer.body, "");
}

TEST(HttpClient, StreamsBodiesBothWays) {
  HttpServer server({}, [](Request& request, Responder& responder) {
    if (request.path == "/fail") {
      return responder.send({.status = 404, .body = request.body->read_all(100)});
    }
    responder.begin(200, {});
    std::vector<char> buffer(100'000);
    while (const std::size_t got = request.body->read(buffer.data(), buffer.size())) {
      responder.write({buffer.data(), got});
    }
  });
  HttpClient client;
  std::string content(1'500'000, '\0');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 31 / 7);
  std::string got;
  const auto sink = [&](std::string_view piece) { got += piece; };
  StringBody stream(content);
  Response answer =
      client.send({.method = "PUT", .url = url(server.port()), .stream = &stream}, sink);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "");
  EXPECT_EQ(got, content);
  got.clear();
  StringBody other("why");
  answer =
      client.send({.method = "PUT", .url = url(server.port(), "/fail"), .stream = &other}, sink);
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.body, "why") << "the text of an error is for the caller, not for the sink";
  EXPECT_EQ(got, "");
}

TEST(HttpClient, HandsOnWhatSinkAndStreamThrow) {
  HttpServer server({}, [](Request& request, Responder& responder) {
    responder.send({.status = 200, .body = "x" + request.body->read_all(100)});
  });
  HttpClient client;
  const auto full = [](std::string_view) { throw base::Error(Code::resource_exhausted, "full"); };
  EXPECT_EQ(code_of([&] { client.send({.url = url(server.port())}, full); }),
            Code::resource_exhausted);

  class Short final : public BodyReader {
    std::size_t read(char*, std::size_t) override { return 0; }
    std::optional<std::uint64_t> length() const override { return 10; }
  } too_short;
  EXPECT_EQ(code_of([&] {
              client.send({.method = "PUT", .url = url(server.port()), .stream = &too_short});
            }),
            Code::data_loss);
  EXPECT_EQ(client.send({.url = url(server.port())}).status, 200) << "and goes on afterwards";
}

TEST(HttpClient, ConnectsToAUnixSocket) {
  base::TempDir directory;
  const std::string path = directory.path() / "s";
  HttpServer server({.listen = {.unix_path = path}}, [](Request& request, Responder& responder) {
    responder.send({.status = 200, .body = request.target + request.headers.get("host")});
  });
  HttpClient client;
  EXPECT_EQ(client.send({.url = "http://admin/healthz", .unix_socket = path}).body,
            "/healthzadmin");
}

TEST(HttpClient, FollowsNoRedirect) {
  HttpServer server({}, [](Request&, Responder& responder) {
    Headers headers;
    headers.add("Location", "/elsewhere");
    responder.send({.status = 301, .headers = headers});
  });
  HttpClient client;
  const Response answer = client.send({.url = url(server.port())});
  EXPECT_EQ(answer.status, 301);
  EXPECT_EQ(answer.headers.get("location"), "/elsewhere");
}

TEST(HttpClient, EndsAtOnceWhenStopped) {
  std::promise<void> asked;
  HttpServer server({}, [&](Request&, Responder& responder) {
    responder.begin(200, {});
    responder.write("first");
    asked.set_value();
    while (!responder.peer_gone()) std::this_thread::sleep_for(1ms);
  });
  HttpClient client;
  std::stop_source stop;
  std::thread stopper([&] {
    asked.get_future().wait();
    stop.request_stop();
  });
  EXPECT_EQ(code_of([&] { client.send({.url = url(server.port())}, stop.get_token()); }),
            Code::cancelled);
  stopper.join();
  EXPECT_EQ(code_of([&] { client.send({.url = url(server.port())}, stop.get_token()); }),
            Code::cancelled)
      << "before it begins, too";
}

TEST(HttpClient, GivesUpOnASilentServer) {
  HttpServer server({}, [&](Request&, Responder& responder) {
    while (!responder.peer_gone()) std::this_thread::sleep_for(1ms);
  });
  HttpClient client;
  EXPECT_EQ(code_of([&] { client.send({.url = url(server.port()), .timeout = 20ms}); }),
            Code::deadline_exceeded);
}

TEST(HttpClient, ASlowAnswerIsNotASilentOne) {
  HttpServer server({}, [&](Request&, Responder& responder) {
    responder.begin(200, {});
    for (int i = 0; i < 8; ++i) {
      std::this_thread::sleep_for(20ms);
      responder.write("x");
    }
  });
  HttpClient client;
  EXPECT_EQ(client.send({.url = url(server.port()), .timeout = 120ms}).body, "xxxxxxxx");
}

TEST(HttpClient, SaysUnavailableWhenNobodyListens) {
  std::uint16_t port = 0;
  {
    const Listener listener({});
    port = listener.port();
  }
  HttpClient client;
  try {
    client.send({.url = url(port)});
    FAIL() << "somebody answered";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), Code::unavailable);
    EXPECT_TRUE(error.retryable());
    EXPECT_THAT(error.what(), HasSubstr("127.0.0.1:" + std::to_string(port)));
  }
}

TEST(HttpClient, SaysUnavailableWhenTheServerClosesEarly) {
  HttpClient client;
  for (const std::string answer :
       {"", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"}) {
    ScriptedServer server(answer);
    EXPECT_EQ(code_of([&] { client.send({.url = url(server.port())}); }), Code::unavailable)
        << answer;
  }
}

TEST(HttpClient, SendsAgainOnANewConnectionWhenAKeptOneHasEnded) {
  ServerSettings settings;
  settings.idle_timeout = 5ms;
  HttpServer server(settings, [](Request& request, Responder& responder) {
    responder.send({.status = 200, .body = request.body->read_all(100)});
  });
  HttpClient client;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(client.send({.method = "PUT", .url = url(server.port()), .body = "again"}).body,
              "again");
    std::this_thread::sleep_for(15ms);
  }
}

TEST(HttpClient, SkipsInterimAnswers) {
  ScriptedServer server(
      "HTTP/1.1 100 Continue\r\nX: no\r\n\r\nHTTP/1.1 200 OK\r\nY: yes\r\nContent-Length: "
      "2\r\n\r\nok");
  HttpClient client;
  const Response answer = client.send({.url = url(server.port())});
  EXPECT_EQ(answer.body, "ok");
  EXPECT_EQ(answer.headers.find("x"), std::nullopt);
  EXPECT_EQ(answer.headers.find("y"), "yes");
}

TEST(HttpClient, CollectsNoMoreThanAllowed) {
  HttpServer server({}, [](Request&, Responder& responder) {
    responder.send({.status = 200, .body = std::string(1000, 'x')});
  });
  HttpClient client;
  EXPECT_EQ(client.send({.url = url(server.port()), .max_body = 1000}).body.size(), 1000u);
  EXPECT_EQ(code_of([&] { client.send({.url = url(server.port()), .max_body = 999}); }),
            Code::resource_exhausted);
}

TEST(HttpClient, ItsConnectionsAreNotInherited) {
  HttpServer server({}, [](Request&, Responder& responder) { responder.send({.status = 200}); });
  HttpClient client;
  client.send({.url = url(server.port())});
  int connections = 0;
  for (int fd = 0; fd < 1024; ++fd) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) continue;
    if (address.sin_family != AF_INET || ntohs(address.sin_port) != server.port()) continue;
    ++connections;
    EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
  }
  EXPECT_EQ(connections, 1);
}

TEST(HttpClient, RefusesRequestsThatWouldBeAmbiguous) {
  HttpClient client;
  const auto refuses = [&](ClientRequest request) {
    return code_of([&] { client.send(request); }) == Code::invalid_argument;
  };
  EXPECT_TRUE(refuses({.url = "ftp://127.0.0.1/"}));
  EXPECT_TRUE(refuses({.url = "127.0.0.1:80/"}));
  EXPECT_TRUE(refuses({.url = "http:///path"}));
  EXPECT_TRUE(refuses({.url = "http://127.0.0.1/a b"}));
  EXPECT_TRUE(refuses({.url = "http://127.0.0.1/a\r\nX: y"}));
  EXPECT_TRUE(refuses({.method = "GET /x HTTP/1.1\r\n", .url = "http://127.0.0.1/"}));
  ClientRequest split{.url = "http://127.0.0.1/"};
  split.headers.add("X", "a\r\nY: b");
  EXPECT_TRUE(refuses(split));
}

}  // namespace
}  // namespace meridian::net
