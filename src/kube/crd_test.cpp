// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/yaml.h"
#include "kube/resource.h"

namespace meridian::kube {
namespace {

using base::Json;

const char* const crontabs = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: crontabs, kind: CronTab, shortNames: [ct], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {cronSpec: {type: string}, replicas: {type: integer}}}
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: Spec, type: string, jsonPath: .spec.cronSpec, priority: 1}
    selectableFields: [{jsonPath: .spec.cronSpec}]
  - {name: v1beta1, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}
)";

Json yaml(std::string_view text) { return base::parse_yaml(text).value().front().value; }

TEST(Crd, EveryServedVersionIsAResource) {
  const auto resources = resources_of_crd(yaml(crontabs));
  ASSERT_EQ(resources.size(), 1u);
  const Resource& crontab = resources[0];
  EXPECT_EQ(crontab.id, (ResourceId{"example.com", "v1", "crontabs"}));
  EXPECT_EQ(crontab.kind, "CronTab");
  EXPECT_EQ(crontab.list_kind, "CronTabList");
  EXPECT_EQ(crontab.singular, "crontab");
  EXPECT_EQ(crontab.short_names, std::vector<std::string>{"ct"});
  EXPECT_EQ(crontab.categories, std::vector<std::string>{"all"});
  EXPECT_EQ(crontab.scope, Scope::namespaced);
  EXPECT_EQ(crontab.status_subresource, Resource::StatusSubresource::yes);
  EXPECT_TRUE(crontab.stored);
  ASSERT_EQ(crontab.columns.size(), 1u);
  EXPECT_EQ(crontab.columns[0].json_path, ".spec.cronSpec");
  EXPECT_EQ(crontab.columns[0].priority, 1);
  EXPECT_EQ(crontab.selectable_fields, std::vector<std::string>{"spec.cronSpec"});
  ASSERT_TRUE(crontab.schema);
  EXPECT_EQ(unknown_fields(*crontab.schema, yaml("{spec: {x: 1}}")),
            std::vector<std::string>{"spec.x"});
}

// The causes of the CRD after `change`, as "field: message".
std::vector<std::string> causes_after(void (*change)(Json& crd)) {
  Json crd = yaml(crontabs);
  change(crd);
  try {
    resources_of_crd(crd);
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status(), 422);
    std::vector<std::string> out;
    for (const Cause& cause : error.details().causes)
      out.push_back(cause.field + ": " + cause.message);
    return out;
  }
  return {};
}

Json& spec(Json& crd) { return crd.as_object()["spec"]; }
Json& version(Json& crd, std::size_t i) { return spec(crd).at("versions").as_array()[i]; }

TEST(Crd, WhatIsNotSoundIsNamed) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(causes_after([](Json& crd) { crd.at("metadata").as_object()["name"] = "x"; }),
            (Texts{"metadata.name: Invalid value: \"x\": must be "
                   "spec.names.plural+\".\"+spec.group"}));
  EXPECT_EQ(causes_after([](Json& crd) { spec(crd).as_object().erase("scope"); }),
            (Texts{"spec.scope: Required value"}));
  EXPECT_EQ(causes_after([](Json& crd) { spec(crd).as_object()["versions"].emplace_array(); }),
            (Texts{"spec.versions: Required value: must have at least one version"}));
  EXPECT_EQ(
      causes_after([](Json& crd) { version(crd, 1).as_object()["storage"] = true; }),
      (Texts{"spec.versions: Invalid value: 2: must have exactly one version marked as storage "
             "version"}));
  EXPECT_EQ(causes_after([](Json& crd) { version(crd, 1).as_object()["name"] = "v1"; }),
            (Texts{"spec.versions[1].name: Duplicate value: \"v1\""}));
  EXPECT_EQ(
      causes_after([](Json& crd) { version(crd, 1).as_object().erase("schema"); }),
      (Texts{"spec.versions[1].schema.openAPIV3Schema: Required value: schemas are required"}));
  EXPECT_EQ(causes_after([](Json& crd) {
              version(crd, 0)
                  .at("schema")
                  .at("openAPIV3Schema")
                  .at("properties")
                  .at("spec")
                  .at("properties")
                  .as_object()["cronSpec"]
                  .as_object()
                  .erase("type");
            }),
            (Texts{"spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[cronSpec]."
                   "type: Required value: must not be empty"}));
  EXPECT_EQ(
      causes_after([](Json& crd) {
        version(crd, 0).at("additionalPrinterColumns").at(0).as_object()["type"] = "text";
      }),
      (Texts{"spec.versions[0].additionalPrinterColumns[0].type: Unsupported value: \"text\": "
             "supported values: \"boolean\", \"date\", \"integer\", \"number\", \"string\""}));
  EXPECT_EQ(
      causes_after([](Json& crd) {
        version(crd, 0).at("selectableFields").at(0).as_object()["jsonPath"] = ".a[0]";
      }),
      (Texts{"spec.versions[0].selectableFields[0].jsonPath: Invalid value: \".a[0]\": must be "
             "made of plain names"}));
  EXPECT_EQ(causes_after([](Json& crd) {
              spec(crd).as_object()["conversion"] = yaml("{strategy: Webhook}");
            }),
            (Texts{"spec.conversion.strategy: Unsupported value: \"Webhook\": supported values: "
                   "\"None\""}));
}

TEST(Crd, AnEmptyDefinitionNamesAllThatIsMissing) {
  try {
    resources_of_crd(Json());
    FAIL();
  } catch (const StatusError& error) {
    EXPECT_GE(error.details().causes.size(), 5u);
    EXPECT_EQ(error.details().kind, "CustomResourceDefinition");
  }
}

}  // namespace
}  // namespace meridian::kube
