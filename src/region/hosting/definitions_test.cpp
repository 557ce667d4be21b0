// SPDX-License-Identifier: Apache-2.0
#include "region/hosting/definitions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/json.h"

namespace meridian::region::hosting {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using testing::HasSubstr;

class DefinitionsTest : public testing::Test {
 protected:
  Json call(const std::string& operation, const JsonObject& input) {
    return service.operations.at(operation)({}, input);
  }
  std::string refusal(const std::string& operation, const JsonObject& input) {
    try {
      call(operation, input);
      return "";
    } catch (const aws::ApiError& error) {
      return error.aws_code() + ": " + error.message();
    }
  }
  void make(const std::string& name) {
    clock.advance(base::Duration(1'000));
    call("CreateModel", {{"ModelName", name}, {"PrimaryContainer", {{"Image", "host"}}}});
  }

  std::unique_ptr<store::Store> store = store::open_in_memory();
  base::ManualClock clock;
  Definitions definitions{*store, clock, {}};
  aws::Service service = definitions.service();
};

TEST_F(DefinitionsTest, AModelIsMadeDescribedAndDeleted) {
  make("a");
  const Json model = call("DescribeModel", {{"ModelName", "a"}});
  EXPECT_EQ(base::string_or(model, "ModelArn"), "arn:aws:sagemaker:us-west-2:000000000000:model/a");
  EXPECT_EQ(*base::find_path(model, "PrimaryContainer.Image"), Json("host"));
  call("DeleteModel", {{"ModelName", "a"}});
  EXPECT_THAT(refusal("DescribeModel", {{"ModelName", "a"}}),
              HasSubstr("ValidationException: Could not find model \"arn:aws:sagemaker"));
}

TEST_F(DefinitionsTest, ANameTwiceIsRefused) {
  make("a");
  EXPECT_THAT(refusal("CreateModel", {{"ModelName", "a"}}),
              HasSubstr("Cannot create already existing model"));
}

TEST_F(DefinitionsTest, EveryPageSizeListsTheSame) {
  for (int i = 0; i < 7; ++i) make("m" + std::to_string(i));
  for (int size : {1, 2, 3, 100}) {
    std::multiset<std::string> seen;
    JsonObject input{{"MaxResults", size}};
    while (true) {
      const Json page = call("ListModels", input);
      for (const Json& model : base::find(page, "Models")->as_array())
        seen.insert(base::string_or(model, "ModelName"));
      const std::string token = base::string_or(page, "NextToken");
      if (token.empty()) break;
      input["NextToken"] = token;
    }
    EXPECT_THAT(seen, testing::ElementsAre("m0", "m1", "m2", "m3", "m4", "m5", "m6")) << size;
  }
}

TEST_F(DefinitionsTest, AConfigurationNamesModelsThatAreThere) {
  const JsonObject input{
      {"EndpointConfigName", "c"},
      {"ProductionVariants", JsonArray{{{"VariantName", "v"}, {"ModelName", "a"}}}}};
  EXPECT_THAT(refusal("CreateEndpointConfig", input), HasSubstr("Could not find model"));
  make("a");
  call("CreateEndpointConfig", input);
  const Json config = call("DescribeEndpointConfig", {{"EndpointConfigName", "c"}});
  EXPECT_EQ(base::string_or(config, "EndpointConfigArn"),
            "arn:aws:sagemaker:us-west-2:000000000000:endpoint-config/c");
  EXPECT_THAT(refusal("DescribeEndpointConfig", {{"EndpointConfigName", "x"}}),
              HasSubstr("Could not find endpoint configuration"));
}

}  // namespace
}  // namespace meridian::region::hosting
