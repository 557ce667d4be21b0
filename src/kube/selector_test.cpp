// SPDX-License-Identifier: Apache-2.0
#include "kube/selector.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace meridian::kube {
namespace {

using base::Json;

const Json labelled = {
    {"metadata",
     {{"name", "a"}, {"labels", {{"app", "web"}, {"tier", "b"}, {"n", "5"}, {"e", ""}}}}},
    {"status", {{"phase", "Run"}, {"count", 3}, {"ready", true}}}};

TEST(LabelSelector, MatchesAsTheTableSays) {
  const struct {
    const char* text;
    bool matches;
  } cases[] = {
      {"", true},
      {"  ", true},
      {"app", true},
      {"none", false},
      {"!none", true},
      {"! app", false},
      {"app=web", true},
      {"app==web", true},
      {"app = web , tier in (a, b)", true},
      {"app=web,tier in (a)", false},
      {"app!=web", false},
      {"none!=web", true},
      {"tier notin (a,c)", true},
      {"tier notin (b)", false},
      {"none notin (b)", true},
      {"e=", true},
      {"e in (,)", true},
      {"none=", false},
      {"n>4", true},
      {"n>5", false},
      {"n<6", true},
      {"app<6", false},
      {"none>1", false},
      {"in in (in)", false},
      {"tier in (b),app,!x,n>1", true},
  };
  for (const auto& c : cases) {
    const auto selector = parse_label_selector(c.text);
    ASSERT_TRUE(selector.ok()) << c.text << ": " << selector.error().text();
    EXPECT_EQ(selector->matches(labelled), c.matches) << c.text;
  }
}

TEST(LabelSelector, AnErrorSaysWhere) {
  const struct {
    const char* text;
    std::size_t offset;
  } cases[] = {
      {"a,", 2},      {",a", 0},       {"a b", 2},        {"a in b", 5}, {"a in ()", 7},
      {"a in (b", 7}, {"a=b c", 4},    {"a=b=c", 3},      {"a>x", 2},    {"-a", 0},
      {"a/b/c=1", 0}, {"/x=1", 0},     {"UP.er/x=1", 0},  {"!", 1},      {"a!b", 1},
      {"a=!b", 2},    {"a in (-)", 6}, {"a=\xc3\xa9", 2}, {"a)", 1},     {"(a)", 0},
  };
  for (const auto& c : cases) {
    const auto selector = parse_label_selector(c.text);
    ASSERT_FALSE(selector.ok()) << c.text;
    EXPECT_EQ(selector.error().offset, c.offset) << c.text << ": " << selector.error().message;
    EXPECT_FALSE(selector.error().message.empty()) << c.text;
  }
}

TEST(LabelSelector, LengthAndCountAreBounded) {
  EXPECT_FALSE(parse_label_selector(std::string(17 * 1024, 'a')).ok());
  std::string many = "a";
  for (int i = 1; i < 1000; ++i) many += ",a";
  EXPECT_TRUE(parse_label_selector(many).ok());
  EXPECT_FALSE(parse_label_selector(many + ",a").ok());
  EXPECT_FALSE(parse_label_selector("a=" + std::string(64, 'x')).ok());
  EXPECT_TRUE(parse_label_selector("a=" + std::string(63, 'x')).ok());
}

TEST(LabelSelector, TheRequirementsCanBeRead) {
  const auto selector = parse_label_selector("a in (x,y),!b");
  ASSERT_TRUE(selector.ok());
  ASSERT_EQ(selector->requirements().size(), 2u);
  EXPECT_EQ(selector->requirements()[0].values, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(selector->requirements()[1].op, Requirement::Operator::does_not_exist);
  EXPECT_TRUE(LabelSelector().empty());
}

TEST(FieldSelector, MatchesAsTheTableSays) {
  const struct {
    const char* text;
    bool matches;
  } cases[] = {
      {"", true},
      {"metadata.name=a", true},
      {"metadata.name==a", true},
      {"metadata.name=b", false},
      {"metadata.name!=b,status.phase=Run", true},
      {"metadata.name!=a", false},
      {"metadata.namespace=", true},
      {"metadata.namespace!=x", true},
      {"status.count=3", true},
      {"status.ready=true", true},
      {"metadata.labels=", true},
      {",metadata.name=a,", true},
  };
  for (const auto& c : cases) {
    const auto selector = parse_field_selector(c.text);
    ASSERT_TRUE(selector.ok()) << c.text << ": " << selector.error().text();
    EXPECT_EQ(selector->matches(labelled), c.matches) << c.text;
  }
}

TEST(FieldSelector, EscapesStandForThemselves) {
  const auto selector = parse_field_selector(R"(metadata.name=a\,b\=c\\d,x!=y)");
  ASSERT_TRUE(selector.ok());
  ASSERT_EQ(selector->terms().size(), 2u);
  EXPECT_EQ(selector->terms()[0].value, R"(a,b=c\d)");
  EXPECT_EQ(selector->terms()[1].op, FieldSelector::Term::Operator::differs);
}

TEST(FieldSelector, AnErrorSaysWhere) {
  const struct {
    const char* text;
    std::size_t offset;
  } cases[] = {{"a", 0},     {"a=b,c", 4},   {"=b", 0},     {"!=b", 0},
               {"a=b=c", 3}, {R"(a=\x)", 2}, {R"(a=b\)", 3}};
  for (const auto& c : cases) {
    const auto selector = parse_field_selector(c.text);
    ASSERT_FALSE(selector.ok()) << c.text;
    EXPECT_EQ(selector.error().offset, c.offset) << c.text << ": " << selector.error().message;
  }
}

}  // namespace
}  // namespace meridian::kube
