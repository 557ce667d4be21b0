// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/openapi/bodies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubeserver/openapi/wire.h"

namespace meridian::kubeserver::openapi {
namespace {

using base::Json;

std::string body_of(std::string_view api_version, std::string_view kind, const Message& object) {
  Message type;
  type.add(1, api_version).add(2, kind);
  Message unknown;
  unknown.add(1, type).add(2, object);
  return std::string("k8s\0", 4) + unknown.bytes();
}

Message entry(std::string_view key, std::string_view value) {
  Message out;
  out.add(1, key).add(2, value);
  return out;
}

Json read(const std::string& bytes) {
  auto result = parse_protobuf_body(bytes);
  EXPECT_TRUE(result) << result.error();
  return result ? *result : Json(nullptr);
}

TEST(ProtobufBodies, ASecretAsKubectlSendsIt) {
  Message metadata;
  metadata.add(1, "s").add(2, "").add(3, "default").add(5, "").add_number(7, 0).add(8, Message());
  metadata.add(11, entry("app", "x"));
  Message secret;
  secret.add(1, metadata).add(2, entry("password", "hunter2")).add(3, "Opaque");
  EXPECT_EQ(
      read(body_of("v1", "Secret", secret)),
      Json({{"apiVersion", "v1"},
            {"kind", "Secret"},
            {"metadata", {{"name", "s"}, {"namespace", "default"}, {"labels", {{"app", "x"}}}}},
            {"data", {{"password", "aHVudGVyMg=="}}},
            {"type", "Opaque"}}));
}

TEST(ProtobufBodies, AnAccessReview) {
  Message attributes;
  attributes.add(1, "default").add(2, "create").add(3, "g.test").add(4, "v1").add(5, "jobs");
  Message spec;
  spec.add(1, attributes);
  Message review;
  review.add(1, Message()).add(2, spec).add(3, Message());
  const Json json = read(body_of("authorization.k8s.io/v1", "SelfSubjectAccessReview", review));
  EXPECT_EQ(*base::find_path(json, "spec.resourceAttributes.verb"), Json("create"));
  EXPECT_EQ(*base::find_path(json, "spec.resourceAttributes.group"), Json("g.test"));
  EXPECT_EQ(base::find(json, "metadata"), nullptr) << "empty messages are left out";
}

TEST(ProtobufBodies, TimesNumbersAndFlags) {
  Message time;
  time.add_number(1, 1'700'000'000).add_number(2, 250'000'000);
  Message spec;
  spec.add(1, "me").add_number(2, 15).add(3, time).add(4, time);
  Message lease;
  lease.add(2, spec);
  const Json json = read(body_of("coordination.k8s.io/v1", "Lease", lease));
  EXPECT_EQ(*base::find_path(json, "spec.renewTime"), Json("2023-11-14T22:13:20.250000Z"));
  EXPECT_EQ(*base::find_path(json, "spec.leaseDurationSeconds"), Json(15));
  Message account;
  account.add_number(4, 0);
  EXPECT_EQ(read(body_of("v1", "ServiceAccount", account)).at("automountServiceAccountToken"),
            Json(false));
}

TEST(ProtobufBodies, WhatIsUnknownOrBrokenIsTold) {
  const auto error = [](const std::string& bytes) {
    const auto result = parse_protobuf_body(bytes);
    return result ? "" : result.error();
  };
  EXPECT_THAT(error("{}"), testing::HasSubstr("does not begin"));
  EXPECT_THAT(error(body_of("apps/v1", "Deployment", Message())),
              testing::HasSubstr("apps/v1 Deployment is not read as protobuf"));
  const std::string good = body_of("v1", "ConfigMap", Message().add(2, entry("k", "v")));
  for (std::size_t size = 5; size < good.size(); ++size) {
    (void)parse_protobuf_body(good.substr(0, size));  // no crash, whatever it says
  }
  EXPECT_THAT(error(good.substr(0, good.size() - 1)), testing::HasSubstr("broken"));
  Message wrong;
  wrong.add_number(2, 5);  // a map that is a number
  EXPECT_THAT(error(body_of("v1", "ConfigMap", wrong)), testing::HasSubstr("broken"));
}

TEST(Wire, FieldsAreReadAsTheyWereWritten) {
  Message message;
  message.add(1, "text").add_number(300, 1ull << 63);
  std::string_view rest = message.bytes();
  const auto first = take_field(rest), second = take_field(rest);
  EXPECT_EQ(first->bytes, "text");
  EXPECT_EQ(second->number, 300);
  EXPECT_EQ(second->value, 1ull << 63);
  EXPECT_TRUE(rest.empty());
  EXPECT_FALSE(take_field(rest));
  std::string_view endless("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11);
  EXPECT_FALSE(take_field(endless));
  EXPECT_FALSE(endless.empty());
}

}  // namespace
}  // namespace meridian::kubeserver::openapi
