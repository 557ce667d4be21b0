// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/media.h"

#include <gtest/gtest.h>

#include "kube/status.h"

namespace meridian::kubeserver {
namespace {

using objects::Shape;

int status_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const kube::StatusError& error) {
    return error.status();
  }
  return 200;
}

base::Json body(std::string text, const std::string& type) {
  net::StringBody bytes(std::move(text));
  net::Request request{.method = "POST", .body = &bytes};
  if (!type.empty()) request.headers.add("Content-Type", type);
  return read_body(request);
}

TEST(Media, TheFirstFormThatWeHaveIsChosen) {
  const auto shape = [](const char* accept) { return choose_form(accept, "").shape; };
  EXPECT_EQ(shape(""), Shape::whole);
  EXPECT_EQ(shape("*/*"), Shape::whole);
  EXPECT_EQ(shape("application/json"), Shape::whole);
  EXPECT_EQ(shape("application/json;as=Table;v=v1;g=meta.k8s.io,application/json"), Shape::table);
  EXPECT_EQ(shape("application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"),
            Shape::whole);
  EXPECT_EQ(shape("application/vnd.kubernetes.protobuf,application/json"), Shape::whole);
  EXPECT_EQ(shape("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"),
            Shape::metadata);
  EXPECT_EQ(shape("application/json;q=0.5, application/json;as=Table;g=meta.k8s.io;v=v1;q=0.9"),
            Shape::table);
  EXPECT_EQ(status_of([] { choose_form("application/vnd.kubernetes.protobuf", ""); }), 406);
  EXPECT_EQ(status_of([] { choose_form("text/html", ""); }), 406);
}

TEST(Media, TablesCarryWhatIsAskedFor) {
  const std::string table = "application/json;as=Table;v=v1;g=meta.k8s.io";
  EXPECT_EQ(choose_form(table, "").rows, kube::RowObject::metadata);
  EXPECT_EQ(choose_form(table, "None").rows, kube::RowObject::none);
  EXPECT_EQ(choose_form(table, "Object").rows, kube::RowObject::full);
  EXPECT_EQ(status_of([&] { choose_form(table, "All"); }), 400);
}

TEST(Media, BodiesAreReadByTheirType) {
  EXPECT_EQ(body("{\"a\":1}", ""), base::Json({{"a", 1}}));
  EXPECT_EQ(body("{\"a\":1}", "application/json; charset=utf-8"), base::Json({{"a", 1}}));
  EXPECT_EQ(body("a: 1\n", "application/yaml"), base::Json({{"a", 1}}));
  EXPECT_EQ(body("{\"a\":1}", "application/apply-patch+yaml"), base::Json({{"a", 1}}));
  EXPECT_EQ(status_of([] { body("", "application/json"); }), 400);
  EXPECT_EQ(status_of([] { body("{", "application/json"); }), 400);
  EXPECT_EQ(status_of([] { body("a: 1\n---\nb: 2\n", "application/yaml"); }), 400);
  EXPECT_EQ(status_of([] { body("x", "application/vnd.kubernetes.protobuf"); }), 415);
  EXPECT_EQ(status_of([] { body("x", "application/cbor"); }), 415);
}

TEST(Media, DeepBodiesAreRefused) {
  EXPECT_EQ(status_of([] { body(std::string(1000, '['), "application/json"); }), 400);
}

}  // namespace
}  // namespace meridian::kubeserver
