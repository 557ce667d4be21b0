// SPDX-License-Identifier: Apache-2.0
#include "base/yaml.h"

#include <gmock/gmock.h>

namespace meridian::base {
namespace {

using testing::HasSubstr;

std::string as_json(std::string_view text) {
  const auto documents = parse_yaml(text);
  if (!documents) return documents.error().text();
  std::string out;
  for (const auto& d : *documents) out += (out.empty() ? "" : " --- ") + to_text(d.value);
  return out;
}

std::string error_of(std::string_view text) {
  const auto documents = parse_yaml(text);
  return documents ? "accepted as " + as_json(text) : documents.error().text();
}

TEST(Yaml, PlainScalarsFollowTheCoreSchema) {
  EXPECT_EQ(as_json("[~, null, Null, '', true, True, FALSE, yes, no, on]"),
            R"([null,null,null,"",true,true,false,"yes","no","on"])");
  EXPECT_EQ(as_json("[1, -1, +1, 007, 0o17, 0x1F, 1_000, 0b1]"),
            R"([1,-1,1,7,15,31,"1_000","0b1"])");
  EXPECT_EQ(as_json("[1.5, .5, 5., -1e3, 1E-2, 1.2.3, ., e3, 1e]"),
            R"([1.5,0.5,5.0,-1000.0,0.01,"1.2.3",".","e3","1e"])");
  EXPECT_EQ(as_json("[9223372036854775807, 18446744073709551615, -9223372036854775808]"),
            "[9223372036854775807,18446744073709551615,-9223372036854775808]");
  EXPECT_EQ(as_json("18446744073709551616"), "1.8446744073709552e+19");
  EXPECT_EQ(as_json("2026-01-31"), R"("2026-01-31")");
}

TEST(Yaml, QuotedScalarsAreStrings) {
  EXPECT_EQ(as_json(R"(["1", '~', "true", "a\nb", ! 1])"), R"(["1","~","true","a\nb","1"])");
  EXPECT_EQ(as_json("a: |\n  two\n  lines\nb: >-\n  one\n  line\n"),
            R"({"a":"two\nlines\n","b":"one line"})");
}

TEST(Yaml, TagsOfTheCoreSchemaAreHeeded) {
  EXPECT_EQ(
      as_json("[!!str 1, !!int \"7\", !!float 1, !!bool \"true\", !!null '', !!seq [], !!map {}]"),
      R"(["1",7,1.0,true,null,[],{}])");
  EXPECT_THAT(error_of("!!int x"), HasSubstr("'x' is not an integer"));
  EXPECT_THAT(error_of("!!binary aGk="), HasSubstr("tag"));
  EXPECT_THAT(error_of("!custom {a: 1}"), HasSubstr("tag"));
  EXPECT_THAT(error_of("!!seq {a: 1}"), HasSubstr("tag"));
}

TEST(Yaml, SeveralDocumentsAreSeveralValues) {
  EXPECT_EQ(as_json("a: 1\n---\n- 2\n---\n"), R"({"a":1} --- [2] --- null)");
  EXPECT_EQ(parse_yaml("")->size(), 0u);
  EXPECT_EQ(parse_yaml("# only a comment\n")->size(), 0u);
  EXPECT_EQ(parse_yaml(std::string_view())->size(), 0u);
}

TEST(Yaml, PositionsPointAtValues) {
  const auto documents = parse_yaml(
      "kind: TrainingJob\n"
      "spec:\n"
      "  inputDataConfig:\n"
      "    - channelName: train\n"
      "      x: {y: 1}\n"
      "---\n"
      "a: 1\n");
  ASSERT_TRUE(documents.ok());
  const YamlDocument& d = documents->at(0);
  const auto at = [&](std::string_view path) {
    const Position p = d.position_of(path);
    return std::to_string(p.line) + ":" + std::to_string(p.column);
  };
  EXPECT_EQ(at(""), "1:1");
  EXPECT_EQ(at("kind"), "1:7");
  EXPECT_EQ(at("spec.inputDataConfig[0].channelName"), "4:20");
  EXPECT_EQ(at("spec.inputDataConfig[0].x.y"), "5:14");
  EXPECT_EQ(at("spec.inputDataConfig[0].missing.deep[3]"), at("spec.inputDataConfig[0]"));
  EXPECT_EQ(at("unknown"), "1:1");
  EXPECT_EQ(documents->at(1).position_of("a").line, 7);
}

TEST(Yaml, MistakesAreNamedWithTheirPlace) {
  const auto twice = parse_yaml("a: 1\nb: 2\na: 3\n");
  EXPECT_THAT(twice.error().message, HasSubstr("'a' appears twice"));
  EXPECT_EQ(twice.error().line, 3);
  EXPECT_THAT(error_of("1: x"), HasSubstr("the key 1 is not a string"));
  EXPECT_THAT(error_of("true: x"), HasSubstr("put it in quotes"));
  EXPECT_THAT(error_of("? [a]\n: x"), HasSubstr("a key must be a string"));
  EXPECT_THAT(error_of("<<: {a: 1}"), HasSubstr("merge keys"));
  EXPECT_THAT(error_of("a: [1, 2\nb: 3"), HasSubstr("line 2"));
  EXPECT_THAT(error_of("a:\n\t- x"), HasSubstr("line 2"));
  EXPECT_THAT(error_of("a: \xff"), HasSubstr("at byte 3"));
  EXPECT_THAT(error_of("[.inf]"), HasSubstr("JSON"));
  EXPECT_THAT(error_of("-.INF"), HasSubstr("JSON"));
  EXPECT_THAT(error_of(".nan"), HasSubstr("JSON"));
  EXPECT_THAT(error_of("1e999"), HasSubstr("JSON"));
}

TEST(Yaml, AliasesCopyWhatTheyName) {
  EXPECT_EQ(as_json("a: &x {k: [1]}\nb: *x\nc: [*x]"),
            R"({"a":{"k":[1]},"b":{"k":[1]},"c":[{"k":[1]}]})");
  EXPECT_EQ(as_json("&k key: *k"), R"({"key":"key"})");
  EXPECT_THAT(error_of("a: *x"), HasSubstr("no anchor 'x'"));
  EXPECT_THAT(error_of("a: &x [*x]"), HasSubstr("no anchor 'x'"));
  EXPECT_THAT(error_of("a: &x 1\n---\nb: *x"), HasSubstr("no anchor 'x'"));
}

TEST(Yaml, DepthNodesAndExpansionAreBounded) {
  const auto nested = [](int n) { return std::string(n, '[') + std::string(n, ']'); };
  EXPECT_EQ(as_json(nested(64)), nested(64));
  EXPECT_THAT(error_of(nested(65)), HasSubstr("too deeply"));

  std::string many = "[";
  for (int i = 0; i < 100'001; ++i) many += "1,";
  EXPECT_THAT(error_of(many + "]"), HasSubstr("too many nodes"));

  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    std::string list = before;
    for (int j = 0; j < 9; ++j) list += ", " + before;
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + list + "]\n";
  }
  EXPECT_THAT(error_of(laughs), HasSubstr("expand to too much"));

  std::string wide = "a: &a " + std::string(1 << 20, 'x') + "\nb: [";
  for (int i = 0; i < 50; ++i) wide += "*a, ";
  EXPECT_THAT(error_of(wide + "]"), HasSubstr("expand to too much"));

  std::string deep = "a0: &a0 [[[[[[[[1]]]]]]]]\n";
  for (int i = 1; i < 10; ++i) {
    deep += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [[[[[[[[*a" +
            std::to_string(i - 1) + "]]]]]]]]\n";
  }
  EXPECT_THAT(error_of(deep), HasSubstr("too deeply"));
}

TEST(Yaml, ALongKeyAboveManyNodesCostsNoMemory) {
  std::string text = std::string(1000, 'k') + ":\n";
  for (int i = 0; i < 90'000; ++i) text += "- 1\n";
  const auto documents = parse_yaml(text);
  ASSERT_TRUE(documents.ok());
  EXPECT_LT(documents->at(0).positions.size(), 20'000u);
  EXPECT_EQ(documents->at(0).position_of(std::string(1000, 'k') + "[89999]").line, 2);
}

}  // namespace
}  // namespace meridian::base
