// SPDX-License-Identifier: Apache-2.0
#include "aws/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>

#include "base/json.h"
#include "net/client.h"
#include "net/server.h"

namespace meridian::aws {
namespace {

using base::Json;

// A server that answers one after the other from a script; the last answer stays.
class Scripted {
 public:
  explicit Scripted(std::vector<net::Response> answers)
      : answers_(std::move(answers)),
        server_({.listen = {"127.0.0.1", 0}}, [this](net::Request& q, net::Responder& r) {
          const std::size_t turn = calls++;
          last_target = q.headers.get("x-amz-target");
          last_path = q.path;
          last_body = q.body->read_all(1 << 20);
          r.send(answers_[std::min(turn, answers_.size() - 1)]);
        }) {}

  ServiceClient client() {
    return ServiceClient(http_, clock_,
                         {.endpoint = "http://127.0.0.1:" + std::to_string(server_.port()) + "/",
                          .region = "us-west-2",
                          .service = "sagemaker",
                          .target_prefix = "SageMaker",
                          .credentials = {"AKIDEXAMPLE", "s", ""}});
  }

  std::atomic<std::size_t> calls{0};
  std::string last_target, last_path, last_body;

 private:
  base::SystemClock clock_;
  net::HttpClient http_;
  std::vector<net::Response> answers_;
  net::HttpServer server_;
};

net::Response error(int status, const std::string& type) {
  return {.status = status, .headers = {}, .body = R"({"__type":")" + type + R"(","message":"m"})"};
}

ApiError error_of(ServiceClient client) {
  try {
    client.call("StopTrainingJob", {});
  } catch (const ApiError& error) {
    return error;
  }
  return ApiError("none", "");
}

TEST(ServiceClient, NamesItsOperationAndReadsTheAnswer) {
  Scripted server({{.status = 200, .headers = {}, .body = R"({"A":1})"}});
  EXPECT_EQ(server.client().call("DescribeTrainingJob", {{"TrainingJobName", "a"}}),
            Json(base::JsonObject{{"A", 1}}));
  EXPECT_EQ(server.last_target, "SageMaker.DescribeTrainingJob");
  EXPECT_EQ(server.last_body, R"({"TrainingJobName":"a"})");
  server.client().call_meridian("capacity", {});
  EXPECT_EQ(server.last_path, "/_meridian/v1/capacity");
}

TEST(ServiceClient, AnEmptyAnswerIsAnEmptyObject) {
  Scripted server({{.status = 200, .headers = {}, .body = ""}});
  EXPECT_EQ(server.client().call("StopTrainingJob", {}), Json(base::JsonObject{}));
}

TEST(ServiceClient, TriesAgainWhatMayBeTriedAgain) {
  for (const auto& first : {error(500, "InternalFailure"), error(503, "ServiceUnavailable"),
                            error(400, "ThrottlingException")}) {
    Scripted server({first, {.status = 200, .headers = {}, .body = "{}"}});
    EXPECT_NO_THROW(server.client().call("StopTrainingJob", {}));
    EXPECT_EQ(server.calls, 2u);
  }
}

TEST(ServiceClient, GivesUpAfterItsAttempts) {
  Scripted server({error(503, "ServiceUnavailable")});
  EXPECT_EQ(error_of(server.client()).aws_code(), "ServiceUnavailable");
  EXPECT_EQ(server.calls, 3u);
}

TEST(ServiceClient, DoesNotRepeatARefusal) {
  Scripted server({error(400, "ValidationException")});
  EXPECT_EQ(error_of(server.client()).code(), base::Code::invalid_argument);
  EXPECT_EQ(server.calls, 1u);
}

TEST(ServiceClient, ReadsEveryFormOfAnErrorsCode) {
  net::Response header{.status = 400, .headers = {}, .body = "{}"};
  header.headers.add("x-amzn-ErrorType", "ResourceInUse:http://internal.amazon.com/");
  Scripted by_header({header});
  EXPECT_EQ(error_of(by_header.client()).aws_code(), "ResourceInUse");
  Scripted by_body({error(400, "com.amazonaws#ResourceNotFound")});
  EXPECT_EQ(error_of(by_body.client()).aws_code(), "ResourceNotFound");
  EXPECT_EQ(error_of(by_body.client()).message(), "m");
  Scripted by_nothing({{.status = 404, .headers = {}, .body = "<html>"}});
  EXPECT_EQ(error_of(by_nothing.client()).aws_code(), "HTTP 404");
  EXPECT_THAT(error_of(by_nothing.client()).message(), testing::HasSubstr("<html>"));
}

TEST(ServiceClient, SaysWhatItWasDoing) {
  Scripted server({error(400, "ValidationException")});
  EXPECT_THAT(error_of(server.client()).what(),
              testing::HasSubstr("while calling sagemaker StopTrainingJob in us-west-2"));
}

TEST(ServiceClient, StopsWaitingWhenAsked) {
  Scripted server({error(503, "ServiceUnavailable")});
  std::stop_source stop;
  stop.request_stop();
  try {
    server.client().call("StopTrainingJob", {}, stop.get_token());
    ADD_FAILURE() << "no error";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::Code::cancelled);
  }
}

TEST(ApiError, OfEveryOwnCodeHasACodeAndAStatus) {
  for (int code = 0; code <= static_cast<int>(base::Code::internal); ++code) {
    const auto api = to_api_error(base::Error(static_cast<base::Code>(code), "text"));
    EXPECT_FALSE(api.aws_code().empty());
    EXPECT_GE(api.status(), 400);
    EXPECT_LT(api.status(), 600);
  }
  EXPECT_EQ(to_api_error(base::errno_error(ENOSPC, "writing")).status(), 503);
  EXPECT_THAT(to_api_error(base::Error(base::Code::internal, "a secret")).message(),
              testing::Not(testing::HasSubstr("a secret")));
}

}  // namespace
}  // namespace meridian::aws
