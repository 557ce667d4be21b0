// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/metric_matcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meridian::region::telemetry {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Definitions = std::vector<MetricDefinition>;

std::vector<double> values(const std::string& regex, const std::string& line) {
  MetricMatcher matcher(Definitions{{"m", regex}});
  std::vector<double> out;
  for (const auto& hit : matcher.match(line)) out.push_back(hit.value);
  return out;
}

std::vector<std::string> warnings(const MetricMatcher& matcher, std::size_t i = 0) {
  return metric_warnings(matcher.definitions()[i], matcher.counts()[i], matcher.regex_error(i));
}

TEST(MetricMatcher, EveryMatchOfALineCounts) {
  EXPECT_THAT(values("loss=([0-9.]+)", "a loss=0.5 b loss=0.25;loss=1 c"),
              ElementsAre(0.5, 0.25, 1));
}

TEST(MetricMatcher, ScientificNotationIsANumber) {
  EXPECT_THAT(values("loss=(\\S+)", "loss=5e-3"), ElementsAre(5e-3));
  EXPECT_THAT(values("loss=(\\S+)", "loss=-1.5E+10"), ElementsAre(-1.5e10));
}

TEST(MetricMatcher, AMetricFormatOfTwoGroupsIsParsed) {
  const std::string katib = "{metricName: ([\\w|-]+), metricValue: ((-?\\d+)(\\.\\d+)?)}";
  const std::string plain = "([\\w|-]+)\\s*=\\s*([+-]?\\d*(\\.\\d+)?([Ee][+-]?\\d+)?)";
  MetricMatcher matcher(Definitions{{"loss", katib}, {"accuracy", katib}, {"loss", plain}});
  const auto hits = matcher.match("{metricName: loss, metricValue: 0.5}");
  ASSERT_THAT(hits, SizeIs(1));
  EXPECT_EQ(hits[0].definition, 0u);
  EXPECT_EQ(hits[0].value, 0.5);
  const auto more = matcher.match("loss=5e-3");
  ASSERT_THAT(more, SizeIs(1));
  EXPECT_EQ(more[0].definition, 2u);
  EXPECT_EQ(more[0].value, 5e-3);
  EXPECT_THAT(warnings(matcher), ElementsAre(HasSubstr("(?P<value>...)")));
}

TEST(MetricMatcher, GroupsNamedNameAndValueSayWhatTheyAre) {
  MetricMatcher matcher(Definitions{{"loss", "(?P<step>\\d+) (?P<name>\\w+)=(?P<value>\\S+)"}});
  EXPECT_THAT(matcher.match("7 loss=0.5"), SizeIs(1));
  EXPECT_THAT(matcher.match("7 other=0.5"), IsEmpty());
  EXPECT_THAT(warnings(matcher), IsEmpty());
}

TEST(MetricMatcher, APartOfANumberIsNotTaken) {
  MetricMatcher matcher(Definitions{{"lr", "lr=([0-9\\.]+)"}});
  EXPECT_THAT(matcher.match("lr=1e-05"), IsEmpty());
  EXPECT_THAT(matcher.match("lr=2e-05"), IsEmpty());
  EXPECT_THAT(warnings(matcher), ElementsAre(HasSubstr("only \"1\" of the number \"1e-05\"")));
  EXPECT_THAT(matcher.match("lr=0.25"), SizeIs(1));
  EXPECT_THAT(values("loss=-?([0-9.]+)", "loss=-0.5"), IsEmpty());
  EXPECT_THAT(values("[0-9\\.]+", "1e-05"), IsEmpty());
}

TEST(MetricMatcher, NumbersNextToOthersAreWhole) {
  EXPECT_THAT(values("step (\\d+)/\\d+", "step 3/10"), ElementsAre(3));
  EXPECT_THAT(
      values("#quality_metric: host=\\S+, loss <?=?(\\S+)", "#quality_metric: host=a, loss 5."),
      ElementsAre(5));
  EXPECT_THAT(values("acc=([0-9.]+)%", "acc=97.5%"), ElementsAre(97.5));
  EXPECT_THAT(values("acc: ([0-9.]+)", "val acc: 0.5."), ElementsAre(0.5));
}

TEST(MetricMatcher, TextIsLeftOutWithOneWarning) {
  MetricMatcher matcher(Definitions{{"cat", "cat=(.*);"}});
  for (int i = 0; i < 5; ++i) EXPECT_THAT(matcher.match("cat=dog;"), IsEmpty());
  EXPECT_THAT(warnings(matcher),
              ElementsAre("metric 'cat': the regex cat=(.*); took \"dog\", which is not a number; "
                          "such matches are left out (5 so far)"));
}

TEST(MetricMatcher, NanAndInfinityAreLeftOutAndSaid) {
  MetricMatcher matcher(Definitions{{"loss", "loss=(\\S+)"}});
  EXPECT_THAT(matcher.match("loss=nan"), IsEmpty());
  EXPECT_THAT(matcher.match("loss=-inf loss=1e999"), IsEmpty());
  EXPECT_EQ(matcher.counts()[0].not_finite, 3u);
  EXPECT_THAT(warnings(matcher), ElementsAre(HasSubstr("reported nan")));
}

TEST(MetricMatcher, TabsMatchRawAndEscapedOnce) {
  const std::string line = "[1]\ttrain-error:0.25\tvalidation-error:0.5";
  EXPECT_THAT(values(".*\\[[0-9]+\\].*#011validation-error:(\\S+)", line), ElementsAre(0.5));
  EXPECT_THAT(values("\\tvalidation-error:(\\S+)", line), ElementsAre(0.5));
  EXPECT_THAT(values("(?:\\t|#011)validation-error:(\\S+)", line), ElementsAre(0.5));
  EXPECT_THAT(values("x#011(\\d)", "x#0115"), ElementsAre(5));
}

TEST(MetricMatcher, ARegexWithoutGroupGivesItsWholeMatch) {
  EXPECT_THAT(values("\\d+\\.\\d+", "a 0.5 b"), ElementsAre(0.5));
}

TEST(MetricMatcher, EmptyMatchesEnd) {
  EXPECT_THAT(values("(\\d*)",
                     "ab\xC3\xA9"
                     "5c"),
              ElementsAre(5));
  EXPECT_THAT(values("x*", std::string(20'000, 'a')), IsEmpty());
  EXPECT_THAT(values("(?=\\K)", "\xC3\xA9\xC3\xA9"), IsEmpty());
}

TEST(MetricMatcher, ABrokenRegexDoesNotStopTheOthers) {
  MetricMatcher matcher(Definitions{{"bad", "("}, {"good", "g=(\\d+)"}});
  EXPECT_THAT(matcher.match("g=5"), SizeIs(1));
  EXPECT_THAT(warnings(matcher, 0), ElementsAre(HasSubstr("does not compile")));
  EXPECT_TRUE(check_metric_regex("(").has_value());
  EXPECT_EQ(check_metric_regex("(\\d+)"), std::nullopt);
}

TEST(MetricMatcher, ARegexThatCostsTooMuchRests) {
  MetricMatcher matcher(Definitions{{"slow", "^(x+)+$"}}, {MetricCounts{.too_expensive = 18}});
  const std::string line = std::string(60, 'x') + '!';
  matcher.match(line);
  matcher.match(line);
  EXPECT_EQ(matcher.counts()[0].too_expensive, 20u);
  matcher.match(line);
  EXPECT_EQ(matcher.counts()[0].too_expensive, 20u);
  EXPECT_THAT(warnings(matcher), ElementsAre(HasSubstr("no longer applied")));
}

TEST(MetricMatcher, CountsGoOnFromWhereTheyWere) {
  MetricMatcher matcher(Definitions{{"m", "m=(\\d+)"}}, {MetricCounts{.values = 7}});
  matcher.match("m=5");
  EXPECT_EQ(matcher.counts()[0].values, 8u);
}

TEST(MetricMatcher, ControlCharactersAreShownInOctal) {
  EXPECT_EQ(escape_control("a\tb\rc\x1b[0m\x7f"), "a#011b#015c#033[0m#177");
  EXPECT_EQ(escape_control("plain \xC3\xA9"), "plain \xC3\xA9");
}

}  // namespace
}  // namespace meridian::region::telemetry
