// SPDX-License-Identifier: Apache-2.0
#include "net/tls.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include "base/error.h"
#include "base/file.h"
#include "net/client.h"
#include "net/server.h"
#include "net/test_certificate.h"
#include "net/test_peer.h"

namespace meridian::net {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class Tls : public ::testing::Test {
 protected:
  ServerSettings settings() const {
    return {.tls_certificate_file = files.certificate_file, .tls_key_file = files.key_file};
  }
  ClientRequest request(const HttpServer& server, const std::string& target) const {
    return {.url = "https://127.0.0.1:" + std::to_string(server.port()) + target,
            .ca_file = files.certificate_file};
  }

  base::TempDir directory;
  TestCertificate files = make_test_certificate(directory.path());
  HttpClient client;
};

void echo(Request& request, Responder& responder) {
  responder.send({.status = request.secure ? 200 : 500,
                  .body = request.target + " " + request.body->read_all(64u << 20)});
}

TEST_F(Tls, CarriesRequestsAndLargeBodies) {
  HttpServer server(settings(), echo);
  ClientRequest put = request(server, "/x");
  put.method = "PUT";
  put.body = std::string(3'000'000, 'b');
  for (int i = 0; i < 2; ++i) {
    const Response answer = client.send(put);
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "/x " + put.body);
  }
}

TEST_F(Tls, SendsFilesAndStreams) {
  const std::string content(1'000'000, 'c');
  base::write_file(directory.path() / "f", content);
  HttpServer server(settings(), [&](Request& request, Responder& responder) {
    if (request.path == "/stream") {
      responder.begin(200, {});
      responder.write(content.substr(0, 10));
      return responder.write(content.substr(10));
    }
    const auto file = base::open_file(directory.path() / "f", O_RDONLY);
    Headers headers;
    headers.add("Content-Length", std::to_string(content.size() - 5));
    responder.begin(200, headers);
    responder.send_file(file.get(), 5, content.size() - 5);
  });
  EXPECT_EQ(client.send(request(server, "/stream")).body, content);
  EXPECT_EQ(client.send(request(server, "/file")).body, content.substr(5));
}

TEST_F(Tls, OneSilentGreetingHoldsNoWorker) {
  ServerSettings one_worker = settings();
  one_worker.max_workers = 1;
  one_worker.header_timeout = 200ms;
  HttpServer server(one_worker, echo);
  TestPeer silent(server.port());
  silent.send("\x16\x03\x01");
  EXPECT_EQ(client.send(request(server, "/")).status, 200);
  EXPECT_EQ(silent.read_to_end(), "") << "closed after header_timeout";
}

TEST_F(Tls, RefusesPlainHttp) {
  HttpServer server(settings(), echo);
  TestPeer plain(server.port());
  plain.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(plain.read_to_end().find("HTTP/1.1 200"), std::string::npos);
}

TEST_F(Tls, TheClientRefusesACertificateItDoesNotKnow) {
  HttpServer server(settings(), echo);
  ClientRequest stranger = request(server, "/");
  stranger.ca_file.clear();
  try {
    client.send(stranger);
    FAIL() << "trusted";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::Code::unauthenticated);
    EXPECT_FALSE(error.retryable());
  }
}

// The version and protocol that a client offering `alpn` up to `version` agrees on; "" for none.
std::string greet(std::uint16_t port, const std::string& alpn, int version) {
  TestPeer peer(port);
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_client_method()),
                                                             SSL_CTX_free);
  SSL_CTX_set_security_level(context.get(), 0);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
  SSL_CTX_set_max_proto_version(context.get(), version);
  SSL_CTX_set_alpn_protos(context.get(), reinterpret_cast<const unsigned char*>(alpn.data()),
                          static_cast<unsigned>(alpn.size()));
  const TlsSession session(SSL_new(context.get()));
  SSL_set_fd(session.get(), peer.fd());
  if (SSL_connect(session.get()) != 1) return "";
  const unsigned char* chosen = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(session.get(), &chosen, &size);
  return std::string(SSL_get_version(session.get())) + " " +
         std::string(reinterpret_cast<const char*>(chosen), size);
}

TEST_F(Tls, SpeaksHttp11OverTls12AndNewer) {
  HttpServer server(settings(), echo);
  const std::string both = "\x02h2\x08http/1.1";
  EXPECT_EQ(greet(server.port(), both, TLS1_3_VERSION), "TLSv1.3 http/1.1");
  EXPECT_EQ(greet(server.port(), both, TLS1_2_VERSION), "TLSv1.2 http/1.1");
  EXPECT_EQ(greet(server.port(), "\x02h2", TLS1_3_VERSION), "TLSv1.3 ");
  EXPECT_EQ(greet(server.port(), both, TLS1_1_VERSION), "");
}

TEST_F(Tls, NamesTheFileThatCannotBeUsed) {
  const auto message = [](const ServerSettings& settings) -> std::string {
    try {
      HttpServer server(settings, echo);
      return "";
    } catch (const base::Error& error) {
      return error.what();
    }
  };
  EXPECT_THAT(message({.tls_certificate_file = "/nonexistent", .tls_key_file = files.key_file}),
              HasSubstr("/nonexistent"));
  EXPECT_THAT(message({.tls_certificate_file = files.certificate_file,
                       .tls_key_file = files.certificate_file}),
              HasSubstr("no key"));
  EXPECT_THAT(message({.tls_certificate_file = files.certificate_file}), HasSubstr("both"));
}

}  // namespace
}  // namespace meridian::net
