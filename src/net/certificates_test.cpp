// SPDX-License-Identifier: Apache-2.0
#include "net/certificates.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "net/client.h"
#include "net/server.h"

namespace meridian::net {
namespace {

using base::read_file;

class Certificates : public testing::Test {
 protected:
  CertificateFiles make(const std::vector<std::string>& names) {
    return ensure_server_certificate(directory.path() / "tls", names, now);
  }

  base::TempDir directory;
  base::Timestamp now = base::SystemClock().now();
};

TEST_F(Certificates, AClientThatTrustsTheAuthorityConnects) {
  const CertificateFiles files = make({"127.0.0.1", "localhost"});
  HttpServer server(
      {.tls_certificate_file = files.certificate.string(), .tls_key_file = files.key.string()},
      [](Request&, Responder& responder) { responder.send({.body = "ok"}); });
  HttpClient client;
  const std::string port = std::to_string(server.port());
  for (const std::string host : {"127.0.0.1", "localhost"}) {
    const Response answer = client.send(
        {.url = "https://" + host + ":" + port + "/", .ca_file = files.authority.string()});
    EXPECT_EQ(answer.body, "ok");
  }
}

TEST_F(Certificates, ANameThatIsNotOnItIsRefused) {
  const CertificateFiles files = make({"localhost"});
  HttpServer server(
      {.tls_certificate_file = files.certificate.string(), .tls_key_file = files.key.string()},
      [](Request&, Responder& responder) { responder.send({.body = "ok"}); });
  HttpClient client;
  EXPECT_THROW(client.send({.url = "https://127.0.0.1:" + std::to_string(server.port()) + "/",
                            .ca_file = files.authority.string()}),
               base::Error);
}

TEST_F(Certificates, WhatIsThereIsUsedAgain) {
  const CertificateFiles files = make({"127.0.0.1"});
  const std::string authority = read_file(files.authority), server = read_file(files.certificate);
  now = now + std::chrono::hours(24 * 300);
  make({"127.0.0.1"});
  EXPECT_EQ(read_file(files.authority), authority);
  EXPECT_EQ(read_file(files.certificate), server);
}

TEST_F(Certificates, AServerCertificateIsRenewedBeforeItsEndAndForANewName) {
  const CertificateFiles files = make({"127.0.0.1"});
  const std::string authority = read_file(files.authority), first = read_file(files.certificate);
  now = now + std::chrono::hours(24 * 340);
  make({"127.0.0.1"});
  const std::string second = read_file(files.certificate);
  EXPECT_NE(second, first);
  make({"127.0.0.1", "example.test"});
  EXPECT_NE(read_file(files.certificate), second);
  EXPECT_EQ(read_file(files.authority), authority);
}

TEST_F(Certificates, AnotherAuthorityMakesAnotherServerCertificate) {
  const CertificateFiles files = make({"127.0.0.1"});
  const std::string authority = read_file(files.authority), server = read_file(files.certificate);
  base::write_file(directory.path() / "tls" / "ca.key", "broken");
  make({"127.0.0.1"});
  EXPECT_NE(read_file(files.authority), authority);
  EXPECT_NE(read_file(files.certificate), server);
}

TEST_F(Certificates, PrivateKeysAreTheOwnersAlone) {
  make({"127.0.0.1"});
  for (const char* name : {"ca.key", "server.key"}) {
    struct stat status{};
    ASSERT_EQ(stat((directory.path() / "tls" / name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u) << name;
  }
}

}  // namespace
}  // namespace meridian::net
