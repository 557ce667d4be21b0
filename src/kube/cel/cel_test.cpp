// SPDX-License-Identifier: Apache-2.0
#include "kube/cel/cel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meridian::kube {
namespace {

using base::Json;

const Json& self() {
  static const Json value = base::parse_json(R"({"run":10,"wait":20,"name":"résumé","ratio":0.5,
    "list":[1,2,3],"names":["a","b"],"empty":[],"map":{"a":1,"b":2},"nothing":null,"yes":true,
    "steps":[{"name":"x","n":1},{"name":"y","n":2}],"a-b":1,"namespace":"n","c.d/e":2,"f__g":3,
    "start":"2026-01-31T12:00:00Z","big":18446744073709551615})")
                                .value();
  return value;
}

// The value as JSON, or "error: …".
std::string run(std::string_view text) {
  const auto program = compile_cel(text);
  if (!program) return "does not compile: " + program.error().text();
  const auto value = program->evaluate({{"self", &self()}});
  return value ? base::to_text(*value) : "error: " + value.error();
}

struct Case {
  const char *text, *value;
};
void expect(std::initializer_list<Case> cases) {
  for (const Case& c : cases) EXPECT_EQ(run(c.text), c.value) << c.text;
}

TEST(Cel, LiteralsOfEveryType) {
  expect({{"1", "1"},
          {"-1", "-1"},
          {"0xFF", "255"},
          {"-9223372036854775808", "-9223372036854775808"},
          {"5u", "5"},
          {"1.5", "1.5"},
          {"1e3", "1000.0"},
          {".5", "0.5"},
          {"true && false", "false"},
          {"null", "null"},
          {"'a\\n\\u00e9\\x41\\101'", "\"a\\néAA\""},
          {"r'a\\n'", "\"a\\\\n\""},
          {"'''a\n'b\" '''", "\"a\\n'b\\\" \""},
          {"b'\\xff\\x00'", "\"/wA=\""},
          {"[1, 'a', [],]", "[1,\"a\",[]]"},
          {"{'a': 1, 'b': {}}", "{\"a\":1,\"b\":{}}"},
          {"1 // a comment\n + 1", "2"}});
}

TEST(Cel, OperatorsBindAsTheLanguageSays) {
  expect({{"1 + 2 * 3", "7"},
          {"(1 + 2) * 3", "9"},
          {"10 - 2 - 3", "5"},
          {"7 / 2", "3"},
          {"-7 / 2", "-3"},
          {"-7 % 3", "-1"},
          {"7.0 / 2.0", "3.5"},
          {"!true || true", "true"},
          {"!!true", "true"},
          {"- -3", "3"},
          {"1 < 2 && 2 < 3 || false", "true"},
          {"true ? 1 : false ? 2 : 3", "1"},
          {"false ? 1 : false ? 2 : 3", "3"},
          {"1 + 1 == 2", "true"},
          {"1 in [1, 2]", "true"},
          {"3 in [1, 2]", "false"},
          {"'a' in {'a': 1}", "true"},
          {"'a' + 'b' == 'ab'", "true"},
          {"[1] + [2]", "[1,2]"},
          {"b'a' + b'b' == b'ab'", "true"},
          {"-self.run", "-10"}});
}

TEST(Cel, MembersAndItemsAreFound) {
  expect({{"self.run", "10"},
          {"self['run']", "10"},
          {"self.list[1]", "2"},
          {"self.steps[0].name", "\"x\""},
          {"self.map", "{\"a\":1,\"b\":2}"},
          {"self.nothing == null", "true"},
          {"has(self.run)", "true"},
          {"has(self.nothing)", "true"},
          {"has(self.none)", "false"},
          {"self.a__dash__b", "1"},
          {"self.__namespace__", "\"n\""},
          {"self.c__dot__d__slash__e", "2"},
          {"self.f__underscores__g", "3"},
          {"has(self.a__dash__b)", "true"},
          {"{'k': 5}.k", "5"},
          {"{1: 'a'}[1]", "\"a\""},
          {"[10, 20][1u]", "20"},
          {"self.none", "error: no such key: none"},
          {"self.none.deeper", "error: no such key: none"},
          {"has(self.none.deeper)", "error: no such key: none"},
          {"self.map['z']", "error: no such key: z"},
          {"self.list[3]", "error: index out of bounds: 3"},
          {"self.list[-1]", "error: index out of bounds: -1"},
          {"self.run.x", "error: no such overload: int.x"},
          {"other", "error: no such variable: other"}});
}

TEST(Cel, NumbersCompareByValueAndNeverMix) {
  expect({{"1 == 1.0", "true"},
          {"1u == 1", "true"},
          {"1 < 1.5", "true"},
          {"9007199254740993 == 9007199254740992.0", "false"},
          {"self.big > 9223372036854775807", "true"},
          {"-1 < 0u", "true"},
          {"'a' == 1", "false"},
          {"[1, 2.0] == [1.0, 2]", "true"},
          {"{'a': 1} == {'a': 1.0}", "true"},
          {"'a' < 'b'", "true"},
          {"false < true", "true"},
          {"0.0 / 0.0 == 0.0 / 0.0", "false"},
          {"0.0 / 0.0 < 1.0", "false"},
          {"1 + 1.0", "error: no such overload: int + double"},
          {"1 + 'a'", "error: no such overload: int + string"},
          {"1 < 'a'", "error: no such overload: int < string"},
          {"[1] < [2]", "error: no such overload: list < list"},
          {"9223372036854775807 + 1", "error: integer overflow"},
          {"-9223372036854775808 / -1", "error: integer overflow"},
          {"-(-9223372036854775808)", "error: integer overflow"},
          {"0u - 1u", "error: integer overflow"},
          {"1 / 0", "error: division by zero"},
          {"1 % 0", "error: modulus by zero"},
          {"1.0 / 0.0 > 1.0", "true"}});
}

TEST(Cel, OneSideOfAndAndOrMayFailWhenTheOtherDecides) {
  expect({{"true || self.none", "true"},
          {"self.none || true", "true"},
          {"self.none || false", "error: no such key: none"},
          {"false && self.none", "false"},
          {"self.none == 1 && false", "false"},
          {"self.none == 1 && true", "error: no such key: none"},
          {"1 || true", "true"},
          {"1 || false", "error: no such overload: ||(int)"},
          {"1 ? 2 : 3", "error: no such overload: ?:(int)"},
          {"!1", "error: no such overload: !(int)"}});
}

TEST(Cel, MacrosRunOverListsAndMaps) {
  expect({{"self.list.all(x, x > 0)", "true"},
          {"self.list.all(x, x > 1)", "false"},
          {"self.list.exists(x, x == 2)", "true"},
          {"self.empty.all(x, false)", "true"},
          {"self.empty.exists(x, true)", "false"},
          {"self.list.exists_one(x, x > 2)", "true"},
          {"self.list.exists_one(x, x > 1)", "false"},
          {"self.list.map(x, x * 2)", "[2,4,6]"},
          {"self.list.map(x, x > 1, x * 2)", "[4,6]"},
          {"self.list.filter(x, x != 2)", "[1,3]"},
          {"self.map.all(k, self.map[k] > 0)", "true"},
          {"self.map.map(k, k)", "[\"a\",\"b\"]"},
          {"self.steps.map(s, s.name)", "[\"x\",\"y\"]"},
          {"self.list.all(x, self.list.exists(y, y == x))", "true"},
          {"self.list.map(x, self.list.filter(x, x > 2))", "[[3],[3],[3]]"},
          {"self.list.all(x, x.none)", "error: no such overload: int.none"},
          {"self.list.all(x, x == 1 ? false : x.none)", "false"},
          {"self.list.exists(x, x)", "error: no such overload: exists(int)"},
          {"self.run.all(x, true)", "error: no such overload: all(int)"},
          {"[1, 2].filter(x, 1)", "error: no such overload: filter(int)"}});
}

TEST(Cel, StringsAreCountedAndCutByCharacters) {
  expect({{"size(self.name)", "6"},
          {"self.name.size()", "6"},
          {"size([1, 2]) + size({'a': 1}) + size(b'ab')", "5"},
          {"self.name.startsWith('ré')", "true"},
          {"self.name.endsWith('é')", "true"},
          {"self.name.contains('sum')", "true"},
          {"self.name.matches('^r.s')", "true"},
          {"matches(self.name, 'x')", "false"},
          {"self.name.matches('s' + 'u')", "true"},
          {"'a1b22'.find('[0-9]+')", "\"1\""},
          {"'ab'.find('[0-9]+')", "\"\""},
          {"'a1b22'.findAll('[0-9]+')", "[\"1\",\"22\"]"},
          {"'a1b22'.findAll('[0-9]*', 2)", "[\"\",\"1\"]"},
          {"'AbÉ'.lowerAscii()", "\"abÉ\""},
          {"'abé'.upperAscii()", "\"ABé\""},
          {"' \\t a b\\u00a0'.trim()", "\"a b\""},
          {"'   '.trim()", "\"\""},
          {"'a,b,c'.split(',')", "[\"a\",\"b\",\"c\"]"},
          {"'a,b,c'.split(',', 2)", "[\"a\",\"b,c\"]"},
          {"'a,b'.split(',', 0)", "[]"},
          {"'aé'.split('')", "[\"a\",\"é\"]"},
          {"['a', 'b'].join()", "\"ab\""},
          {"['a', 'b'].join('-')", "\"a-b\""},
          {"'banana'.replace('an', 'x')", "\"bxxa\""},
          {"'banana'.replace('an', 'x', 1)", "\"bxana\""},
          {"'éa'.replace('', '-')", "\"-é-a-\""},
          {"'résumé'.substring(1)", "\"ésumé\""},
          {"'résumé'.substring(1, 3)", "\"és\""},
          {"'résumé'.substring(6)", "\"\""},
          {"'résumé'.charAt(1)", "\"é\""},
          {"'résumé'.charAt(6)", "\"\""},
          {"'banana'.indexOf('an')", "1"},
          {"'banana'.indexOf('an', 2)", "3"},
          {"'banana'.lastIndexOf('an')", "3"},
          {"'banana'.lastIndexOf('an', 2)", "1"},
          {"'banana'.indexOf('x')", "-1"},
          {"'résumé'.substring(7)", "error: index out of range: 7"},
          {"'a'.substring(1, 0)", "error: index out of range: 0"},
          {"'a'.matches('(' + 'x')",
           "error: the pattern is none: at byte 2: missing closing parenthesis"},
          {"(1).matches('x')", "error: no such overload: matches(int)"},
          {"[1].join()", "error: no such overload: join(int)"}});
}

TEST(Cel, ListsHaveTheirFunctions) {
  expect({{"[1, 2, 2].isSorted()", "true"},
          {"['b', 'a'].isSorted()", "false"},
          {"[1, 2, 3].sum()", "6"},
          {"[0.5, 1.0].sum()", "1.5"},
          {"[].sum()", "0"},
          {"[3, 1, 2].min()", "1"},
          {"[3, 1, 2].max()", "3"},
          {"['a', 'b'].max()", "\"b\""},
          {"[1, 2, 1].indexOf(1)", "0"},
          {"[1, 2, 1].lastIndexOf(1)", "2"},
          {"[1].indexOf(5)", "-1"},
          {"[].min()", "error: an empty list has no smallest and no largest item"},
          {"[1, 'a'].max()", "error: no such overload: int max string"},
          {"['a'].sum()", "error: no such overload: sum(string)"}});
}

TEST(Cel, ConversionsAreExactOrErrors) {
  expect({{"int('42')", "42"},
          {"int(3.9)", "3"},
          {"int(5u)", "5"},
          {"uint(5)", "5"},
          {"double(2)", "2.0"},
          {"double('1.5')", "1.5"},
          {"string(5)", "\"5\""},
          {"string(1.5)", "\"1.5\""},
          {"string(true)", "\"true\""},
          {"string(b'ab')", "\"ab\""},
          {"bytes('ab') == b'ab'", "true"},
          {"bool('true')", "true"},
          {"dyn(1) == 1.0", "true"},
          {"type(1) == int", "true"},
          {"type('a') == string && type([]) == list && type({}) == map", "true"},
          {"type(null) == null_type", "true"},
          {"type(1u) == type(1)", "false"},
          {"int('x')", "error: 'x' is no int"},
          {"int(1e30)", "error: range error converting to int"},
          {"uint(-1)", "error: range error converting to uint"},
          {"bool('maybe')", "error: 'maybe' is no bool"},
          {"string(b'\\xff')", "error: the bytes are no UTF-8"},
          {"int([])", "error: no such overload: int(list)"}});
}

TEST(Cel, TimesAreAddedComparedAndTakenApart) {
  expect({{"duration('1h30m')", "\"5400s\""},
          {"duration('1h') < duration('61m')", "true"},
          {"duration('1h') + duration('1m') == duration('61m')", "true"},
          {"-duration('1s') == duration('-1s')", "true"},
          {"duration('90m').getHours()", "1"},
          {"duration('90m').getMinutes()", "90"},
          {"duration('1.5s').getMilliseconds()", "1500"},
          {"timestamp(self.start)", "\"2026-01-31T12:00:00Z\""},
          {"timestamp(self.start) + duration('1h30m')", "\"2026-01-31T13:30:00Z\""},
          {"timestamp(self.start) - duration('24h') < timestamp(self.start)", "true"},
          {"timestamp(self.start) - timestamp('2026-01-31T11:00:00Z') == duration('1h')", "true"},
          {"timestamp('2026-01-31T12:00:00.25Z').getMilliseconds()", "250"},
          {"timestamp(self.start).getFullYear()", "2026"},
          {"timestamp(self.start).getMonth()", "0"},
          {"timestamp(self.start).getDate()", "31"},
          {"timestamp(self.start).getDayOfMonth()", "30"},
          {"timestamp(self.start).getDayOfWeek()", "6"},
          {"timestamp(self.start).getDayOfYear()", "30"},
          {"timestamp(self.start).getHours('+02:00')", "14"},
          {"timestamp('1969-12-31T23:59:59Z').getSeconds()", "59"},
          {"int(timestamp(self.start))", "1769860800"},
          {"timestamp(1769860800) == timestamp(self.start)", "true"},
          {"string(timestamp(self.start))", "\"2026-01-31T12:00:00Z\""},
          {"timestamp('soon')", "error: 'soon' is no timestamp"},
          {"duration('1 day')", "error: '1 day' is no duration"},
          {"timestamp('9999-12-31T23:59:59Z') + duration('1s')", "error: timestamp overflow"},
          {"duration('2562047h') + duration('2562047h')", "error: duration overflow"},
          {"timestamp(self.start).getHours('Mars')",
           "error: time zone 'Mars' is neither UTC nor like +01:00"}});
}

TEST(Cel, WhatIsNoExpressionSaysWhere) {
  const struct {
    const char* text;
    std::size_t offset;
  } cases[] = {{"", 0},
               {"1 +", 3},
               {"(1", 2},
               {"1)", 1},
               {"a b", 2},
               {"'abc", 4},
               {"'a\nb'", 2},
               {"a.", 2},
               {"a[1", 3},
               {"[1,,2]", 3},
               {"f(1)", 0},
               {"a.f(1)", 2},
               {"size()", 0},
               {"size(1, 2)", 0},
               {"has(a)", 0},
               {"a.in", 2},
               {"for", 0},
               {"a.all(1, true)", 6},
               {"Msg{a: 1}", 3},
               {"1 = 2", 2},
               {"a & b", 2},
               {"'\\q'", 1},
               {"'\\ud800'", 1},
               {"0x", 2},
               {"1a", 1},
               {"9223372036854775808", 0},
               {"99999999999999999999u", 20},
               {"a.matches('(')", 10},
               {"{1: 2, 3}", 8},
               {"@", 0},
               {"f(1,)", 4}};
  for (const auto& c : cases) {
    const auto program = compile_cel(c.text);
    ASSERT_FALSE(program.ok()) << c.text;
    EXPECT_EQ(program.error().offset, c.offset) << c.text << ": " << program.error().message;
    EXPECT_FALSE(program.error().message.empty());
  }
  EXPECT_FALSE(compile_cel("'\xff'").ok());
}

TEST(Cel, DepthAndLengthAreBounded) {
  const auto nested = [](int depth) {
    return std::string(depth, '(') + "1" + std::string(depth, ')');
  };
  EXPECT_TRUE(compile_cel(nested(60)).ok());
  EXPECT_FALSE(compile_cel(nested(100)).ok());
  EXPECT_FALSE(compile_cel(std::string(11'000, '1')).ok());
  std::string sum = "1", all = "true", dots = "a", negations = std::string(2'001, '!') + "true";
  for (int i = 0; i < 1'000; ++i) {
    sum += " + 1";
    all += " && true";
    dots += ".b";
  }
  EXPECT_EQ(run(sum), "1001");
  EXPECT_EQ(run(all), "true");
  EXPECT_EQ(run(negations), "false");
  EXPECT_FALSE(compile_cel(dots).ok());
}

TEST(Cel, EvaluationIsBounded) {
  const std::string digits = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]";
  std::string loops = "true";
  for (const char* variable : {"a", "b", "c", "d", "e", "f", "g"}) {
    loops = digits + ".all(" + variable + ", " + loops + ")";
  }
  for (const std::string& text : {loops, loops + " || true"}) {
    CelBudget small{.steps = 20'000};
    const auto value = compile_cel(text)->evaluate({}, &small);
    ASSERT_FALSE(value.ok());
    EXPECT_EQ(value.error(), "evaluation takes too many steps");
  }
  std::string doubling = "'" + std::string(5'000, 'x') + "'";
  for (int i = 0; i < 14; ++i) doubling = "[" + doubling + "].map(x, x + x)[0]";
  EXPECT_EQ(run(doubling), "error: evaluation takes too many steps");
  const auto rule = compile_cel("self.list.all(x, x > 0)");
  CelBudget shared{.steps = 30};
  EXPECT_TRUE(rule->test({{"self", &self()}}, &shared).ok());
  EXPECT_FALSE(rule->test({{"self", &self()}}, &shared).ok());
}

TEST(Cel, ARuleSaysWhatItReads) {
  const auto rule = compile_cel("self.run > oldSelf.run && [1].all(x, x > y) && type(1) == int");
  EXPECT_THAT(rule->variables(), ::testing::ElementsAre("oldSelf", "self", "y"));
  EXPECT_TRUE(rule->uses("oldSelf"));
  EXPECT_FALSE(rule->uses("x"));
}

TEST(Cel, AVerdictIsABool) {
  const CelProgram::Variables variables{{"self", &self()}};
  EXPECT_EQ(*compile_cel("self.wait >= self.run")->test(variables), true);
  EXPECT_EQ(*compile_cel("self.wait < self.run")->test(variables), false);
  EXPECT_EQ(compile_cel("self.run")->test(variables).error(),
            "the value is no bool but of type int");
  EXPECT_EQ(compile_cel("{1: 2}")->evaluate(variables).error(),
            "the value is no JSON: a map with keys that are no strings");
}

}  // namespace
}  // namespace meridian::kube
