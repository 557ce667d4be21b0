// SPDX-License-Identifier: Apache-2.0
#include "aws/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aws/cbor.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/xml.h"

namespace meridian::aws {
namespace {

using base::Json;
using base::JsonObject;
using testing::HasSubstr;

net::Request post(std::string path, std::vector<std::pair<std::string, std::string>> headers) {
  net::Request out;
  out.method = "POST";
  out.path = std::move(path);
  for (auto& [name, value] : headers) out.headers.add(name, value);
  return out;
}

struct Decoded {
  CallForm form;
  Call call;
};

Decoded decode(const net::Request& request, std::string_view service, std::string_view body) {
  Decoded out{identify(request, service), {}};
  out.call = decode(out.form, request, body);
  return out;
}

std::string error_of(const net::Request& request, std::string_view service, std::string_view body) {
  try {
    decode(request, service, body);
  } catch (const ApiError& error) {
    return error.aws_code() + ": " + error.message();
  }
  return "";
}

net::Request json_call(std::string target) {
  return post("/", {{"Content-Type", "application/x-amz-json-1.1"}, {"X-Amz-Target", target}});
}

net::Request form_call() {
  return post("/", {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}});
}

TEST(Protocol, TargetNamesServiceAndOperation) {
  const auto seen =
      decode(json_call("SageMaker.DescribeTrainingJob"), "sagemaker", R"({"TrainingJobName":"a"})");
  EXPECT_EQ(seen.form.protocol, Protocol::json_1_1);
  EXPECT_EQ(seen.form.model->name(), "sagemaker");
  EXPECT_EQ(seen.call.operation->name, "DescribeTrainingJob");
  EXPECT_EQ(seen.call.input.at("TrainingJobName"), "a");
  EXPECT_EQ(decode(json_call("Logs_20140328.GetLogEvents"), "logs", "{}").form.model->name(),
            "logs");
  EXPECT_EQ(decode(json_call("AnyScaleFrontendService.DescribeScalingPolicies"),
                   "application-autoscaling", "")
                .form.model->name(),
            "application-autoscaling");
}

TEST(Protocol, UnknownOperationsAreToldApart) {
  EXPECT_EQ(error_of(json_call("SageMaker.CreateNotebookInstance"), "sagemaker", "{}"),
            "UnknownOperationException: sagemaker CreateNotebookInstance is not implemented by "
            "Meridian yet");
  EXPECT_EQ(
      error_of(json_call("SageMaker.CreateTraningJob"), "sagemaker", "{}"),
      "UnknownOperationException: sagemaker has no operation 'CreateTraningJob'; did you mean "
      "CreateTrainingJob?");
  EXPECT_THAT(error_of(json_call("DynamoDB_20120810.GetItem"), "dynamodb", "{}"),
              HasSubstr("Meridian serves no such API"));
}

TEST(Protocol, ABodyThatIsNoObjectIsRefused) {
  for (const std::string_view body : {"[1]", "{", "{} x", "\"a\""}) {
    EXPECT_THAT(error_of(json_call("SageMaker.ListTrainingJobs"), "sagemaker", body),
                HasSubstr("SerializationException: the body"))
        << body;
  }
}

TEST(Protocol, JsonErrorsCarryTypeAndMessage) {
  const CallForm form = identify(json_call("SageMaker.DescribeTrainingJob"), "sagemaker");
  const auto response =
      encode_error(form, ApiError("ValidationException", "Requested resource not found."), "id-1");
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.headers.get("x-amzn-ErrorType"), "ValidationException");
  EXPECT_EQ(response.headers.get("x-amzn-RequestId"), "id-1");
  EXPECT_EQ(response.body,
            R"({"__type":"ValidationException","message":"Requested resource not found."})");
}

TEST(Protocol, AnOperationWithoutOutputAnswersNothing) {
  const CallForm form = identify(json_call("SageMaker.StopTrainingJob"), "sagemaker");
  EXPECT_EQ(encode(form, *form.model->find_operation("StopTrainingJob"), JsonObject{}, "i").body,
            "");
}

TEST(Protocol, QueryFieldsBecomeATree) {
  const auto seen =
      decode(form_call(), "monitoring",
             "Action=PutMetricData&Version=2010-08-01&Namespace=N%2F1"
             "&MetricData.member.1.MetricName=loss&MetricData.member.1.Value=0.5"
             "&MetricData.member.1.Timestamp=2026-01-31T12%3A00%3A00Z"
             "&MetricData.member.1.Dimensions.member.1.Name=Job"
             "&MetricData.member.1.Dimensions.member.1.Value=a+b&MetricData.member.2.MetricName=acc"
             "&MetricData.member.2.StorageResolution=1");
  EXPECT_EQ(seen.form.protocol, Protocol::query);
  EXPECT_EQ(seen.form.operation, "PutMetricData");
  EXPECT_EQ(base::to_text(seen.call.input, base::JsonStyle::sorted),
            R"({"MetricData":[{"Dimensions":[{"Name":"Job","Value":"a b"}],"MetricName":"loss",)"
            R"("Timestamp":"2026-01-31T12:00:00Z","Value":0.5},)"
            R"({"MetricName":"acc","StorageResolution":1}],"Namespace":"N/1"})");
}

TEST(Protocol, QueryListsKeepTheirOrder) {
  std::string body = "Action=DescribeAlarms";
  for (int i = 12; i >= 1; --i) {
    body += "&AlarmNames.member." + std::to_string(i) + "=a" + std::to_string(i);
  }
  const auto seen = decode(form_call(), "monitoring", body);
  const auto& names = seen.call.input.at("AlarmNames").as_array();
  ASSERT_EQ(names.size(), 12u);
  EXPECT_EQ(names[1], "a2");
  EXPECT_EQ(names[11], "a12");
}

TEST(Protocol, QueryActionMayStandInTheUrl) {
  net::Request request;
  request.method = "GET";
  request.path = "/";
  request.query = "Action=GetCallerIdentity&Version=2011-06-15";
  EXPECT_EQ(decode(request, "sts", "").call.operation->name, "GetCallerIdentity");
}

TEST(Protocol, QueryAnswersAreXml) {
  const CallForm form = identify(form_call(), "sts");
  const auto* operation = form.model->find_operation("AssumeRole");
  const Json output =
      JsonObject{{"Credentials", JsonObject{{"AccessKeyId", "ASIA<"}, {"Expiration", 1769860800}}}};
  const auto response = encode(form, *operation, output, "id-1");
  EXPECT_EQ(response.headers.get("content-type"), "text/xml");
  const auto xml = base::parse_xml(response.body);
  ASSERT_TRUE(xml);
  EXPECT_EQ(xml->name, "AssumeRoleResponse");
  EXPECT_THAT(response.body, HasSubstr("https://sts.amazonaws.com/doc/2011-06-15/"));
  const auto* credentials = xml->find("AssumeRoleResult")->find("Credentials");
  EXPECT_EQ(credentials->text_of("AccessKeyId"), "ASIA<");
  EXPECT_EQ(credentials->text_of("Expiration"), "2026-01-31T12:00:00Z");
  EXPECT_EQ(xml->find("ResponseMetadata")->text_of("RequestId"), "id-1");
}

TEST(Protocol, QueryListsAreWrittenAsMembers) {
  const CallForm form = identify(form_call(), "monitoring");
  const Json output =
      base::parse_json(
          R"({"Datapoints":[{"Timestamp":1769860800.5,"Average":1.5,"Unit":"None"}],"Label":"loss"})")
          .value();
  const auto response =
      encode(form, *form.model->find_operation("GetMetricStatistics"), output, "i");
  EXPECT_THAT(response.body,
              HasSubstr("<Datapoints><member><Timestamp>2026-01-31T12:00:00.500Z</Timestamp>"
                        "<Average>1.5</Average><Unit>None</Unit></member></Datapoints>"));
}

TEST(Protocol, QueryErrorsNameSenderAndCode) {
  CallForm form = identify(form_call(), "iam");
  const auto response = encode_error(form, ApiError("NoSuchEntity", "no role", 404), "id-1");
  EXPECT_EQ(response.status, 404);
  const auto xml = base::parse_xml(response.body);
  EXPECT_EQ(xml->find("Error")->text_of("Type"), "Sender");
  EXPECT_EQ(xml->find("Error")->text_of("Code"), "NoSuchEntity");
  EXPECT_EQ(xml->text_of("RequestId"), "id-1");
}

TEST(Protocol, QueryRefusesDeepNames) {
  std::string name = "a";
  for (int i = 0; i < 100; ++i) name += ".a";
  EXPECT_THAT(error_of(form_call(), "sts", "Action=AssumeRole&" + name + "=1"),
              HasSubstr("nested too deeply"));
}

TEST(Protocol, RestPathsNameTheOperation) {
  const auto submit = decode(post("/v1/submitjob", {}), "batch", R"({"jobName":"a"})");
  EXPECT_EQ(submit.form.protocol, Protocol::rest_json);
  EXPECT_EQ(submit.call.operation->name, "SubmitJob");
  EXPECT_EQ(submit.call.input.at("jobName"), "a");

  net::Request tags;
  tags.method = "DELETE";
  tags.path = "/v1/tags/arn%3Aaws%3Abatch%3Ar%3A000000000000%3Ajob-queue%2Fq";
  tags.query = "tagKeys=a&tagKeys=b%20c";
  const auto untag = decode(tags, "batch", "");
  EXPECT_EQ(untag.call.operation->name, "UntagResource");
  EXPECT_EQ(untag.call.input.at("resourceArn"), "arn:aws:batch:r:000000000000:job-queue/q");
  EXPECT_EQ(base::to_text(untag.call.input.at("tagKeys")), R"(["a","b c"])");
}

TEST(Protocol, SageMakerRuntimeSharesASigningNameAndHasItsOwnPaths) {
  const auto request =
      post("/endpoints/e-1/invocations",
           {{"Content-Type", "text/csv"}, {"X-Amzn-SageMaker-Target-Variant", "v"}});
  const auto seen = decode(request, "sagemaker", "1,2");
  EXPECT_EQ(seen.form.model->name(), "sagemaker-runtime");
  EXPECT_EQ(seen.call.operation->name, "InvokeEndpoint");
  EXPECT_EQ(seen.call.input.at("EndpointName"), "e-1");
  EXPECT_EQ(seen.call.input.at("TargetVariant"), "v");
  EXPECT_EQ(seen.call.input.at("ContentType"), "text/csv");
  EXPECT_EQ(base::string_or(seen.call.input, "Body"), base::base64("1,2"));
  const Json output = JsonObject{{"Body", base::base64("7")}, {"InvokedProductionVariant", "v"}};
  const auto response = encode(seen.form, *seen.call.operation, output, "i");
  EXPECT_EQ(response.body, "7");
  EXPECT_EQ(response.headers.get("x-Amzn-Invoked-Production-Variant"), "v");
}

net::Request cbor_call(const std::string& operation) {
  return post("/service/GraniteServiceVersion20100801/operation/" + operation,
              {{"smithy-protocol", "rpc-v2-cbor"}, {"Content-Type", "application/cbor"}});
}

TEST(Protocol, CborCallsAreUnderstood) {
  CborWriter body;
  body.map(2).text("Namespace").text("N").text("MetricData").array(1).map(2);
  body.text("MetricName").text("loss").text("Timestamp").epoch_seconds(1769860800);
  const auto seen = decode(cbor_call("PutMetricData"), "monitoring", body.finish());
  EXPECT_EQ(seen.form.protocol, Protocol::cbor);
  EXPECT_EQ(base::to_text(seen.call.input),
            R"({"Namespace":"N","MetricData":[{"MetricName":"loss","Timestamp":1769860800.0}]})");
}

TEST(Protocol, CborTimestampsAreTagged) {
  const CallForm form = identify(cbor_call("GetMetricStatistics"), "monitoring");
  const Json output =
      base::parse_json(R"({"Datapoints":[{"Timestamp":1769860800,"Average":2}]})").value();
  const auto response =
      encode(form, *form.model->find_operation("GetMetricStatistics"), output, "i");
  EXPECT_EQ(response.headers.get("smithy-protocol"), "rpc-v2-cbor");
  EXPECT_THAT(base::hex(response.body), HasSubstr("69" + base::hex("Timestamp") + "c1fb"));
  EXPECT_THAT(base::hex(response.body), HasSubstr("67" + base::hex("Average") + "fb"));
}

TEST(Protocol, ErrorsOfQueryCompatibleServicesCarryBothNames) {
  for (const auto& request :
       {cbor_call("GetMetricData"), json_call("GraniteServiceVersion20100801.GetMetricData")}) {
    const CallForm form = identify(request, "monitoring");
    const auto response = encode_error(form, ApiError("InvalidParameterValue", "bad"), "i");
    EXPECT_EQ(response.headers.get("x-amzn-query-error"), "InvalidParameterValue;Sender");
    EXPECT_EQ(response.headers.get("x-amzn-errortype"), "InvalidParameterValueException");
  }
}

TEST(Protocol, QueryClientsReadTheirOwnCodeForARefusedKey) {
  const ApiError refused("UnrecognizedClientException", "no such key");
  const auto json = encode_error(
      identify(json_call("GraniteServiceVersion20100801.ListMetrics"), "monitoring"), refused, "i");
  EXPECT_EQ(json.headers.get("x-amzn-errortype"), "UnrecognizedClientException");
  EXPECT_EQ(json.headers.get("x-amzn-query-error"), "InvalidClientTokenId;Sender");
  const auto query = encode_error(identify(form_call(), "iam"),
                                  ApiError("UnknownOperationException", "not yet"), "i");
  EXPECT_THAT(query.body, HasSubstr("<Code>InvalidAction</Code>"));
}

TEST(Protocol, BrokenCborIsASerializationException) {
  EXPECT_THAT(error_of(cbor_call("PutMetricData"), "monitoring", "\xa1\x61"),
              HasSubstr("SerializationException: "));
}

}  // namespace
}  // namespace meridian::aws
