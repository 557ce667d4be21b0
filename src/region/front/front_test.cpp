// SPDX-License-Identifier: Apache-2.0
#include "region/front/front.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aws/canonical.h"
#include "aws/client.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/xml.h"
#include "net/client.h"

namespace meridian::region::front {
namespace {

using aws::ApiError;
using aws::CallContext;
using base::Json;
using base::JsonObject;
using testing::HasSubstr;

// A Responder that keeps the answer.
class Kept final : public net::Responder {
 public:
  void send(net::Response response) override {
    EXPECT_FALSE(begun_) << "answered twice";
    begun_ = true;
    answer = std::move(response);
  }
  void begin(int status, net::Headers headers) override { send({status, std::move(headers), ""}); }
  void write(std::string_view bytes) override { answer.body += bytes; }
  void send_file(int, std::uint64_t, std::uint64_t) override {}
  bool begun() const override { return begun_; }
  bool peer_gone() const override { return false; }

  net::Response answer;

 private:
  bool begun_ = false;
};

class FrontTest : public testing::Test {
 protected:
  FrontTest() {
    aws::Service sagemaker{.name = "sagemaker", .operations = {}};
    sagemaker.operations["DescribeTrainingJob"] = [this](const CallContext& context,
                                                         const JsonObject& input) -> Json {
      context_ = context;
      if (input.at("TrainingJobName") == "broken") throw std::runtime_error("a secret detail");
      if (input.at("TrainingJobName") == "missing") {
        throw ApiError("ValidationException", "Requested resource not found.");
      }
      return JsonObject{{"TrainingJobName", input.at("TrainingJobName")}};
    };
    sagemaker.operations["StopTrainingJob"] = [this](const CallContext&, const JsonObject&) {
      ++stops_;
      return Json(JsonObject{});
    };
    MeridianCalls calls;
    calls["capacity"] = [](const CallContext& context, const JsonObject& input) {
      return Json(JsonObject{{"region", context.region}, {"echo", input}});
    };
    calls["spot-reclaim"] = calls["capacity"];
    front_.add_region("us-west-2", {sagemaker}, calls);
    front_.add_region("eu-central-1", {}, {});
    front_.serve_s3([this](const net::Request&, const s3::Caller& caller, net::BodyReader& body,
                           const std::function<const net::Headers*()>&, net::Responder& responder) {
      caller_ = caller;
      s3_body_ = body.read_all(1 << 20);
      responder.send({.status = 200, .headers = {}, .body = "s3"});
    });
    admin_ = identity_.ensure_first_key();
  }

  net::Response run(const net::ClientRequest& client) {
    net::Request request;
    request.method = client.method;
    request.headers = client.headers;
    request.headers.add("Host", "127.0.0.1:8470");
    const std::string target = client.url.substr(std::string("http://127.0.0.1:8470").size());
    request.path = target.substr(0, target.find('?'));
    if (target.find('?') != std::string::npos) request.query = target.substr(target.find('?') + 1);
    net::StringBody body(client.body);
    request.body = &body;
    Kept kept;
    front_.handler()(request, kept);
    EXPECT_TRUE(kept.begun());
    return kept.answer;
  }

  struct From {
    std::string service = "sagemaker", region = "us-west-2";
  };
  net::ClientRequest signed_by(const identity::AccessKey& key, net::ClientRequest request,
                               const From& from) {
    aws::sign(request, {key.id, key.secret, key.session_token}, from.region, from.service,
              clock_.now());
    return request;
  }

  net::ClientRequest describe(const std::string& job) {
    return json("SageMaker.DescribeTrainingJob", R"({"TrainingJobName":")" + job + "\"}");
  }
  net::ClientRequest json(const std::string& target, const std::string& body) {
    net::ClientRequest out{.method = "POST", .url = "http://127.0.0.1:8470/"};
    out.headers.add("content-type", "application/x-amz-json-1.1");
    out.headers.add("x-amz-target", target);
    out.body = body;
    return out;
  }
  net::ClientRequest form(const std::string& body) {
    net::ClientRequest out{.method = "POST", .url = "http://127.0.0.1:8470/"};
    out.headers.add("content-type", "application/x-www-form-urlencoded");
    out.body = body;
    return out;
  }
  net::ClientRequest object(const std::string& method, const std::string& body = "") {
    return {
        .method = method, .url = "http://127.0.0.1:8470/bucket/key", .headers = {}, .body = body};
  }

  static std::string type_of(const net::Response& response) {
    return response.headers.get("x-amzn-errortype");
  }
  static std::string code_of(const net::Response& response) {
    const auto xml = base::parse_xml(response.body);
    if (!xml) return "not XML: " + response.body;
    const auto* error = xml->find("Error");
    return error ? error->text_of("Code") : xml->text_of("Code");
  }

  std::unique_ptr<store::Store> store_ = store::open_in_memory();
  base::ManualClock clock_;
  base::SeededRandom random_{1};
  identity::Identity identity_{*store_, clock_, random_};
  Front front_{{}, identity_, clock_, random_};
  identity::AccessKey admin_;
  CallContext context_;
  s3::Caller caller_;
  std::string s3_body_;
  int stops_ = 0;
};

TEST_F(FrontTest, ASignedCallReachesItsHandler) {
  const auto answer = run(signed_by(admin_, describe("a"), {}));
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.body, R"({"TrainingJobName":"a"})");
  EXPECT_EQ(context_.region, "us-west-2");
  EXPECT_EQ(context_.account, "000000000000");
  EXPECT_EQ(context_.principal_arn, "arn:aws:iam::000000000000:user/admin");
  EXPECT_EQ(answer.headers.get("x-amzn-requestid"), context_.request_id);
}

// As botocore signs for all services but S3: the hash is under the signature, not in the head.
TEST_F(FrontTest, ABodyWhoseHashIsNotSentIsHashedFirst) {
  auto request = describe("a");
  const std::string date = base::format_amz_date(clock_.now());
  const std::string scope = date.substr(0, 8) + "/us-west-2/sagemaker/aws4_request";
  request.headers.add("x-amz-date", date);
  const std::string canonical = "POST\n/\n\nhost:127.0.0.1:8470\nx-amz-date:" + date +
                                "\nx-amz-target:SageMaker.DescribeTrainingJob\n\n"
                                "host;x-amz-date;x-amz-target\n" +
                                base::sha256_hex(request.body);
  const auto key = aws::signing_key(admin_.secret, date.substr(0, 8), "us-west-2", "sagemaker");
  request.headers.add(
      "authorization",
      "AWS4-HMAC-SHA256 Credential=" + admin_.id + "/" + scope +
          ", SignedHeaders=host;x-amz-date;x-amz-target, Signature=" +
          base::hex(base::hmac_sha256(key, aws::v4_string_to_sign(date, scope, canonical))));
  EXPECT_EQ(run(request).status, 200);
  request.body += " ";
  EXPECT_EQ(type_of(run(request)), "InvalidSignatureException");
}

TEST_F(FrontTest, ErrorsOfHandlersKeepTheirCode) {
  const auto answer = run(signed_by(admin_, describe("missing"), {}));
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(type_of(answer), "ValidationException");
  EXPECT_THAT(answer.body, HasSubstr("Requested resource not found."));
}

TEST_F(FrontTest, ADefectOfAHandlerShowsNoDetails) {
  const auto answer = run(signed_by(admin_, describe("broken"), {}));
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(type_of(answer), "InternalFailure");
  EXPECT_THAT(answer.body, testing::Not(HasSubstr("secret detail")));
}

TEST_F(FrontTest, InvalidInputIsRefusedBeforeTheHandler) {
  const auto answer = run(signed_by(admin_, describe("a b"), {}));
  EXPECT_EQ(type_of(answer), "ValidationException");
  EXPECT_THAT(answer.body,
              HasSubstr("1 validation error detected: Value 'a b' at 'trainingJobName'"));
  EXPECT_EQ(context_.region, "");
}

TEST_F(FrontTest, UnknownFieldsReachTheHandlerByName) {
  run(signed_by(
      admin_, json("SageMaker.DescribeTrainingJob", R"({"TrainingJobName":"a","Future":{"X":1}})"),
      {}));
  EXPECT_THAT(context_.unknown_fields, testing::ElementsAre("Future"));
}

TEST_F(FrontTest, WhatIsNotImplementedSaysSo) {
  for (const std::string operation : {"CreateModel", "CreateNotebookInstance"}) {
    const auto answer = run(signed_by(admin_, json("SageMaker." + operation, "{}"), {}));
    EXPECT_EQ(type_of(answer), "UnknownOperationException");
    EXPECT_THAT(answer.body, HasSubstr(operation + " is not implemented by Meridian yet"));
  }
}

TEST_F(FrontTest, UnsignedRequestsAreRefusedInTheFormOfTheirService) {
  EXPECT_EQ(type_of(run(describe("a"))), "MissingAuthenticationTokenException");
  EXPECT_EQ(code_of(run(form("Action=GetCallerIdentity"))), "MissingAuthenticationToken");
  EXPECT_EQ(run(form("Action=GetCallerIdentity")).status, 403);
  EXPECT_EQ(code_of(run(object("GET"))), "AccessDenied");
  EXPECT_EQ(run(object("GET")).status, 403);
  EXPECT_EQ(context_.region, "");
}

TEST_F(FrontTest, UnknownKeysAreRefusedInTheFormOfTheirService) {
  identity::AccessKey stranger{.id = "AKIAUNKNOWN", .secret = "s"};
  EXPECT_EQ(type_of(run(signed_by(stranger, describe("a"), {}))), "UnrecognizedClientException");
  EXPECT_EQ(code_of(run(signed_by(stranger, form("Action=GetCallerIdentity"), {"sts"}))),
            "InvalidClientTokenId");
  const auto s3 = run(signed_by(stranger, object("GET"), {"s3"}));
  EXPECT_EQ(code_of(s3), "InvalidAccessKeyId");
  EXPECT_THAT(s3.body, HasSubstr("does not exist in our records: no access key 'AKIAUNKNOWN'"));
}

TEST_F(FrontTest, WrongSecretsAreRefusedInTheFormOfTheirService) {
  identity::AccessKey wrong = admin_;
  wrong.secret = "wrong";
  EXPECT_EQ(type_of(run(signed_by(wrong, describe("a"), {}))), "InvalidSignatureException");
  EXPECT_EQ(code_of(run(signed_by(wrong, form("Action=GetCallerIdentity"), {"sts"}))),
            "SignatureDoesNotMatch");
  const auto s3 = run(signed_by(wrong, object("GET"), {"s3"}));
  EXPECT_EQ(code_of(s3), "SignatureDoesNotMatch");
  EXPECT_THAT(s3.body, HasSubstr("<StringToSign>AWS4-HMAC-SHA256"));
  EXPECT_THAT(s3.body, testing::Not(HasSubstr(admin_.secret)));
}

TEST_F(FrontTest, AnOldRequestIsRefused) {
  const auto call = signed_by(admin_, describe("a"), {});
  const auto get = signed_by(admin_, object("GET"), {"s3"});
  clock_.advance(std::chrono::minutes(16));
  EXPECT_EQ(type_of(run(call)), "InvalidSignatureException");
  EXPECT_THAT(run(call).body, HasSubstr("Signature not yet current or expired"));
  EXPECT_EQ(code_of(run(get)), "RequestTimeTooSkewed");
}

TEST_F(FrontTest, TemporaryKeysNeedTheirTokenAndEnd) {
  auto key = identity_.add_temporary_key(admin_.principal, std::chrono::minutes(30), "");
  EXPECT_EQ(run(signed_by(key, describe("a"), {})).status, 200);
  auto without = key;
  without.session_token.clear();
  EXPECT_EQ(type_of(run(signed_by(without, describe("a"), {}))), "UnrecognizedClientException");
  without.session_token = std::string(key.session_token.size(), 'x');
  EXPECT_EQ(code_of(run(signed_by(without, object("GET"), {"s3"}))), "InvalidToken");
  clock_.advance(std::chrono::minutes(31));
  EXPECT_EQ(type_of(run(signed_by(key, describe("a"), {}))), "ExpiredTokenException");
  EXPECT_EQ(code_of(run(signed_by(key, object("GET"), {"s3"}))), "ExpiredToken");
  EXPECT_EQ(code_of(run(signed_by(key, form("Action=GetCallerIdentity"), {"sts"}))),
            "ExpiredToken");
}

TEST_F(FrontTest, AnUnservedRegionIsNamedWithThoseServed) {
  const auto call = run(signed_by(admin_, describe("a"), {"sagemaker", "ap-south-1"}));
  EXPECT_THAT(call.body, HasSubstr("region 'ap-south-1' is not served here"));
  EXPECT_THAT(call.body, HasSubstr("eu-central-1, us-west-2"));
}

TEST_F(FrontTest, S3IsLeftToSayWhichRegionABucketIsIn) {
  EXPECT_EQ(run(signed_by(admin_, object("GET"), {"s3", "us-east-1"})).body, "s3");
  EXPECT_EQ(caller_.region, "us-east-1");
}

TEST_F(FrontTest, ViewersOnlyRead) {
  const auto viewer = identity_.add_key("ann", identity::Role::viewer);
  EXPECT_EQ(run(signed_by(viewer, describe("a"), {})).status, 200);
  const auto stop =
      run(signed_by(viewer, json("SageMaker.StopTrainingJob", R"({"TrainingJobName":"a"})"), {}));
  EXPECT_EQ(type_of(stop), "AccessDeniedException");
  EXPECT_THAT(stop.body, HasSubstr("not authorized to perform: sagemaker:StopTrainingJob"));
  EXPECT_EQ(stops_, 0);
  EXPECT_EQ(
      code_of(run(signed_by(
          viewer, form("Action=CreateRole&RoleName=a&AssumeRolePolicyDocument=%7B%7D"), {"iam"}))),
      "AccessDenied");
  run(signed_by(viewer, object("GET"), {"s3"}));
  EXPECT_FALSE(caller_.may_write);
}

TEST_F(FrontTest, KeysOfJobsReachOnlyWhatJobsNeed) {
  const auto key = identity_.add_temporary_key({.name = "job",
                                                .arn = "arn:job",
                                                .role = identity::Role::editor,
                                                .scope = identity::Scope::job},
                                               std::chrono::hours(1), "job/us-west-2/a");
  EXPECT_EQ(run(signed_by(key, describe("a"), {})).status, 200);
  EXPECT_EQ(run(signed_by(key, object("GET"), {"s3"})).status, 200);
  EXPECT_EQ(run(signed_by(key, form("Action=GetCallerIdentity"), {"sts"})).status, 200);
  EXPECT_EQ(code_of(run(signed_by(key, form("Action=ListRoles"), {"iam"}))), "AccessDenied");
  net::ClientRequest own{.method = "POST", .url = "http://127.0.0.1:8470/_meridian/v1/capacity"};
  EXPECT_EQ(type_of(run(signed_by(key, own, {"meridian"}))), "AccessDeniedException");
  identity_.remove_keys_of("job/us-west-2/a");
  EXPECT_EQ(type_of(run(signed_by(key, describe("a"), {}))), "UnrecognizedClientException");
}

TEST_F(FrontTest, S3SeesTheVerifiedBodyAndItsCaller) {
  EXPECT_EQ(run(signed_by(admin_, object("PUT", "hello"), {"s3", "eu-central-1"})).body, "s3");
  EXPECT_EQ(s3_body_, "hello");
  EXPECT_EQ(caller_.region, "eu-central-1");
  EXPECT_EQ(caller_.principal_arn, admin_.principal.arn);
  EXPECT_TRUE(caller_.may_write);
}

TEST_F(FrontTest, S3NeverSeesABodyOtherThanTheSignedOne) {
  auto put = signed_by(admin_, object("PUT", "hello"), {"s3"});
  put.body = "Hello";
  const auto answer = run(put);
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(code_of(answer), "XAmzContentSHA256Mismatch");
  EXPECT_EQ(s3_body_, "");
}

TEST_F(FrontTest, PresignedUrlsReachS3) {
  const std::string url =
      aws::presign("GET", "http://127.0.0.1:8470/bucket/key", {admin_.id, admin_.secret, ""},
                   "us-west-2", "s3", clock_.now(), std::chrono::minutes(5));
  EXPECT_EQ(run({.method = "GET", .url = url}).body, "s3");
  clock_.advance(std::chrono::minutes(6));
  EXPECT_EQ(run({.method = "GET", .url = url}).status, 403);
}

TEST_F(FrontTest, SigV2UrlsReachS3InNoRegion) {
  const auto expires = std::to_string(clock_.now().ms / 1000 + 60);
  const std::string text = "GET\n\n\n" + expires + "\n/bucket/key";
  const std::string url =
      "http://127.0.0.1:8470/bucket/key?AWSAccessKeyId=" + admin_.id + "&Expires=" + expires +
      "&Signature=" + base::percent_encode(base::base64(base::hmac_sha1(admin_.secret, text)));
  EXPECT_EQ(run({.method = "GET", .url = url}).body, "s3");
  EXPECT_EQ(caller_.region, "");
  EXPECT_EQ(run({.method = "DELETE", .url = url}).status, 403);
}

TEST_F(FrontTest, PreflightRequestsReachS3Unsigned) {
  net::ClientRequest options = object("OPTIONS");
  options.headers.add("Origin", "http://x");
  EXPECT_EQ(run(options).body, "s3");
  EXPECT_FALSE(caller_.may_write);
}

TEST_F(FrontTest, StsTellsWhoCalls) {
  const auto answer = run(
      signed_by(admin_, form("Action=GetCallerIdentity&Version=2011-06-15"), {"sts", "us-east-1"}));
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr("<Arn>arn:aws:iam::000000000000:user/admin</Arn>"));
  EXPECT_THAT(answer.body, HasSubstr("<Account>000000000000</Account>"));
}

TEST_F(FrontTest, AnAssumedRoleCallsWithTheRightsOfItsCaller) {
  const auto viewer = identity_.add_key("ann", identity::Role::viewer);
  const std::string call = "Action=AssumeRole&RoleSessionName=s1&RoleArn=" +
                           base::percent_encode("arn:aws:iam::999999999999:role/x/trainer");
  const auto answer = run(signed_by(viewer, form(call), {"sts"}));
  const auto xml = base::parse_xml(answer.body);
  ASSERT_EQ(answer.status, 200) << answer.body;
  const auto* keys = xml->find("AssumeRoleResult")->find("Credentials");
  identity::AccessKey assumed{.id = keys->text_of("AccessKeyId"),
                              .secret = keys->text_of("SecretAccessKey"),
                              .session_token = keys->text_of("SessionToken")};
  EXPECT_EQ(run(signed_by(assumed, describe("a"), {})).status, 200);
  EXPECT_EQ(context_.principal_arn, "arn:aws:sts::000000000000:assumed-role/trainer/s1");
  EXPECT_FALSE(context_.may_write);
  EXPECT_EQ(code_of(run(signed_by(
                viewer, form("Action=AssumeRole&RoleSessionName=s1&RoleArn=role%2Ftrainer-of-old"),
                {"sts"}))),
            "ValidationError");
}

TEST_F(FrontTest, ARoleAssumedByAJobEndsWithTheJob) {
  const auto job =
      identity_.add_temporary_key({.name = "job", .arn = "arn:job", .role = identity::Role::editor},
                                  std::chrono::hours(1), "job/us-west-2/a");
  const auto answer = run(signed_by(job, form("Action=GetSessionToken"), {"sts"}));
  ASSERT_EQ(answer.status, 200) << answer.body;
  const auto id = base::parse_xml(answer.body)
                      ->find("GetSessionTokenResult")
                      ->find("Credentials")
                      ->text_of("AccessKeyId");
  EXPECT_TRUE(identity_.find_key(id));
  identity_.remove_keys_of("job/us-west-2/a");
  EXPECT_FALSE(identity_.find_key(id));
}

TEST_F(FrontTest, IamKeepsRoles) {
  const std::string create = "Action=CreateRole&RoleName=trainer&AssumeRolePolicyDocument=" +
                             base::percent_encode(R"({"Version":"2012-10-17"})");
  EXPECT_EQ(run(signed_by(admin_, form(create), {"iam", "us-east-1"})).status, 200);
  EXPECT_EQ(code_of(run(signed_by(admin_, form(create), {"iam"}))), "EntityAlreadyExists");
  const auto got = run(signed_by(admin_, form("Action=GetRole&RoleName=trainer"), {"iam"}));
  EXPECT_THAT(got.body, HasSubstr("<Arn>arn:aws:iam::000000000000:role/trainer</Arn>"));
  EXPECT_THAT(got.body, HasSubstr("%7B%22Version%22"));
  EXPECT_EQ(code_of(run(signed_by(admin_, form("Action=GetRole&RoleName=none"), {"iam"}))),
            "NoSuchEntity");
}

TEST_F(FrontTest, RolesAreListedPageByPage) {
  for (const std::string name : {"a", "b", "c"}) identity_.create_role({.name = name});
  const auto first = run(signed_by(admin_, form("Action=ListRoles&MaxItems=2"), {"iam"}));
  EXPECT_THAT(first.body, HasSubstr("<IsTruncated>true</IsTruncated><Marker>b</Marker>"));
  const auto second = run(signed_by(admin_, form("Action=ListRoles&Marker=b"), {"iam"}));
  EXPECT_THAT(second.body, HasSubstr("<RoleName>c</RoleName>"));
  EXPECT_THAT(second.body, HasSubstr("<IsTruncated>false</IsTruncated>"));
}

TEST_F(FrontTest, MeridianCallsAreServedPerRegion) {
  net::ClientRequest call{.method = "POST", .url = "http://127.0.0.1:8470/_meridian/v1/capacity"};
  call.body = R"({"a":1})";
  EXPECT_EQ(run(signed_by(admin_, call, {"meridian"})).body,
            R"({"region":"us-west-2","echo":{"a":1}})");
  const auto absent = run(signed_by(admin_, call, {"meridian", "eu-central-1"}));
  EXPECT_EQ(absent.status, 404);
  EXPECT_THAT(absent.body, HasSubstr("no call 'capacity' here"));
  const auto viewer = identity_.add_key("ann", identity::Role::viewer);
  EXPECT_EQ(run(signed_by(viewer, call, {"meridian"})).status, 200);
  call.url = "http://127.0.0.1:8470/_meridian/v1/spot-reclaim";
  EXPECT_EQ(type_of(run(signed_by(viewer, call, {"meridian"}))), "AccessDeniedException");
}

TEST_F(FrontTest, ABodyPastTheLimitIsRefused) {
  auto call = json("SageMaker.DescribeTrainingJob", std::string(9 << 20, ' '));
  const auto answer = run(signed_by(admin_, call, {}));
  EXPECT_GE(answer.status, 400);
  EXPECT_EQ(type_of(answer), "RequestEntityTooLargeException");
}

TEST_F(FrontTest, OneOperationGivenTwiceIsADefect) {
  aws::Service again{.name = "sagemaker", .operations = {}};
  again.operations["StopTrainingJob"] = nullptr;
  EXPECT_THROW(front_.add_region("us-west-2", {again}), base::Error);
}

// Over a real socket, with the client that the rest of Meridian uses.
TEST_F(FrontTest, ServiceClientAndServerUnderstandEachOther) {
  net::HttpServer server({.listen = {"127.0.0.1", 0}}, front_.handler());
  net::HttpClient http;
  aws::ClientSettings settings{.endpoint = "http://127.0.0.1:" + std::to_string(server.port()),
                               .region = "us-west-2",
                               .service = "sagemaker",
                               .target_prefix = "SageMaker",
                               .credentials = {admin_.id, admin_.secret, ""}};
  aws::ServiceClient client(http, clock_, settings);
  EXPECT_EQ(base::string_or(client.call("DescribeTrainingJob", {{"TrainingJobName", "a"}}),
                            "TrainingJobName"),
            "a");
  EXPECT_EQ(base::string_or(client.call_meridian("capacity", {}), "region"), "us-west-2");
  EXPECT_EQ(client.call("StopTrainingJob", {{"TrainingJobName", "a"}}), Json(JsonObject{}));
  try {
    client.call("DescribeTrainingJob", {{"TrainingJobName", "missing"}});
    ADD_FAILURE() << "no error";
  } catch (const ApiError& error) {
    EXPECT_EQ(error.aws_code(), "ValidationException");
    EXPECT_EQ(error.message(), "Requested resource not found.");
  }
}

}  // namespace
}  // namespace meridian::region::front
