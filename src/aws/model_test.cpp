// SPDX-License-Identifier: Apache-2.0
#include "aws/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aws/service.h"
#include "base/json.h"

namespace meridian::aws {
namespace {

using base::JsonObject;
using testing::ElementsAre;
using testing::HasSubstr;

JsonObject parsed(std::string_view text) { return base::parse_json(text)->as_object(); }

Inspection look(std::string_view service, std::string_view operation, JsonObject& input) {
  return inspect(*get_model(service).find_operation(operation), input);
}

std::string message(std::string_view service, std::string_view operation, std::string_view input) {
  JsonObject object = parsed(input);
  return look(service, operation, object).message;
}

constexpr std::string_view good_training_job = R"({
  "TrainingJobName": "digits-1", "RoleArn": "arn:aws:iam::000000000000:role/meridian",
  "AlgorithmSpecification": {"TrainingInputMode": "File", "TrainingImage": "python"},
  "HyperParameters": {"lr": "0.1"},
  "InputDataConfig": [{"ChannelName": "train", "DataSource": {"S3DataSource":
      {"S3DataType": "S3Prefix", "S3Uri": "s3://b/k"}}}],
  "OutputDataConfig": {"S3OutputPath": "s3://b/out"},
  "ResourceConfig": {"InstanceCount": 2, "InstanceType": "ml.m5.large", "VolumeSizeInGB": 10},
  "StoppingCondition": {"MaxRuntimeInSeconds": 60}})";

TEST(Model, EveryEmbeddedServiceIsUnderstood) {
  EXPECT_THAT(model_names(), testing::SizeIs(testing::Ge(8u)));
  for (const auto& name : model_names()) {
    const Model& model = get_model(name);
    EXPECT_EQ(model.name(), name);
    EXPECT_FALSE(model.operations().empty()) << name;
  }
}

TEST(Model, EveryPatternCompiles) {
  int patterns = 0;
  for (const auto& name : model_names()) {
    for (const Shape* shape : get_model(name).shapes()) {
      if (shape->pattern.empty()) continue;
      EXPECT_NO_THROW(matches_pattern(shape->pattern, "x")) << name << " " << shape->name;
      ++patterns;
    }
  }
  EXPECT_GT(patterns, 100);
}

TEST(Model, JavasOwnConstructsMeanWhatTheyMeanInJava) {
  EXPECT_TRUE(matches_pattern("\\p{Print}+", "a b~"));
  EXPECT_FALSE(matches_pattern("\\p{Print}+", "a\tb"));
  EXPECT_TRUE(matches_pattern("arn:[\\p{Alnum}\\-]+", "arn:aws-cn"));
  EXPECT_TRUE(matches_pattern("[\\uD800\\uDC00-\\uDBFF\\uDFFF]", "\xF0\x9F\x8D\x8E"));
  EXPECT_TRUE(matches_pattern("([a-z]*)${1,256}", "abc"));
}

TEST(Model, TellsAnOperationOfAwsFromAMisspeltOne) {
  const Model& sagemaker = get_model("sagemaker");
  EXPECT_NE(sagemaker.find_operation("CreateTrainingJob"), nullptr);
  EXPECT_TRUE(sagemaker.is_other_operation("CreateNotebookInstance"));
  EXPECT_FALSE(sagemaker.is_other_operation("CreateTraningJob"));
}

TEST(Model, PatternsMustMatchTheWholeValue) {
  EXPECT_TRUE(matches_pattern("[a-z]+", "abc"));
  EXPECT_FALSE(matches_pattern("[a-z]+", "abc1"));
  EXPECT_FALSE(matches_pattern("[a-z]+", "abc\n"));
  EXPECT_TRUE(matches_pattern("[\\u0020-\\u00FF]+", "\xC3\xA4"));
  EXPECT_FALSE(matches_pattern("[a-z]+", "\xff"));
}

TEST(Model, APatternThatBacktracksWithoutEndIsCutOff) {
  EXPECT_FALSE(matches_pattern("(a*)*b", std::string(200, 'a')));
}

TEST(Inspect, AGoodRequestHasNothingToSay) {
  JsonObject input = parsed(good_training_job);
  const auto seen = look("sagemaker", "CreateTrainingJob", input);
  EXPECT_EQ(seen.message, "");
  EXPECT_THAT(seen.unknown_fields, ElementsAre());
}

TEST(Inspect, OneViolationIsWordedAsAwsWordsIt) {
  EXPECT_EQ(message("sagemaker", "DescribeTrainingJob", R"({"TrainingJobName": "a_b"})"),
            "1 validation error detected: Value 'a_b' at 'trainingJobName' failed to satisfy "
            "constraint: Member must satisfy regular expression pattern: "
            "[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}");
}

TEST(Inspect, AMissingFieldIsNull) {
  EXPECT_EQ(message("sagemaker", "DescribeTrainingJob", "{}"),
            "1 validation error detected: Value null at 'trainingJobName' failed to satisfy "
            "constraint: Member must not be null");
  EXPECT_EQ(message("sagemaker", "DescribeTrainingJob", R"({"TrainingJobName": null})"),
            message("sagemaker", "DescribeTrainingJob", "{}"));
}

TEST(Inspect, AllViolationsComeAtOnceWithTheirPaths) {
  JsonObject input = parsed(good_training_job);
  input["AlgorithmSpecification"].as_object()["TrainingInputMode"] = "Fast";
  input["ResourceConfig"].as_object()["InstanceCount"] = -1;
  input["InputDataConfig"].as_array()[0].as_object()["ChannelName"] = "a b";
  input.erase("OutputDataConfig");
  const auto seen = look("sagemaker", "CreateTrainingJob", input);
  EXPECT_THAT(seen.message, HasSubstr("4 validation errors detected: "));
  EXPECT_THAT(seen.message,
              HasSubstr("Value 'Fast' at 'algorithmSpecification.trainingInputMode' failed to "
                        "satisfy constraint: Member must satisfy enum value set: [Pipe, File, "
                        "FastFile]; "));
  EXPECT_THAT(seen.message,
              HasSubstr("Value '-1' at 'resourceConfig.instanceCount' failed to satisfy "
                        "constraint: Member must have value greater than or equal to 0"));
  EXPECT_THAT(seen.message, HasSubstr("Value 'a b' at 'inputDataConfig.1.member.channelName'"));
  EXPECT_THAT(seen.message, HasSubstr("Value null at 'outputDataConfig'"));
}

TEST(Inspect, ListsAndMapsOfTextNameTheirConstraintsTogether) {
  EXPECT_THAT(
      message("sagemaker", "DeleteTags",
              R"({"ResourceArn": "arn:aws:sagemaker:r:000000000000:training-job/a",
                          "TagKeys": ["ok", "?"]})"),
      HasSubstr("Value '[ok, ?]' at 'tagKeys' failed to satisfy constraint: Member must "
                "satisfy constraint: [Member must have length less than or equal to 128, "));
  JsonObject input = parsed(good_training_job);
  input["HyperParameters"].as_object()[std::string(300, 'k')] = "v";
  EXPECT_THAT(look("sagemaker", "CreateTrainingJob", input).message,
              HasSubstr("at 'hyperParameters' failed to satisfy constraint: Map keys must satisfy "
                        "constraint: [Member must have length less than or equal to 256, "));
}

TEST(Inspect, OfManyAllowedValuesItNamesTheFamilyAndTheOneMeant) {
  JsonObject input = parsed(good_training_job);
  input["ResourceConfig"].as_object()["InstanceType"] = "ml.m5.larg";
  const auto text = look("sagemaker", "CreateTrainingJob", input).message;
  EXPECT_THAT(text, HasSubstr("Member must satisfy enum value set: [ml.m5.large, ml.m5.xlarge, "));
  EXPECT_THAT(text,
              testing::ContainsRegex("and [0-9]+ others\\] \\(did you mean ml.m5.large\\?\\)$"));
  EXPECT_LT(text.size(), 400u);
}

TEST(Inspect, LengthsCountCharactersAndLongValuesAreCut) {
  JsonObject input{{"TrainingJobName", std::string(5000, 'a')}};
  const std::string text = look("sagemaker", "DescribeTrainingJob", input).message;
  EXPECT_THAT(text, HasSubstr("Member must have length less than or equal to 63"));
  EXPECT_THAT(text, HasSubstr("... (4744 more bytes)'"));
}

TEST(Inspect, UnknownFieldsAreKeptAndNamed) {
  JsonObject input = parsed(good_training_job);
  input["FutureField"] = 1;
  input["ResourceConfig"].as_object()["Planet"] = "Mars";
  input["InputDataConfig"].as_array()[0].as_object()["Colour"] = "red";
  const auto seen = look("sagemaker", "CreateTrainingJob", input);
  EXPECT_EQ(seen.message, "");
  EXPECT_THAT(seen.unknown_fields,
              testing::UnorderedElementsAre("FutureField", "ResourceConfig.Planet",
                                            "InputDataConfig[0].Colour"));
  EXPECT_TRUE(input.contains("FutureField"));
}

std::string type_error(std::string_view service, std::string_view operation,
                       std::string_view input) {
  try {
    message(service, operation, input);
  } catch (const ApiError& error) {
    return error.aws_code() + ": " + error.message();
  }
  return "";
}

TEST(Inspect, AWrongJsonTypeIsASerializationException) {
  EXPECT_EQ(type_error("sagemaker", "DescribeTrainingJob", R"({"TrainingJobName": 5})"),
            "SerializationException: NUMBER_VALUE can not be converted to String at "
            "'trainingJobName'");
  EXPECT_THAT(type_error("sagemaker", "ListTrainingJobs", R"({"MaxResults": "ten"})"),
              HasSubstr("STRING_VALUE can not be converted to Integer at 'maxResults'"));
  EXPECT_THAT(type_error("sagemaker", "ListTrainingJobs", R"({"MaxResults": 99999999999})"),
              HasSubstr("SerializationException"));
  EXPECT_THAT(type_error("sagemaker", "AddTags", R"({"ResourceArn": "a", "Tags": {}})"),
              HasSubstr("START_OBJECT can not be converted to List at 'tags'"));
  EXPECT_THAT(type_error("sagemaker", "AddTags", R"({"ResourceArn": "a", "Tags": [1]})"),
              HasSubstr("at 'tags.1.member'"));
}

TEST(Inspect, HandlersSeeOneForm) {
  JsonObject input = parsed(
      R"({"CreationTimeAfter": "2026-01-31T12:00:00Z", "MaxResults": 10.0, "NextToken": null})");
  EXPECT_EQ(look("sagemaker", "ListTrainingJobs", input).message, "");
  EXPECT_EQ(input.at("CreationTimeAfter").to_number<double>(), 1769860800.0);
  EXPECT_TRUE(input.at("MaxResults").is_int64());
  EXPECT_FALSE(input.contains("NextToken"));
}

TEST(Inspect, TheNumberOfReportedViolationsIsBounded) {
  JsonObject input{{"ResourceArn", "arn:aws:sagemaker:r:000000000000:training-job/a"}};
  base::JsonArray tags;
  for (int i = 0; i < 1000; ++i) tags.push_back(JsonObject{{"Key", "?"}});
  input["Tags"] = std::move(tags);
  const auto seen = look("sagemaker", "AddTags", input);
  EXPECT_THAT(seen.message, HasSubstr("100 validation errors detected"));
}

}  // namespace
}  // namespace meridian::aws
