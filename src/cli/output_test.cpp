// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <gmock/gmock.h>

#include <sstream>

#include "base/json.h"
#include "base/yaml.h"
#include "cli/console.h"
#include "cli/format.h"

namespace meridian::cli {
namespace {

TEST(Table, ColumnsAreAsWideAsTheirLongestCell) {
  Table table({"NAME", "AGE"});
  table.add({"digits-1", "5s"});
  table.add({"größe", "12m"});
  std::ostringstream out;
  table.print(out);
  EXPECT_EQ(out.str(), "NAME      AGE\ndigits-1  5s\ngröße     12m\n");
}

TEST(Format, AnUnknownFormatListsTheOthers) {
  EXPECT_EQ(parse_format("yaml"), Format::yaml);
  EXPECT_THROW(parse_format("xml"), base::Error);
}

// What to_yaml writes must read back as the same value.
void expect_round_trip(std::string_view json) {
  const auto value = base::parse_json(json);
  ASSERT_TRUE(value) << json;
  const auto text = to_yaml(*value);
  auto documents = base::parse_yaml(text);
  ASSERT_TRUE(documents) << text << documents.error().text();
  ASSERT_EQ(documents->size(), 1u);
  EXPECT_EQ(base::to_text(documents->front().value, base::JsonStyle::sorted),
            base::to_text(*value, base::JsonStyle::sorted))
      << text;
}

TEST(Yaml, ReadsBackAsTheSameValue) {
  expect_round_trip(R"({"a":1,"b":{"c":[1,2,{"d":"e","f":[]}],"g":{}},"h":null})");
  expect_round_trip(R"({"text":"true","number":"12","colon":"a: b","hash":"a #b","empty":""})");
  expect_round_trip(R"({"lines":"a\nb","quote":"\"x\"","dash":"- a","tab":"a\tb","e":"1e5"})");
  expect_round_trip(R"([[1,[2,3]],[],{"a":{"b":[{"c":1}]}}])");
  expect_round_trip(R"({"0x1f":"s3://bucket/key","yes":"no","~":"~"})");
}

TEST(Numbers, AreShortAndExactEnough) {
  EXPECT_EQ(format_number(0.98892), "0.9889");
  EXPECT_EQ(format_number(5716.84), "5716.8");
  EXPECT_EQ(format_number(1437), "1437");
  EXPECT_EQ(format_number(0.0000321), "3.21e-05");
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_money(0.00054), "$0.0005");
  EXPECT_EQ(format_money(12.4), "$12.40");
}

TEST(Ages, HaveOneUnit) {
  EXPECT_EQ(format_age(base::Duration(5'000)), "5s");
  EXPECT_EQ(format_age(base::Duration(150'000)), "2m");
  EXPECT_EQ(format_age(base::Duration(3 * 3'600'000)), "3h");
  EXPECT_EQ(format_age(base::Duration(-5)), "0s");
}

TEST(ShellQuote, LeavesPlainWordsAndProtectsTheRest) {
  EXPECT_EQ(shell_quote("http://127.0.0.1:8470"), "http://127.0.0.1:8470");
  EXPECT_EQ(shell_quote("a b"), "'a b'");
  EXPECT_EQ(shell_quote("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quote("$HOME"), "'$HOME'");
  EXPECT_EQ(shell_quote(""), "''");
}

TEST(Console, CutsLinesToTheWidthWithoutCountingEscapes) {
  EXPECT_EQ(fit("short", 10), "short");
  EXPECT_EQ(fit("0123456789", 5), "0123…");
  EXPECT_EQ(fit("\x1b[1mbold text\x1b[0m", 20), "\x1b[1mbold text\x1b[0m");
  EXPECT_EQ(columns("\x1b[1mgröße\x1b[0m"), 5);
}

TEST(Console, RedrawsTheBlockBelowWhatIsSaid) {
  std::ostringstream out, err;
  Console console(out, err, {.terminal = true, .width = 40});
  console.draw({"one", "two"});
  console.say("news");
  EXPECT_EQ(err.str(), "one\ntwo\n\x1b[2A\x1b[Jnews\none\ntwo\n");
}

TEST(Console, DrawsNothingWhereThereIsNoTerminal) {
  std::ostringstream out, err;
  Console console(out, err, {});
  console.draw({"one"});
  console.say("news");
  EXPECT_EQ(err.str(), "news\n");
  EXPECT_EQ(console.paint(Colour::red, "x"), "x");
}

}  // namespace
}  // namespace meridian::cli
