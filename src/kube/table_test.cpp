// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kube/resource.h"

namespace meridian::kube {
namespace {

using base::Json;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

Json parsed(std::string_view text) { return base::parse_json(text).value(); }

TEST(HumanDuration, IsAsShortAsKubectlsAges) {
  const struct {
    base::Duration age;
    const char* text;
  } cases[] = {
      {seconds(0), "0s"},          {seconds(-1), "0s"},     {seconds(-2), "<invalid>"},
      {seconds(119), "119s"},      {seconds(120), "2m"},    {seconds(125), "2m5s"},
      {minutes(10), "10m"},        {minutes(179), "179m"},  {minutes(180), "3h"},
      {minutes(192), "3h12m"},     {hours(8), "8h"},        {hours(47), "47h"},
      {hours(48), "2d"},           {hours(51), "2d3h"},     {hours(24 * 8), "8d"},
      {hours(24 * 729), "729d"},   {hours(24 * 730), "2y"}, {hours(24 * 740), "2y10d"},
      {hours(24 * 365 * 8), "8y"},
  };
  for (const auto& c : cases) EXPECT_EQ(human_duration(c.age), c.text);
}

Resource training_jobs() {
  Resource out{.id = {"sagemaker.aws.amazon.com", "v1", "trainingjobs"}, .kind = "TrainingJob"};
  out.columns = {
      {.name = "Status", .type = "string", .json_path = ".status.state"},
      {.name = "Started", .type = "date", .json_path = ".status.started"},
      {.name = "Seconds", .type = "integer", .json_path = ".status.seconds", .priority = 1}};
  return out;
}

const base::Timestamp now = *parse_time("2026-01-31T12:00:00Z");

TEST(Table, HasACellForEveryColumnAndObject) {
  const Json table = make_table(
      training_jobs(),
      {parsed(R"({"metadata":{"name":"a"},"status":{"state":"Completed",
                  "started":"2026-01-31T11:55:00Z","seconds":12.0}})"),
       parsed(R"({"metadata":{"name":"b"}})"),
       parsed(
           R"({"metadata":{"name":"c"},"status":{"state":{"x":1},"started":"?","seconds":"1"}})")},
      now, RowObject::none);
  EXPECT_EQ(table.at("kind"), "Table");
  EXPECT_EQ(table.at("apiVersion"), "meta.k8s.io/v1");
  ASSERT_EQ(table.at("columnDefinitions").as_array().size(), 4u);
  EXPECT_EQ(table.at("columnDefinitions").at(0), parsed(R"({"name":"Name","type":"string",
      "format":"name","description":"Unique among the objects of its kind and namespace.",
      "priority":0})"));
  EXPECT_EQ(table.at("columnDefinitions").at(3).at("priority"), 1);
  EXPECT_EQ(table.at("rows"), parsed(R"([{"cells":["a","Completed","5m",12]},
                                         {"cells":["b",null,null,null]},
                                         {"cells":["c","{\"x\":1}","<invalid>",null]}])"));
}

TEST(Table, WithoutColumnsThereIsAnAge) {
  const Resource plain{.id = {"g", "v1", "things"}, .kind = "Thing"};
  const Json table = make_table(
      plain, {parsed(R"({"metadata":{"name":"a","creationTimestamp":"2026-01-30T12:00:00Z"}})")},
      now);
  EXPECT_EQ(table.at("columnDefinitions").at(1).at("name"), "Age");
  EXPECT_EQ(table.at("rows").at(0).at("cells"), parsed(R"(["a","24h"])"));
}

TEST(Table, RowsCarryWhatWasAskedFor) {
  const Json object =
      parsed(R"({"apiVersion":"g/v1","kind":"T","metadata":{"name":"a"},"spec":{}})");
  const auto row = [&](RowObject kind) {
    return make_table(training_jobs(), {object}, now, kind).at("rows").at(0);
  };
  EXPECT_EQ(row(RowObject::metadata).at("object"),
            parsed(R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",
                       "metadata":{"name":"a"}})"));
  EXPECT_EQ(row(RowObject::full).at("object"), object);
  EXPECT_FALSE(row(RowObject::none).get_object().contains("object"));
}

TEST(Table, BuiltInKindsWorkTheirCellsOut) {
  Resource secrets{.id = {"", "v1", "secrets"}, .kind = "Secret"};
  secrets.columns = {{.name = "Data", .type = "integer", .cell = [](const Json& object) -> Json {
                        const Json* data = base::find(object, "data");
                        return data == nullptr ? 0 : data->get_object().size();
                      }}};
  const Json table =
      make_table(secrets, {parsed(R"({"metadata":{"name":"a"},"data":{"x":"","y":""}})")}, now);
  EXPECT_EQ(table.at("rows").at(0).at("cells"), parsed(R"(["a",2])"));
}

}  // namespace
}  // namespace meridian::kube
