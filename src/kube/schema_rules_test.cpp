// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml.h"
#include "kube/schema.h"
#include "kube/schema_node.h"

namespace meridian::kube {
namespace {

using base::Json;
using Texts = std::vector<std::string>;

Json yaml(std::string_view text) { return base::parse_yaml(text).value().front().value; }

base::Result<Schema, Cause> parse(std::string_view spec) {
  return parse_schema(yaml("{type: object, properties: {spec: " + std::string(spec) + "}}"));
}

Texts causes(std::string_view spec, std::string_view now, std::string_view then = "") {
  const auto schema = parse(spec);
  EXPECT_TRUE(schema.ok()) << schema.error().field << ": " << schema.error().message;
  const Json object = yaml("{spec: " + std::string(now) + "}");
  const Json old = then.empty() ? Json() : yaml("{spec: " + std::string(then) + "}");
  Texts out;
  for (const Cause& cause : validate(*schema, object, then.empty() ? nullptr : &old)) {
    out.push_back(cause.reason + " " + cause.field + ": " + cause.message);
  }
  return out;
}

const char* const waits =
    R"({type: object, properties: {run: {type: integer}, wait: {type: integer}},
  x-kubernetes-validations: [{rule: '!has(self.wait) || self.wait >= self.run', message: wait before
  you run}]})";

TEST(SchemaRules, ABrokenRuleIsACauseWithItsMessage) {
  EXPECT_EQ(causes(waits, "{run: 1, wait: 1}"), Texts{});
  EXPECT_EQ(causes(waits, "{run: 1}"), Texts{});
  EXPECT_EQ(causes(waits, "{run: 2, wait: 1}"),
            Texts{"FieldValueInvalid spec: Invalid value: \"object\": wait before you run"});
}

TEST(SchemaRules, ARuleThatCannotBeEvaluatedSaysWhy) {
  EXPECT_EQ(causes(waits, "{wait: 1}"),
            Texts{"FieldValueInvalid spec: Invalid value: \"object\": rule '!has(self.wait) || "
                  "self.wait >= self.run' cannot be evaluated: no such key: run"});
}

TEST(SchemaRules, TheRestMustBeRightFirst) {
  EXPECT_EQ(causes(waits, "{run: x, wait: 1}").size(), 1u);
  EXPECT_EQ(causes(waits, "{run: x, wait: 1}")[0].find("rule"), std::string::npos);
}

TEST(SchemaRules, AMessageCanBeWorkedOut) {
  const char* spec =
      "{type: integer, x-kubernetes-validations: [{rule: self < 5, messageExpression: "
      "'string(self) + \" is too many\"'}]}";
  EXPECT_EQ(causes(spec, "7"),
            Texts{"FieldValueInvalid spec: Invalid value: \"integer\": 7 is too many"});
  const char* broken =
      "{type: integer, x-kubernetes-validations: [{rule: self < 5, "
      "messageExpression: 'self', message: too many}]}";
  EXPECT_EQ(causes(broken, "7"),
            Texts{"FieldValueInvalid spec: Invalid value: \"integer\": too many"});
  EXPECT_EQ(causes("{type: integer, x-kubernetes-validations: [{rule: self < 5}]}", "7"),
            Texts{"FieldValueInvalid spec: Invalid value: \"integer\": failed rule: self < 5"});
}

TEST(SchemaRules, ReasonAndFieldCanBeChosen) {
  const auto with = [](const std::string& reason) {
    return "{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "
           "'has(self.a)', "
           "message: say so, fieldPath: .a, reason: " +
           reason + "}]}";
  };
  EXPECT_EQ(causes(with("FieldValueRequired"), "{}"),
            Texts{"FieldValueRequired spec.a: Required value: say so"});
  EXPECT_EQ(causes(with("FieldValueForbidden"), "{}"),
            Texts{"FieldValueForbidden spec.a: Forbidden: say so"});
  EXPECT_EQ(causes(with("FieldValueDuplicate"), "{}"),
            Texts{"FieldValueDuplicate spec.a: Duplicate value: \"object\""});
}

TEST(SchemaRules, TransitionRulesRunOnUpdatesOnly) {
  const char* spec =
      "{type: object, properties: {a: {type: string, x-kubernetes-validations: [{rule: self "
      "== oldSelf, message: is immutable}]}}}";
  EXPECT_EQ(causes(spec, "{a: x}"), Texts{});
  EXPECT_EQ(causes(spec, "{a: x}", "{a: x}"), Texts{});
  EXPECT_EQ(causes(spec, "{a: x}", "{}"), Texts{}) << "there was none before";
  EXPECT_EQ(causes(spec, "{a: x}", "{a: y}"),
            Texts{"FieldValueInvalid spec.a: Invalid value: \"string\": is immutable"});
}

TEST(SchemaRules, ItemsOfAMapListMeetTheirFormerSelves) {
  const std::string items =
      "items: {type: object, required: [n], properties: {n: {type: string}, v: {type: integer}}, "
      "x-kubernetes-validations: [{rule: self.v >= oldSelf.v, message: shrinks}]}";
  const std::string map =
      "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [n], " + items + "}";
  EXPECT_EQ(causes(map, "[{n: b, v: 1}, {n: a, v: 1}]", "[{n: a, v: 2}]"),
            Texts{"FieldValueInvalid spec[1]: Invalid value: \"object\": shrinks"});
  EXPECT_EQ(causes("{type: array, " + items + "}", "[{n: a, v: 1}]", "[{n: a, v: 2}]"), Texts{});
}

TEST(SchemaRules, NumbersHaveTheSchemasType) {
  EXPECT_EQ(causes("{type: number, x-kubernetes-validations: [{rule: self / 2.0 < 1.0}]}", "1"),
            Texts{});
  EXPECT_EQ(causes("{type: integer, x-kubernetes-validations: [{rule: self % 2 == 0}]}", "4.0"),
            Texts{});
}

TEST(SchemaRules, RulesAreFoundEverywhere) {
  const char* spec =
      "{type: object, additionalProperties: {type: array, items: {type: integer, "
      "x-kubernetes-validations: [{rule: self > 0}]}}}";
  EXPECT_EQ(causes(spec, "{a: [1, 0], b: [-1]}").size(), 2u);
}

TEST(SchemaRules, WhatIsNoRuleIsRefusedWithTheDefinition) {
  const struct {
    const char *rules, *cause;
  } cases[] = {
      {"[{}]", "[0].rule: Required value"},
      {"[{rule: 'self >'}]",
       "[0].rule: Invalid value: \"self >\": compilation failed: at byte 6: the expression ends "
       "too early"},
      {"[{rule: self == other}]",
       "[0].rule: Invalid value: \"self == other\": compilation failed: 'other' "
       "is neither self nor oldSelf"},
      {"[{rule: 'true', messageExpression: '('}]",
       "[0].messageExpression: Invalid value: \"(\": compilation failed: at byte 1: the expression "
       "ends "
       "too early"},
      {"[{rule: 'true', reason: Odd}]",
       "[0].reason: Unsupported value: \"Odd\": supported values: \"FieldValueDuplicate\", "
       "\"FieldValueForbidden\", \"FieldValueInvalid\", \"FieldValueRequired\""},
      {"[{rule: 'true', fieldPath: a}]",
       "[0].fieldPath: Invalid value: \"a\": must start with a '.'"},
      {"[{rule: 'true', optionalOldSelf: true}]", "[0].optionalOldSelf: Forbidden: not supported"},
  };
  for (const auto& c : cases) {
    const auto schema =
        parse("{type: string, x-kubernetes-validations: " + std::string(c.rules) + "}");
    ASSERT_FALSE(schema.ok()) << c.rules;
    EXPECT_EQ(schema.error().field + ": " + schema.error().message,
              "properties[spec].x-kubernetes-validations" + std::string(c.cause));
  }
}

TEST(SchemaRules, AMemberThatTheSchemaDoesNotHaveIsToldWhenItIsParsed) {
  const auto verdict = [](const std::string& rule) {
    const auto schema = parse(
        "{type: object, properties: {a: {type: object, properties: {b: {type: string}}}, "
        "a-b: {type: string}, open: {type: object, x-kubernetes-preserve-unknown-fields: true}, "
        "map: {type: object, additionalProperties: {type: string}}, list: {type: array, items: "
        "{type: object, properties: {c: {type: string}}}}}, x-kubernetes-validations: [{rule: \"" +
        rule + "\"}]}");
    return schema.ok() ? "" : schema.error().message;
  };
  for (const char* rule :
       {"self.a.b == 'x'", "has(self.a) && has(self.a.b)", "self.open.x.y == 1",
        "self.map.anything == 'x'", "self.a__dash__b == 'x'", "self.kind == 'Job'",
        "self.metadata.name == 'x'", "self.list.all(one, one.c == self.a.b)",
        "self.list.all(self, self.c == 'x')"}) {
    EXPECT_EQ(verdict(rule), "") << rule;
  }
  EXPECT_THAT(verdict("self.b == 'x'"), testing::HasSubstr("undefined field 'b'"));
  EXPECT_THAT(verdict("has(self.a.c)"), testing::HasSubstr("undefined field 'c'"));
  EXPECT_THAT(verdict("self.list.all(one, one.c == self.a.d)"),
              testing::HasSubstr("undefined field 'd'"));
  EXPECT_THAT(verdict("self.a.b == oldSelf.a.e"), testing::HasSubstr("undefined field 'e'"));
}

TEST(SchemaRules, TheirCostIsBoundedPerObject) {
  const auto schema = parse(
      "{type: array, items: {type: integer, x-kubernetes-validations: [{rule: "
      "self > 0}]}}");
  Json object = yaml("{spec: []}");
  for (int i = 0; i < 100; ++i) object.at("spec").as_array().push_back(1);
  EXPECT_TRUE(rule_causes(schema->root(), object, nullptr, "", {.steps = 1'000}).empty());
  const auto causes = rule_causes(schema->root(), object, nullptr, "", {.steps = 100});
  ASSERT_FALSE(causes.empty());
  EXPECT_NE(causes[0].message.find("too many steps"), std::string::npos);
}

}  // namespace
}  // namespace meridian::kube
