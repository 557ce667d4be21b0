// SPDX-License-Identifier: Apache-2.0
#include "aws/credential_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "net/server.h"

namespace meridian::aws {
namespace {

class CredentialChainTest : public testing::Test {
 protected:
  CredentialChain chain() {
    return CredentialChain(
        http, clock,
        {.environment = [this](const std::string& name) { return variables[name]; },
         .sts_endpoint = url,
         .metadata_endpoint = url});
  }
  void answer(net::Request& request, net::Responder& responder) {
    asked.push_back(request.method + " " + request.path);
    net::Response response;
    if (request.path == "/") {
      form = request.body->read_all(10'000);
      response.body =
          "<R><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIAWEB</AccessKeyId>"
          "<SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>"
          "<Expiration>" +
          expiration +
          "</Expiration></Credentials>"
          "</AssumeRoleWithWebIdentityResult></R>";
    } else if (request.path == "/latest/api/token") {
      response.body = "token-1";
    } else if (request.path.ends_with("/security-credentials/")) {
      response.body = "role-a\n";
    } else {
      token =
          request.headers.get("X-aws-ec2-metadata-token") + request.headers.get("Authorization");
      response.body =
          R"({"AccessKeyId": "ASIAMETA", "SecretAccessKey": "s", "Token": "t", "Expiration": ")" +
          expiration + "\"}";
    }
    responder.send(response);
  }

  std::map<std::string, std::string> variables;
  std::vector<std::string> asked;
  std::string form, token, expiration = "2023-11-14T23:13:20Z";  // an hour after the clock's start
  base::ManualClock clock;
  net::HttpClient http;
  net::HttpServer server{{}, [this](net::Request& q, net::Responder& r) { answer(q, r); }};
  const std::string url = "http://127.0.0.1:" + std::to_string(server.port());
};

TEST_F(CredentialChainTest, TheEnvironmentComesFirst) {
  variables = {{"AWS_ACCESS_KEY_ID", "AKIA"}, {"AWS_SECRET_ACCESS_KEY", "s"}};
  EXPECT_EQ(chain().current().access_key_id, "AKIA");
  EXPECT_TRUE(asked.empty());
}

TEST_F(CredentialChainTest, AWebIdentityTokenIsChangedForKeys) {
  const std::string file = testing::TempDir() + "web-identity";
  std::ofstream(file) << "a.b+c\n";
  variables = {{"AWS_WEB_IDENTITY_TOKEN_FILE", file}, {"AWS_ROLE_ARN", "arn:aws:iam::1:role/x"}};
  EXPECT_EQ(chain().current().access_key_id, "ASIAWEB");
  EXPECT_THAT(form, testing::HasSubstr("WebIdentityToken=a.b%2Bc"));
}

TEST_F(CredentialChainTest, AProfileThatIsNamedMustBeThere) {
  const std::string file = testing::TempDir() + "shared-credentials";
  std::ofstream(file) << "[team]\naws_access_key_id = AKIATEAM\naws_secret_access_key = s\n";
  variables = {{"AWS_SHARED_CREDENTIALS_FILE", file}, {"AWS_PROFILE", "team"}};
  EXPECT_EQ(chain().current().access_key_id, "AKIATEAM");
  variables["AWS_PROFILE"] = "other";
  EXPECT_THROW(chain().current(), base::Error);
}

TEST_F(CredentialChainTest, TheMetadataServiceIsAskedLastWithItsToken) {
  EXPECT_EQ(chain().current().access_key_id, "ASIAMETA");
  EXPECT_EQ(token, "token-1");
  EXPECT_THAT(asked, testing::ElementsAre("PUT /latest/api/token",
                                          "GET /latest/meta-data/iam/security-credentials/",
                                          "GET /latest/meta-data/iam/security-credentials/role-a"));
}

TEST_F(CredentialChainTest, KeysAreKeptUntilFiveMinutesBeforeTheirEnd) {
  variables = {{"AWS_CONTAINER_CREDENTIALS_FULL_URI", url + "/keys"}};
  auto one = chain();
  one.current();
  clock.advance(base::Duration(54 * 60'000));
  one.current();
  EXPECT_EQ(asked.size(), 1u);
  clock.advance(base::Duration(2 * 60'000));
  one.current();
  EXPECT_EQ(asked.size(), 2u);
}

}  // namespace
}  // namespace meridian::aws
