// SPDX-License-Identifier: Apache-2.0
#include "operators/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/object.h"

namespace meridian::operators {
namespace {

using base::Json;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

Json parse(std::string_view text) { return base::parse_json(text).value(); }

Review review_new(std::string_view kind, std::string_view spec) {
  return review(get_kind(kind), {{"spec", parse(spec)}}, nullptr);
}

TEST(Admission, TwoHalvesOfAMetricDefinitionAreNamed) {
  const auto causes = review_new("TrainingJob", R"({"algorithmSpecification": {"metricDefinitions":
      [{"name": "loss"}, {"regex": "loss=x"}]}})")
                          .causes;
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].field, "spec.algorithmSpecification.metricDefinitions");
  EXPECT_EQ(
      causes[0].message,
      "metricDefinitions[0] has no regex, [1] has no name: one item needs both name and regex");
}

TEST(Admission, AChannelNamedTwiceIsRefused) {
  EXPECT_THAT(review_new("TrainingJob",
                         R"({"inputDataConfig": [{"channelName": "a"}, {"channelName": "a"}]})")
                  .causes,
              ElementsAre(Field(&kube::Cause::field, "spec.inputDataConfig[1].channelName")));
}

TEST(Admission, AMachineThatAwsDoesNotHaveIsAWarningWithAHint) {
  const Review seen =
      review_new("TrainingJob", R"({"resourceConfig": {"instanceType": "ml.m5.lrge"}})");
  EXPECT_THAT(seen.causes, IsEmpty());
  EXPECT_THAT(seen.warnings, ElementsAre(HasSubstr("did you mean ml.m5.large?")));
}

TEST(Admission, AVariantNamesADeclaredModel) {
  const auto causes = review_new("HostingDeployment", R"({"models": [{"name": "mnist"}],
      "productionVariants": [{"variantName": "a", "modelName": "mnits"}]})")
                          .causes;
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_THAT(causes[0].message, HasSubstr("did you mean \"mnist\"?"));
}

TEST(Admission, AChainOfContainersNeedsHostNames) {
  EXPECT_THAT(
      review_new("HostingDeployment", R"({"models": [{"name": "m", "containers":
      [{"containerHostname": "a"}, {}, {"containerHostname": "a"}]}]})")
          .causes,
      ElementsAre(Field(&kube::Cause::field, "spec.models[0].containers[1].containerHostname"),
                  Field(&kube::Cause::field, "spec.models[0].containers[2].containerHostname")));
}

TEST(Admission, ACreatedJobsSpecStays) {
  const Json old =
      parse(R"({"spec": {"region": "a"}, "status": {"sageMakerTrainingJobName": "n"}})");
  const Json same = parse(R"({"spec": {"region": "a"}, "metadata": {"labels": {"x": "y"}}})");
  const Json changed = parse(R"({"spec": {"region": "b"}})");
  const Kind& kind = get_kind("TrainingJob");
  EXPECT_THAT(review(kind, same, &old).causes, IsEmpty());
  EXPECT_THAT(review(kind, changed, &old).causes,
              ElementsAre(Field(&kube::Cause::message, HasSubstr("cannot be changed"))));
  const Json refused =
      parse(R"({"spec": {"region": "a"}, "status": {"reason": "ValidationException"}})");
  EXPECT_THAT(review(kind, changed, &refused).causes, IsEmpty()) << "what never ran may be mended";
}

TEST(Admission, AMirrorOnlyShows) {
  const Json old = parse(R"({"metadata": {"labels": {"meridian.dev/mirror": "region"}},
                             "spec": {"region": "a"}})");
  const Kind& kind = get_kind("TrainingJob");
  Json changed = old;
  changed.as_object()["spec"] = parse(R"({"region": "b"})");
  EXPECT_THAT(review(kind, changed, &old).causes,
              ElementsAre(Field(&kube::Cause::message, HasSubstr("made elsewhere"))));
  Json unlabelled = old;
  unlabelled.as_object()["metadata"] = parse("{}");
  EXPECT_THAT(review(kind, unlabelled, &old).causes,
              ElementsAre(Field(&kube::Cause::field, "metadata.labels[meridian.dev/mirror]")));
  Json annotated = old;
  kube::set_annotation(annotated, "a", "b");
  EXPECT_THAT(review(kind, annotated, &old).causes, IsEmpty());
}

TEST(Admission, OddShapesAreLeftToTheSchema) {
  for (const char* spec : {"null", "[]", "3", R"({"algorithmSpecification": []})",
                           R"({"models": {}, "inputDataConfig": [1, null]})"}) {
    for (const Kind& kind : kinds()) review(kind, {{"spec", parse(spec)}}, nullptr);
  }
}

}  // namespace
}  // namespace meridian::operators
