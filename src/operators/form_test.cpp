// SPDX-License-Identifier: Apache-2.0
#include "operators/form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operators/pattern.h"

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonObject;

const aws::Shape& training() {
  return *aws::get_model("sagemaker").find_operation("CreateTrainingJob")->input;
}

Json parse(std::string_view text) { return base::parse_json(text).value(); }

TEST(Form, ASpecBecomesTheApisInput) {
  const Json spec = parse(R"({
    "region": "us-west-2", "roleArn": "r",
    "hyperParameters": [{"name": "lr", "value": "0.1"}, {"name": "b", "value": "64"}],
    "resourceConfig": {"instanceCount": 2, "volumeSizeInGB": 5},
    "inputDataConfig": [{"channelName": "train", "dataSource": {"s3DataSource": {"s3Uri": "s3://b/p"}}}]})");
  EXPECT_EQ(to_api(training(), spec), parse(R"({
    "HyperParameters": {"lr": "0.1", "b": "64"}, "RoleArn": "r",
    "InputDataConfig": [{"ChannelName": "train", "DataSource": {"S3DataSource": {"S3Uri": "s3://b/p"}}}],
    "ResourceConfig": {"InstanceCount": 2, "VolumeSizeInGB": 5}})"));
}

TEST(Form, KeysAreFoundWithoutRegardToCase) {
  EXPECT_EQ(to_api(training(), parse(R"({"resourceConfig": {"volumeSizeInGb": 5}})")),
            parse(R"({"ResourceConfig": {"VolumeSizeInGB": 5}})"));
}

TEST(Form, TheOriginalsSpellingsAreTaken) {
  const aws::Shape& transform =
      *aws::get_model("sagemaker").find_operation("CreateTransformJob")->input;
  EXPECT_EQ(to_api(transform,
                   parse(R"({"dataProcessing": {"OutputFilter": "$", "JoinSource": "Input"}})")),
            parse(R"({"DataProcessing": {"OutputFilter": "$", "JoinSource": "Input"}})"));
  EXPECT_EQ(
      to_api(training(),
             parse(R"({"debugHookConfig": {"ruleParameters": [{"name": "a", "value": "1"}]}})")),
      parse(R"({"DebugHookConfig": {"HookParameters": {"a": "1"}}})"));
}

TEST(Form, GoesThereAndBackAgain) {
  const Json spec = parse(R"j({"trainingJobName": "a", "environment": [{"name": "K", "value": "v"}],
    "algorithmSpecification": {"trainingImage": "host", "trainingInputMode": "FastFile",
      "metricDefinitions": [{"name": "loss", "regex": "loss=(.*)"}]},
    "retryStrategy": {"maximumRetryAttempts": 3}})j");
  EXPECT_EQ(from_api(training(), to_api(training(), spec)), spec);
}

TEST(Schema, HasTypesBoundsAndWhatIsRequired) {
  const Json schema = schema_of(training());
  const Json& channel = *base::find_path(schema, "properties.inputDataConfig.items");
  EXPECT_EQ(*base::find(channel, "required"), parse(R"(["channelName", "dataSource"])"));
  EXPECT_EQ(*base::find_path(channel, "properties.channelName.pattern"),
            Json("^(?:[A-Za-z0-9\\.\\-_]+)$"));
  EXPECT_EQ(*base::find_path(channel, "properties.inputMode.enum"),
            parse(R"(["Pipe", "File", "FastFile"])"));
}

TEST(Schema, AListOfMachinesIsText) {
  const aws::Shape& resources = *training().find_member("ResourceConfig")->shape;
  const Json schema = schema_of(resources);
  EXPECT_EQ(base::find_path(schema, "properties.instanceType.enum"), nullptr);
  EXPECT_EQ(*base::find_path(schema, "properties.instanceType.type"), Json("string"));
}

TEST(PortablePattern, LeavesOutWhatRe2CannotRead) {
  EXPECT_EQ(portable_pattern("[a-z]{1,63}"), "^(?:[a-z]{1,63})$");
  EXPECT_EQ(portable_pattern(R"((?!\s*$).+)"), std::nullopt);
  EXPECT_EQ(portable_pattern(R"([\S]{1,2048})"), std::nullopt);
  EXPECT_EQ(portable_pattern(R"([\u0020-\uD7FF]*)"), std::nullopt);
  EXPECT_EQ(portable_pattern(R"([\p{Alnum}\-]+)"), std::nullopt);
  EXPECT_EQ(portable_pattern(R"(([\p{L}\p{Z}]*)${1,128})"), std::nullopt);
  EXPECT_EQ(portable_pattern(".*"), std::nullopt);
  EXPECT_EQ(portable_pattern(R"([a-z\-]*\++)"), R"(^(?:[a-z\-]*\++)$)");
}

}  // namespace
}  // namespace meridian::operators
