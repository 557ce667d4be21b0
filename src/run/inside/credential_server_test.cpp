// SPDX-License-Identifier: Apache-2.0
#include "run/inside/credential_server.h"

#include <gmock/gmock.h>

#include "run/test_instances.h"

namespace meridian::run {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

const JobCredentials kKeys{
    "ASIA1", "secret", "token", "arn:aws:iam::000000000000:role/r", {1'767'225'600'000}};

TEST(CredentialAnswer, IsWhatContainerClientsRead) {
  EXPECT_THAT(credential_answer("GET /keys HTTP/1.1\r\n\r\n", "/keys", kKeys),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"),
                    EndsWith(R"({"RoleArn":"arn:aws:iam::000000000000:role/r",)"
                             R"("AccessKeyId":"ASIA1","SecretAccessKey":"secret",)"
                             R"("Token":"token","Expiration":"2026-01-01T00:00:00Z"})")));
}

TEST(CredentialAnswer, IsForTheOnePathOnly) {
  for (const char* line : {"GET / HTTP/1.1", "GET /keys2 HTTP/1.1", "GET /key HTTP/1.1", "GET "})
    EXPECT_THAT(credential_answer(std::string(line) + "\r\n\r\n", "/keys", kKeys),
                StartsWith("HTTP/1.1 404 "))
        << line;
  EXPECT_THAT(credential_answer("PUT /keys HTTP/1.1\r\n\r\n", "/keys", kKeys),
              StartsWith("HTTP/1.1 405 "));
}

class Credentials : public Instances {
 protected:
  std::vector<std::string> output_of(const std::string& program, Network network) {
    InstanceSpec spec = script("");
    spec.argv = {"/usr/bin/python3", "-c", "import os, urllib.request\n" + program};
    spec.network = network;
    spec.credentials = kKeys;
    EXPECT_EQ(run(spec).exit->code, 0);
    return output();
  }
};

TEST_F(Credentials, AreFoundByTheRelativeAddressInAGang) {
  EXPECT_THAT(output_of("u = 'http://169.254.170.2' + "
                        "os.environ['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI']\n"
                        "print(urllib.request.urlopen(u).read().decode())\n",
                        Network::isolated),
              ElementsAre(HasSubstr(R"("AccessKeyId":"ASIA1")")));
}

TEST_F(Credentials, AreFoundByTheFullAddressOnTheHostsNetwork) {
  EXPECT_THAT(output_of("u = os.environ['AWS_CONTAINER_CREDENTIALS_FULL_URI']\n"
                        "print(u.startswith('http://127.0.0.1:'), "
                        "urllib.request.urlopen(u).read().decode())\n",
                        Network::host),
              ElementsAre(StartsWith(R"(True {"RoleArn")")));
}

}  // namespace
}  // namespace meridian::run
