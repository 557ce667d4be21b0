// SPDX-License-Identifier: Apache-2.0
#include "kube/schema.h"

#include <gtest/gtest.h>

#include "base/yaml.h"
#include "kube/schema_node.h"

namespace meridian::kube {
namespace {

using base::Json;
using Texts = std::vector<std::string>;

Json yaml(std::string_view text) {
  const auto documents = base::parse_yaml(text);
  EXPECT_TRUE(documents.ok()) << text << ": " << (documents ? "" : documents.error().text());
  return documents ? documents->front().value : Json();
}

// A schema whose spec has these properties.
Schema with_spec(std::string_view properties, std::string_view more = "") {
  auto schema = parse_schema(yaml("{type: object, properties: {spec: {type: object, properties: {" +
                                  std::string(properties) + "}" + std::string(more) + "}}}"));
  EXPECT_TRUE(schema.ok()) << (schema ? "" : schema.error().field + ": " + schema.error().message);
  return *schema;
}

Texts causes(const Schema& schema, std::string_view object) {
  Texts out;
  for (const Cause& cause : validate(schema, yaml(object))) {
    out.push_back(cause.field + ": " + cause.message);
  }
  return out;
}

TEST(Schema, WhatIsWrongIsSaidInKubernetesWords) {
  const struct {
    const char *properties, *spec, *cause;
  } cases[] = {
      {"a: {type: integer}", "{a: x}",
       "spec.a: Invalid value: \"string\": spec.a in body must be of type integer: \"string\""},
      {"a: {type: string}", "{a: null}",
       "spec.a: Invalid value: \"null\": spec.a in body must be of type string: \"null\""},
      {"a: {type: integer}", "{a: 1.5}",
       "spec.a: Invalid value: \"number\": spec.a in body must be of type integer: \"number\""},
      {"a: {x-kubernetes-int-or-string: true}", "{a: true}",
       "spec.a: Invalid value: \"boolean\": spec.a in body must be of type integer,string: "
       "\"boolean\""},
      {"a: {type: string, enum: [x, y]}", "{a: z}",
       "spec.a: Unsupported value: \"z\": supported values: \"x\", \"y\""},
      {"a: {type: integer, enum: [1, 2]}", "{a: 3}",
       "spec.a: Unsupported value: 3: supported values: \"1\", \"2\""},
      {"a: {type: string, maxLength: 2}", "{a: ééé}",
       "spec.a: Too long: may not be more than 2 bytes"},
      {"a: {type: string, minLength: 1}", "{a: ''}",
       "spec.a: Invalid value: \"\": spec.a in body should be at least 1 chars long"},
      {"a: {type: string, pattern: '^x+$'}", "{a: xy}",
       "spec.a: Invalid value: \"xy\": spec.a in body should match '^x+$'"},
      {"a: {type: string, format: date-time}", "{a: soon}",
       "spec.a: Invalid value: \"soon\": spec.a in body must be of type date-time: \"soon\""},
      {"a: {type: integer, minimum: 1}", "{a: 0}",
       "spec.a: Invalid value: 0: spec.a in body should be greater than or equal to 1"},
      {"a: {type: integer, minimum: 1, exclusiveMinimum: true}", "{a: 1}",
       "spec.a: Invalid value: 1: spec.a in body should be greater than 1"},
      {"a: {type: number, maximum: 1.5}", "{a: 2}",
       "spec.a: Invalid value: 2: spec.a in body should be less than or equal to 1.5"},
      {"a: {type: number, maximum: 2, exclusiveMaximum: true}", "{a: 2.0}",
       "spec.a: Invalid value: 2.0: spec.a in body should be less than 2"},
      {"a: {type: number, multipleOf: 0.1}", "{a: 0.25}",
       "spec.a: Invalid value: 0.25: spec.a in body should be a multiple of 0.1"},
      {"a: {type: array, maxItems: 1, items: {type: string}}", "{a: [x, y]}",
       "spec.a: Too many: 2: must have at most 1 items"},
      {"a: {type: array, minItems: 1, items: {type: string}}", "{a: []}",
       "spec.a: Invalid value: 0: spec.a in body should have at least 1 items"},
      {"a: {type: object, maxProperties: 1, additionalProperties: {type: string}}",
       "{a: {x: y, z: y}}", "spec.a: Too many: 2: must have at most 1 items"},
      {"a: {type: object, minProperties: 1, additionalProperties: {type: string}}", "{a: {}}",
       "spec.a: Invalid value: 0: spec.a in body should have at least 1 properties"},
      {"a: {type: array, items: {type: object, required: [n], properties: {n: {type: string}}}}",
       "{a: [{n: x}, {}]}", "spec.a[1].n: Required value"},
      {"a: {type: object, additionalProperties: {type: integer}}", "{a: {k: x}}",
       "spec.a.k: Invalid value: \"string\": spec.a.k in body must be of type integer: \"string\""},
      {"a: {type: array, x-kubernetes-list-type: set, items: {type: string}}", "{a: [x, y, x]}",
       "spec.a[2]: Duplicate value: \"x\""},
      {"a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [n], items: "
       "{type: "
       "object, required: [n], properties: {n: {type: string}, v: {type: string}}}}",
       "{a: [{n: x, v: a}, {n: x, v: b}]}", "spec.a[1]: Duplicate value: {\"n\":\"x\"}"},
      {"a: {type: string, not: {enum: [x]}}", "{a: x}",
       "spec.a: Invalid value: \"\": \"spec.a\" must not validate the schema (not)"},
      {"a: {type: string, allOf: [{minLength: 2}, {maxLength: 3}]}", "{a: x}",
       "spec.a: Invalid value: \"x\": spec.a in body should be at least 2 chars long"},
      {"a: {type: object, x-kubernetes-embedded-resource: true, "
       "x-kubernetes-preserve-unknown-fields: "
       "true}",
       "{a: {apiVersion: v1}}", "spec.a.kind: Required value: must not be empty"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(causes(with_spec(c.properties), "{spec: " + std::string(c.spec) + "}"),
              Texts{c.cause});
  }
}

TEST(Schema, RightValuesPass) {
  const struct {
    const char *properties, *spec;
  } cases[] = {
      {"a: {type: integer}", "{a: 1.0}"},
      {"a: {type: integer}", "{}"},
      {"a: {type: number}", "{a: 1}"},
      {"a: {type: string, nullable: true, enum: [x]}", "{a: null}"},
      {"a: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}", "{a: x}"},
      {"a: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}", "{a: 5}"},
      {"a: {x-kubernetes-preserve-unknown-fields: true}", "{a: [1, {b: null}]}"},
      {"a: {type: string, maxLength: 3}", "{a: ééé}"},
      {"a: {type: number, multipleOf: 0.1}", "{a: 0.3}"},
      {"a: {type: integer, enum: [1]}", "{a: 1.0}"},
      {"a: {type: string, format: unheard-of}", "{a: x}"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(causes(with_spec(c.properties), "{spec: " + std::string(c.spec) + "}"), Texts{})
        << c.properties;
  }
}

TEST(Schema, AlternativesSayWhatTheNearestLacks) {
  const Schema schema = with_spec("a: {type: string}, b: {type: string}",
                                  ", oneOf: [{required: [a]}, {required: [b]}]");
  EXPECT_EQ(causes(schema, "{spec: {a: x}}"), Texts{});
  EXPECT_EQ(
      causes(schema, "{spec: {}}"),
      (Texts{"spec: Invalid value: \"\": \"spec\" must validate one and only one schema (oneOf). "
             "Found none valid",
             "spec.a: Required value"}));
  EXPECT_EQ(
      causes(schema, "{spec: {a: x, b: y}}"),
      (Texts{"spec: Invalid value: \"\": \"spec\" must validate one and only one schema (oneOf). "
             "Found 2 valid alternatives"}));
  const Schema any = with_spec("a: {type: string, anyOf: [{enum: [x]}, {minLength: 3}]}");
  EXPECT_EQ(causes(any, "{spec: {a: long}}"), Texts{});
  EXPECT_EQ(causes(any, "{spec: {a: z}}").size(), 2u);
}

TEST(Schema, AllThatIsWrongComesAtOnce) {
  const Schema schema = with_spec("a: {type: string}, b: {type: integer}", ", required: [c, d]");
  EXPECT_EQ(causes(schema, "{spec: {b: x, a: 1}}").size(), 4u);
  std::string many = "{spec: {a: [";
  for (int i = 0; i < 500; ++i) many += "1,";
  EXPECT_EQ(causes(with_spec("a: {type: array, items: {type: string}}"), many + "]}}").size(),
            100u);
}

TEST(Schema, FormatsAcceptTheirOwn) {
  const struct {
    const char* format;
    Texts good, bad;
  } cases[] = {
      {"date", {"2026-01-31"}, {"2026-02-30", "20260131", "2026-01-31T00:00:00Z", ""}},
      {"date-time",
       {"2026-01-31T12:00:00Z", "2026-01-31T12:00:00.5+01:00"},
       {"2026-01-31", "x", ""}},
      {"duration", {"1h30m", "5s", "0"}, {"5", "soon", ""}},
      {"byte", {"", "aGVsbG8="}, {"aGVsbG8", "%%"}},
      {"uuid", {"123e4567-e89b-12d3-a456-426614174000"}, {"123e4567e89b12d3a456426614174000", "x"}},
      {"ipv4", {"10.0.0.1"}, {"10.0.0.256", "::1", "10.0.0"}},
      {"ipv6", {"::1", "fe80::1"}, {"10.0.0.1", ":::"}},
      {"cidr", {"10.0.0.0/8", "::/0"}, {"10.0.0.0", "10.0.0.0/33", "::/129", "x/8"}},
      {"hostname", {"a.example.com", "A"}, {"-a", "a_b", ""}},
      {"email", {"a@b"}, {"a", "@b", "a@", "a b@c"}},
      {"uri", {"s3://b/k", "/path", "urn:x"}, {"x", "", "a b:c", "1:x"}},
  };
  for (const auto& c : cases) {
    for (const auto& text : c.good) EXPECT_TRUE(has_format(c.format, text)) << c.format << text;
    for (const auto& text : c.bad) EXPECT_FALSE(has_format(c.format, text)) << c.format << text;
  }
}

TEST(Schema, DefaultsFillWhatIsAbsent) {
  const Schema schema = with_spec(
      "a: {type: string, default: x}, n: {type: string, nullable: true, default: y}, gone: {type: "
      "string}, l: {type: array, items: {type: object, properties: {p: {type: integer, default: "
      "1}}}}, "
      "o: {type: object, default: {}, properties: {q: {type: string, default: z}}}, m: {type: "
      "object, "
      "additionalProperties: {type: object, properties: {r: {type: boolean, default: true}}}}");
  Json object = yaml("{spec: {a: null, n: null, gone: null, l: [{}, {p: 2}], m: {k: {}}}}");
  apply_defaults(schema, object);
  EXPECT_EQ(object,
            yaml("{spec: {a: x, n: null, l: [{p: 1}, {p: 2}], m: {k: {r: true}}, o: {q: z}}}"));
  Json again = object;
  apply_defaults(schema, again);
  EXPECT_EQ(again, object);
  Json without = yaml("{}");
  apply_defaults(schema, without);
  EXPECT_EQ(without, yaml("{}")) << "an absent object has no members to fill";
}

TEST(Schema, UnknownFieldsAreFoundAndPruned) {
  const Schema schema = with_spec(
      "a: {type: string}, l: {type: array, items: {type: object, properties: {p: {type: "
      "string}}}}, "
      "open: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {q: {type: "
      "object, "
      "properties: {}}}}, any: {type: object, additionalProperties: true}, empty: {type: object}, "
      "e: "
      "{type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object}}}");
  Json object = yaml(
      "{apiVersion: g/v1, kind: K, metadata: {any: thing}, top: 1, spec: {foo: 1, a: x, l: [{p: "
      "x}, {z: "
      "1}], open: {r: 1, q: {s: 1}}, any: {t: {u: 1}}, empty: {v: 1}, e: {apiVersion: v1, kind: P, "
      "metadata: {name: x}, w: 1}}}");
  EXPECT_EQ(unknown_fields(schema, object),
            (Texts{"top", "spec.foo", "spec.l[1].z", "spec.open.q.s", "spec.empty.v", "spec.e.w"}));
  prune(schema, object);
  EXPECT_EQ(object,
            yaml("{apiVersion: g/v1, kind: K, metadata: {any: thing}, spec: {a: x, l: [{p: x}, "
                 "{}], open: {r: 1, q: {}}, any: {t: {u: 1}}, empty: {}, e: {apiVersion: v1, "
                 "kind: P, metadata: {name: x}}}}"));
  EXPECT_EQ(unknown_fields(schema, object), Texts{});
}

TEST(Schema, ManyUnknownFieldsArePrunedInOneGo) {
  const Schema schema = with_spec("a: {type: string}, z: {type: string}");
  Json object = yaml("{spec: {a: x}}");
  for (int i = 0; i < 100; ++i) object.at("spec").as_object()["u" + std::to_string(i)] = i;
  object.at("spec").as_object()["z"] = "y";
  EXPECT_EQ(unknown_fields(schema, object).size(), 100u);
  prune(schema, object);
  EXPECT_EQ(base::to_text(object), R"({"spec":{"a":"x","z":"y"}})");
}

TEST(Schema, WhatIsNotStructuralIsRefused) {
  const struct {
    const char *schema, *cause;
  } cases[] = {
      {"5", ": Invalid value: \"integer\": a schema is an object"},
      {"{}", "type: Required value: must not be empty"},
      {"{type: string}", "type: Invalid value: \"string\": must be object at the root"},
      {"{type: thing}",
       "type: Unsupported value: \"thing\": supported values: \"array\", \"boolean\", \"integer\", "
       "\"number\", \"object\", \"string\""},
      {"{type: object, $ref: '#/x'}", "$ref: Forbidden: not supported"},
      {"{type: object, uniqueItems: true}",
       "uniqueItems: Forbidden: use x-kubernetes-list-type: set"},
      {"{type: object, properties: {a: {type: array}}}",
       "properties[a].items: Required value: must be specified"},
      {"{type: object, properties: {a: {type: string}}, additionalProperties: {type: string}}",
       "additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"},
      {"{type: object, anyOf: [{type: object}]}",
       "anyOf[0].type: Forbidden: must be undefined below a condition"},
      {"{type: object, not: {properties: {a: {default: 1}}}}",
       "not.properties[a].default: Forbidden: must be undefined below a condition"},
      {"{type: object, properties: {a: {type: string, default: 5}}}",
       "properties[a].default: Invalid value: \"integer\": properties[a].default in body must be "
       "of "
       "type string: \"integer\""},
      {"{type: object, properties: {a: {type: object, default: {x: 1}}}}",
       "properties[a].default: Invalid value: {\"x\":1}: has the unknown field x"},
      {"{type: object, properties: {a: {type: string, minLength: -1}}}",
       "properties[a].minLength: Invalid value: -1: must be a whole number from 0"},
      {"{type: object, properties: {a: {type: string, x-kubernetes-list-type: bag}}}",
       "properties[a].x-kubernetes-list-type: Unsupported value: \"bag\": supported values: "
       "\"atomic\", \"map\", \"set\""},
      {"{type: object, properties: {a: {type: array, x-kubernetes-list-type: map, items: {type: "
       "object}}}}",
       "properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if "
       "x-kubernetes-list-type is map"},
      {"{type: object, properties: {a: {type: array, x-kubernetes-list-type: map, "
       "x-kubernetes-list-map-keys: [n], items: {type: object, properties: {n: {type: string}}}}}}",
       "properties[a].x-kubernetes-list-map-keys: Invalid value: \"n\": must be required or have a "
       "default"},
      {"{type: object, properties: {a: {type: array, x-kubernetes-list-type: set, items: {type: "
       "object}}}}",
       "properties[a].items: Invalid value: null: items of a list of type set are scalars or "
       "atomic"},
  };
  for (const auto& c : cases) {
    const auto schema = parse_schema(yaml(c.schema));
    ASSERT_FALSE(schema.ok()) << c.schema;
    EXPECT_EQ(schema.error().field + ": " + schema.error().message, c.cause);
  }
  const auto pattern =
      parse_schema(yaml("{type: object, properties: {a: {type: string, pattern: '(?!x)'}}}"));
  ASSERT_FALSE(pattern.ok());
  EXPECT_EQ(pattern.error().field, "properties[a].pattern");
}

TEST(Schema, DepthIsBounded) {
  Json schema = yaml("{type: string}");
  for (int i = 0; i < 70; ++i) schema = Json{{"type", "object"}, {"properties", {{"a", schema}}}};
  const auto parsed = parse_schema(schema);
  ASSERT_FALSE(parsed.ok());
  EXPECT_NE(parsed.error().message.find("too deep"), std::string::npos);
}

TEST(Schema, TheDocumentIsKeptAsGiven) {
  const Json document = yaml("{type: object, description: d, x-other: 1}");
  EXPECT_EQ(parse_schema(document)->document(), document);
}

}  // namespace
}  // namespace meridian::kube
