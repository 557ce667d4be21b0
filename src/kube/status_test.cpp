// SPDX-License-Identifier: Apache-2.0
#include "kube/status.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace meridian::kube {
namespace {

using base::Json;

constexpr std::string_view group = "sagemaker.aws.amazon.com";

TEST(Status, TheUsualErrorsUseKubernetesWords) {
  EXPECT_EQ(not_found(group, "trainingjobs", "a").message(),
            "trainingjobs.sagemaker.aws.amazon.com \"a\" not found");
  EXPECT_EQ(not_found("", "secrets", "a").message(), "secrets \"a\" not found");
  EXPECT_EQ(already_exists(group, "models", "m").message(),
            "models.sagemaker.aws.amazon.com \"m\" already exists");
  EXPECT_EQ(conflict("", "secrets", "a", "the object has been modified").message(),
            "Operation cannot be fulfilled on secrets \"a\": the object has been modified");
}

TEST(Status, InvalidNamesEveryCauseOnce) {
  const Cause region{
      .field = "spec.region", .reason = "FieldValueRequired", .message = "Required value"};
  const Cause role{
      .field = "spec.roleArn", .reason = "FieldValueRequired", .message = "Required value"};
  EXPECT_EQ(invalid(group, "TrainingJob", "a", {region}).message(),
            "TrainingJob.sagemaker.aws.amazon.com \"a\" is invalid: spec.region: Required value");
  const auto two = invalid("", "Secret", "a", {region, role, region});
  EXPECT_EQ(two.message(),
            "Secret \"a\" is invalid: [spec.region: Required value, spec.roleArn: Required value]");
  EXPECT_EQ(two.details().causes.size(), 3u);
}

TEST(Status, TheJsonHoldsWhatClientsRead) {
  const Json json =
      invalid(
          group, "TrainingJob", "a",
          {{.field = "spec.region", .reason = "FieldValueRequired", .message = "Required value"}})
          .to_json();
  EXPECT_EQ(json, base::parse_json(R"({"kind":"Status","apiVersion":"v1","metadata":{},
    "status":"Failure","reason":"Invalid","code":422,
    "message":"TrainingJob.sagemaker.aws.amazon.com \"a\" is invalid: spec.region: Required value",
    "details":{"name":"a","group":"sagemaker.aws.amazon.com","kind":"TrainingJob",
      "causes":[{"reason":"FieldValueRequired","message":"Required value","field":"spec.region"}]}})")
                      .value());
  EXPECT_FALSE(bad_request("x").to_json().get_object().contains("details"));
}

TEST(Status, WhatWasWrittenIsReadBack) {
  StatusError sent = not_found(group, "trainingjobs", "a");
  const auto read = parse_status(404, base::to_text(sent.to_json()));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->status(), 404);
  EXPECT_EQ(read->reason(), "NotFound");
  EXPECT_EQ(read->message(), sent.message());
  EXPECT_EQ(read->details().kind, "trainingjobs");
  EXPECT_EQ(read->code(), base::Code::not_found);
}

TEST(Status, RetryableErrorsSayWhen) {
  const auto busy = parse_status(429, R"({"kind":"Status","status":"Failure","code":429,
    "reason":"TooManyRequests","message":"slow down","details":{"retryAfterSeconds":3}})");
  ASSERT_TRUE(busy);
  EXPECT_TRUE(busy->retryable());
  EXPECT_EQ(busy->details().retry_after_seconds, 3);
  EXPECT_FALSE(bad_request("x").retryable());
}

TEST(Status, AnAnswerThatIsNoStatusKeepsItsText) {
  const auto proxy = parse_status(502, "<html>bad gateway</html>");
  ASSERT_TRUE(proxy);
  EXPECT_EQ(proxy->status(), 502);
  EXPECT_TRUE(proxy->retryable());
  EXPECT_NE(proxy->message().find("bad gateway"), std::string::npos);
  EXPECT_EQ(parse_status(403, "")->reason(), "Forbidden");
  EXPECT_FALSE(parse_status(200, R"({"kind":"TrainingJob"})"));
  EXPECT_FALSE(parse_status(200, R"({"kind":"Status","status":"Success"})"));
  EXPECT_FALSE(parse_status(200, "not JSON"));
}

TEST(Status, AStrangeCodeInTheBodyIsNotBelieved) {
  const auto odd = parse_status(500, R"({"kind":"Status","status":"Failure","code":7})");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->status(), 500);
  EXPECT_EQ(odd->reason(), "InternalError");
}

TEST(Status, AnErrorOfAWatchIsAValue) {
  const Json gone = expired("too old resource version: 5 (9)").to_json();
  const auto error = find_status_error(gone);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->status(), 410);
  EXPECT_EQ(error->reason(), "Expired");
  EXPECT_FALSE(find_status_error(Json{{"kind", "TrainingJob"}}));
}

TEST(Status, OtherErrorsBecomeStatusesWithoutInnerDetails) {
  using base::Code;
  EXPECT_EQ(to_status_error(base::Error(Code::invalid_argument, "no")).status(), 400);
  EXPECT_EQ(to_status_error(base::Error(Code::invalid_argument, "no")).reason(), "BadRequest");
  EXPECT_EQ(to_status_error(base::Error(Code::already_exists, "x")).reason(), "AlreadyExists");
  EXPECT_EQ(to_status_error(base::Error(Code::conflict, "x")).reason(), "Conflict");
  EXPECT_EQ(to_status_error(base::Error(Code::unavailable, "x")).status(), 503);
  const auto inner = to_status_error(base::Error(Code::internal, "SQL: disk I/O error"));
  EXPECT_EQ(inner.status(), 500);
  EXPECT_EQ(inner.message().find("SQL"), std::string::npos);
  EXPECT_EQ(to_status_error(not_found("", "secrets", "a")).status(), 404);
}

}  // namespace
}  // namespace meridian::kube
