// Whom the client trusts, and how it shows who it is.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <poll.h>

#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "net/client.h"
#include "net/listener.h"
#include "net/server.h"
#include "net/test_certificate.h"

namespace meridian::net {
namespace {

using base::Code;

class ClientTls : public ::testing::Test {
 protected:
  ClientTls() {
    request_.url = "https://127.0.0.1:" + std::to_string(server_.port()) + "/";
    pem_ = base::read_file(files_.certificate_file);
  }

  Code code_of_send() {
    try {
      client_.send(request_);
    } catch (const base::Error& error) {
      return error.code();
    }
    ADD_FAILURE() << "the request succeeded";
    return Code::internal;
  }

  base::TempDir directory_;
  const TestCertificate files_ = make_test_certificate(directory_.path());
  HttpServer server_{
      {.tls_certificate_file = files_.certificate_file, .tls_key_file = files_.key_file},
      [](Request&, Responder& answer) { answer.send({.body = "hello"}); }};
  HttpClient client_;
  ClientRequest request_;
  std::string pem_;
};

TEST_F(ClientTls, AnUnknownAuthorityIsNotTrusted) {
  EXPECT_EQ(code_of_send(), Code::unauthenticated);
}

TEST_F(ClientTls, AnAuthorityGivenAsTextIsTrusted) {
  request_.ca_pem = pem_;
  EXPECT_EQ(client_.send(request_).body, "hello");
  request_.ca_pem = "no certificate";
  request_.url += "other";
  HttpClient fresh;
  EXPECT_THROW(fresh.send(request_), base::Error);
}

TEST_F(ClientTls, TrustOfOneRequestDoesNotLeakIntoTheNext) {
  request_.ca_pem = pem_;
  client_.send(request_);
  request_.ca_pem.clear();
  EXPECT_EQ(code_of_send(), Code::unauthenticated);
}

TEST_F(ClientTls, VerificationCanBeGivenUp) {
  request_.verify = ClientRequest::Verify::no;
  EXPECT_EQ(client_.send(request_).body, "hello");
}

// Accepts one TLS connection that shows a certificate signed by `authority`, and answers it.
std::string serve_one_with_client_certificate(Listener& listener, const TestCertificate& files) {
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_server_method()),
                                                             SSL_CTX_free);
  SSL_CTX_use_certificate_file(context.get(), files.certificate_file.c_str(), SSL_FILETYPE_PEM);
  SSL_CTX_use_PrivateKey_file(context.get(), files.key_file.c_str(), SSL_FILETYPE_PEM);
  SSL_CTX_load_verify_locations(context.get(), files.certificate_file.c_str(), nullptr);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  pollfd waiting{listener.fd(), POLLIN, 0};
  ::poll(&waiting, 1, 10'000);
  const Accepted accepted = listener.accept();
  if (!accepted.socket) return "nobody came";
  const int fd = accepted.socket.get();
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  const std::unique_ptr<SSL, void (*)(SSL*)> session(SSL_new(context.get()), SSL_free);
  SSL_set_fd(session.get(), fd);
  if (SSL_accept(session.get()) != 1) return "refused";
  char request[4096];
  if (SSL_read(session.get(), request, sizeof request) <= 0) return "silent";
  const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
  SSL_write(session.get(), answer.data(), static_cast<int>(answer.size()));
  SSL_shutdown(session.get());
  return "served";
}

TEST_F(ClientTls, ACertificateIsShown) {
  for (const bool with_certificate : {true, false}) {
    Listener listener{{}};
    std::string outcome;
    std::thread peer([&] { outcome = serve_one_with_client_certificate(listener, files_); });
    HttpClient client;
    ClientRequest request{.url = "https://127.0.0.1:" + std::to_string(listener.port()) + "/"};
    request.ca_pem = pem_;
    if (with_certificate) {
      request.certificate_pem = pem_;
      request.key_pem = base::read_file(files_.key_file);
      EXPECT_EQ(client.send(request).body, "ok");
    } else {
      EXPECT_THROW(client.send(request), base::Error);
    }
    peer.join();
    EXPECT_EQ(outcome, with_certificate ? "served" : "refused");
  }
}

}  // namespace
}  // namespace meridian::net
