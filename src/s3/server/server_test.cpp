// Who may do what, and where; the protocol itself is tested by real clients (tests/e2e/test_s3_*).
//
// SPDX-License-Identifier: Apache-2.0
#include "s3/server/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "s3/store/test_store.h"

namespace meridian::s3 {
namespace {

using testing::HasSubstr;

class Recorder final : public net::Responder {
 public:
  void send(net::Response response) override { answer = std::move(response); }
  void begin(int status, net::Headers headers) override {
    begun_ = true;
    answer = {.status = status, .headers = std::move(headers)};
  }
  void write(std::string_view bytes) override { answer.body += bytes; }
  void send_file(int, std::uint64_t, std::uint64_t count) override { sent_from_file += count; }
  bool begun() const override { return begun_; }
  bool peer_gone() const override { return false; }

  net::Response answer;
  std::uint64_t sent_from_file = 0;

 private:
  bool begun_ = false;
};

class ServerTest : public testing::Test {
 protected:
  Recorder ask(const std::string& method, const std::string& path, Caller caller,
               const std::string& body = "") {
    net::StringBody reader(body);
    const auto question = path.find('?');
    const net::Request request{
        .method = method,
        .target = path,
        .path = path.substr(0, question),
        .query = question == std::string::npos ? "" : path.substr(question + 1),
        .body = &reader};
    Recorder recorder;
    server_.handle(request, caller, reader, {}, recorder);
    return recorder;
  }
  int status(const std::string& method, const std::string& path, Caller caller) {
    return ask(method, path, std::move(caller), "x").answer.status;
  }

  TestStore west_{"us-west-2"}, east_{"us-east-1"};
  Server server_{{&west_.store, &east_.store}, west_.clock, west_.random};
  Caller owner_{.account = "000000000000", .region = "us-west-2"};

  ServerTest() {
    east_.store.remove_bucket("data");
    east_.store.create_bucket({.name = "east", .account = "000000000000"});
    west_.store.put_bytes("data", "k", "body");
  }
};

TEST_F(ServerTest, AViewerReadsAndWritesNothing) {
  auto viewer = owner_;
  viewer.may_write = false;
  EXPECT_EQ(status("GET", "/data/k", viewer), 200);
  EXPECT_EQ(status("GET", "/data?list-type=2", viewer), 200);
  for (const auto& [method, path] :
       std::vector<std::pair<std::string, std::string>>{{"PUT", "/data/k"},
                                                        {"DELETE", "/data/k"},
                                                        {"PUT", "/new-bucket"},
                                                        {"DELETE", "/data"},
                                                        {"POST", "/data?delete"},
                                                        {"POST", "/data/k?uploads"},
                                                        {"PUT", "/data?versioning"}}) {
    const auto answer = ask(method, path, viewer, "x").answer;
    EXPECT_EQ(answer.status, 403) << method << path;
    EXPECT_THAT(answer.body, HasSubstr("<Code>AccessDenied</Code>"));
  }
  EXPECT_EQ(contents(west_.store, "data", "k"), "body");
}

TEST_F(ServerTest, AnotherAccountAndNobodyAreRefused) {
  for (const char* account : {"111111111111", ""}) {
    const Caller other{.account = account, .region = "us-west-2"};
    EXPECT_EQ(status("GET", "/data/k", other), 403);
    EXPECT_EQ(status("PUT", "/data/k", other), 403);
    EXPECT_EQ(status("GET", "/data", other), 403);
  }
}

TEST_F(ServerTest, AnotherRegionsBucketIsARedirectThatNamesTheRegion) {
  for (const char* method : {"GET", "HEAD", "PUT", "DELETE"}) {
    const auto answer = ask(method, "/east/k", owner_, "x").answer;
    EXPECT_EQ(answer.status, 301) << method;
    EXPECT_EQ(answer.headers.get("x-amz-bucket-region"), "us-east-1");
  }
  auto unscoped = owner_;
  unscoped.region = "";  // SigV2 names no region
  EXPECT_EQ(status("PUT", "/east/k", unscoped), 200);
  EXPECT_EQ(contents(east_.store, "east", "k"), "x");
}

TEST_F(ServerTest, ABucketOfWhichNobodySaysWhereGoesToTheInstallationsFirstRegion) {
  auto unscoped = owner_;
  unscoped.region = "";
  EXPECT_EQ(ask("PUT", "/by-sigv2", unscoped).answer.status, 200);
  EXPECT_TRUE(west_.store.find_bucket("by-sigv2"));
  auto elsewhere = owner_;
  elsewhere.region = "ap-south-1";
  EXPECT_EQ(ask("PUT", "/by-aws-default", elsewhere).answer.status, 200);
  EXPECT_TRUE(west_.store.find_bucket("by-aws-default"));
  auto east = owner_;
  east.region = "us-east-1";
  EXPECT_EQ(ask("PUT", "/signed-for-east", east).answer.status, 200);
  EXPECT_TRUE(east_.store.find_bucket("signed-for-east"));
  EXPECT_EQ(ask("PUT", "/nowhere", owner_,
                "<CreateBucketConfiguration><LocationConstraint>mars-1</LocationConstraint>"
                "</CreateBucketConfiguration>")
                .answer.status,
            400);
}

TEST_F(ServerTest, ASubResourceThatIsNotThereNeverFallsThrough) {
  for (const auto& [method, path] :
       std::vector<std::pair<std::string, std::string>>{{"PUT", "/data/k?retention"},
                                                        {"DELETE", "/data?inventory"},
                                                        {"DELETE", "/data/k?acl"},
                                                        {"GET", "/data/k?torrent"},
                                                        {"PUT", "/data?website"}}) {
    const auto answer = ask(method, path, owner_, "x").answer;
    EXPECT_EQ(answer.status, 501) << method << path;
    EXPECT_THAT(answer.body, HasSubstr("<Code>NotImplemented</Code>"));
  }
  EXPECT_EQ(contents(west_.store, "data", "k"), "body");
}

const std::string policy =
    R"({"Statement":{"Effect":"Deny","Principal":"*","Action":"s3:*","Resource":"*"}})";
const std::string public_policy =
    R"({"Statement":[{"Effect":"Allow","Principal":{"AWS":["*"]},"Action":"s3:GetObject",)"
    R"("Resource":"*"}]})";

TEST_F(ServerTest, ASettingThatPromisesSecurityIsStoredAndSaysThatItIsNotEnforced) {
  const std::string encryption =
      "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault>"
      "<SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault></Rule>"
      "</ServerSideEncryptionConfiguration>";
  for (const auto& [path, document] : std::vector<std::pair<std::string, std::string>>{
           {"/data?policy", policy}, {"/data?encryption", encryption}}) {
    EXPECT_EQ(ask("GET", path, owner_).answer.status, 404);
    const auto put = ask("PUT", path, owner_, document).answer;
    EXPECT_EQ(put.status / 100, 2) << put.body;
    EXPECT_THAT(put.headers.get("warning"), HasSubstr("not enforced"));
    EXPECT_EQ(ask("GET", path, owner_).answer.body, document);
    EXPECT_EQ(ask("DELETE", path, owner_).answer.status, 204);
    EXPECT_EQ(ask("GET", path, owner_).answer.status, 404);
  }
}

TEST_F(ServerTest, AStrictServerRefusesWhatItDoesNotEnforce) {
  Server strict({&west_.store}, west_.clock, west_.random, {.refuse_unenforced = true});
  net::StringBody body(policy);
  const net::Request request{
      .method = "PUT", .target = "/data?policy", .path = "/data", .query = "policy", .body = &body};
  Recorder recorder;
  strict.handle(request, owner_, body, {}, recorder);
  EXPECT_EQ(recorder.answer.status, 501);
  EXPECT_THAT(recorder.answer.body, HasSubstr("--strict"));
}

TEST_F(ServerTest, APublicPolicyIsRefusedUnlessTheBucketAllowsSuch) {
  EXPECT_EQ(status("PUT", "/data?policy", owner_), 400) << "x is no policy";
  EXPECT_EQ(ask("PUT", "/data?policy", owner_, public_policy).answer.status, 403);
  EXPECT_EQ(ask("PUT", "/data?publicAccessBlock", owner_,
                "<PublicAccessBlockConfiguration><BlockPublicPolicy>false</BlockPublicPolicy>"
                "</PublicAccessBlockConfiguration>")
                .answer.status,
            200);
  EXPECT_EQ(ask("PUT", "/data?policy", owner_, public_policy).answer.status, 204);
  EXPECT_EQ(status("GET", "/data/k", Caller{}), 403) << "not enforced: nobody comes in";
  EXPECT_EQ(status("DELETE", "/data?publicAccessBlock", owner_), 204);
  EXPECT_EQ(status("GET", "/data?publicAccessBlock", owner_), 404);
}

TEST_F(ServerTest, ASettingWithOneValueIsAcceptedWhenItSaysSo) {
  const auto put = [&](const std::string& what, const std::string& document) {
    return ask("PUT", "/data?" + what, owner_, document).answer;
  };
  EXPECT_EQ(put("notification", "<NotificationConfiguration/>").status, 200);
  const auto refused = put("notification",
                           "<NotificationConfiguration><QueueConfiguration/>"
                           "</NotificationConfiguration>");
  EXPECT_EQ(refused.status, 501);
  EXPECT_THAT(refused.body, HasSubstr("list the bucket"));
  EXPECT_EQ(put("ownershipControls",
                "<OwnershipControls><Rule><ObjectOwnership>BucketOwnerEnforced</ObjectOwnership>"
                "</Rule></OwnershipControls>")
                .status,
            200);
  EXPECT_EQ(put("ownershipControls",
                "<OwnershipControls><Rule><ObjectOwnership>ObjectWriter</ObjectOwnership></Rule>"
                "</OwnershipControls>")
                .status,
            501);
  EXPECT_EQ(put("requestPayment", "<x/>").status, 400);
}

TEST_F(ServerTest, ALifeCycleWithAFilterThatIsNotUnderstoodIsRefused) {
  const auto put = [&](const std::string& filter) {
    return ask("PUT", "/data?lifecycle", owner_,
               "<LifecycleConfiguration><Rule><Status>Enabled</Status>" + filter +
                   "<Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>")
        .answer;
  };
  EXPECT_EQ(put("<Filter><Prefix>a/</Prefix></Filter>").status, 200);
  const auto refused = put("<Filter><Owner>me</Owner></Filter>");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("Owner"));
}

TEST_F(ServerTest, WhatIsNotImplementedSaysWhatToDoInstead) {
  EXPECT_THAT(ask("PUT", "/data?object-lock", owner_, "x").answer.body, HasSubstr("versioning"));
  EXPECT_THAT(ask("POST", "/data", owner_, "x").answer.body, HasSubstr("presigned"));
}

TEST_F(ServerTest, ALargeObjectGoesOutFromItsFile) {
  west_.store.put_bytes("data", "large", std::string(300'000, 'x'));
  const auto recorder = ask("GET", "/data/large", owner_);
  EXPECT_EQ(recorder.sent_from_file, 300'000u);
  EXPECT_EQ(recorder.answer.headers.get("content-length"), "300000");
  const auto head = ask("HEAD", "/data/large", owner_);
  EXPECT_EQ(head.sent_from_file, 0u);
  EXPECT_EQ(head.answer.headers.get("content-length"), "300000");
}

TEST_F(ServerTest, DamagedContentIsAnErrorAndNotServed) {
  const auto file = *west_.store.find_file("data", "k");
  std::filesystem::permissions(file, std::filesystem::perms(0644));
  base::write_file(file, "cut");
  const auto answer = ask("GET", "/data/k", owner_).answer;
  EXPECT_EQ(answer.status, 500);
  EXPECT_THAT(answer.body, HasSubstr("<Code>InternalError</Code>"));
}

}  // namespace
}  // namespace meridian::s3
