// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/kinds/builtin.h"

#include "base/error.h"

namespace meridian::kubeserver::kinds {
namespace {

using kube::PrinterColumn;
using kube::Scope;

struct Row {
  std::string_view group, version, kind, plural, singular;
  std::vector<std::string> short_names, categories;
  Scope scope = Scope::namespaced;
  bool has_status = false;
  const Kind* hooks;
  std::vector<PrinterColumn> columns;
  std::vector<std::string> selectable;
  std::string_view stored_group = "", stored_version = "";  // when another group stores them
};

PrinterColumn column(std::string name, std::string type = "string", int priority = 0,
                     std::string format = "") {
  return {.name = std::move(name),
          .type = std::move(type),
          .format = std::move(format),
          .description = "",
          .json_path = "",
          .priority = priority};
}

PrinterColumn name_column(int priority = 0) { return column("Name", "string", priority, "name"); }

std::vector<PrinterColumn> event_columns() {
  return {column("Last Seen"),
          column("Type"),
          column("Reason"),
          column("Object"),
          column("Subobject", "string", 1),
          column("Source", "string", 1),
          column("Message"),
          column("First Seen", "string", 1),
          column("Count", "string", 1),
          name_column(1)};
}

std::vector<std::string> event_fields() {
  return {"involvedObject.kind",
          "involvedObject.namespace",
          "involvedObject.name",
          "involvedObject.uid",
          "involvedObject.apiVersion",
          "involvedObject.resourceVersion",
          "involvedObject.fieldPath",
          "reason",
          "reportingComponent",
          "source",
          "type"};
}

std::vector<Row> rows() {
  return {
      {"",
       "v1",
       "Namespace",
       "namespaces",
       "namespace",
       {"ns"},
       {},
       Scope::cluster,
       true,
       &kNamespace,
       {name_column(), column("Status"), column("Age")},
       {"status.phase"}},
      {"",
       "v1",
       "Event",
       "events",
       "event",
       {"ev"},
       {},
       Scope::namespaced,
       false,
       &kEvent,
       event_columns(),
       event_fields()},
      {"events.k8s.io",
       "v1",
       "Event",
       "events",
       "event",
       {"ev"},
       {},
       Scope::namespaced,
       false,
       &kEventsEvent,
       event_columns(),
       {"regarding.kind", "regarding.namespace", "regarding.name", "regarding.uid", "reason",
        "reportingController", "type"},
       "",
       "v1"},
      {"",
       "v1",
       "ConfigMap",
       "configmaps",
       "configmap",
       {"cm"},
       {},
       Scope::namespaced,
       false,
       &kConfigMap,
       {name_column(), column("Data"), column("Age")},
       {}},
      {"",
       "v1",
       "Secret",
       "secrets",
       "secret",
       {},
       {},
       Scope::namespaced,
       false,
       &kSecret,
       {name_column(), column("Type"), column("Data"), column("Age")},
       {"type"}},
      {"",
       "v1",
       "ServiceAccount",
       "serviceaccounts",
       "serviceaccount",
       {"sa"},
       {},
       Scope::namespaced,
       false,
       &kServiceAccount,
       {name_column(), column("Secrets"), column("Age")},
       {}},
      {"coordination.k8s.io",
       "v1",
       "Lease",
       "leases",
       "lease",
       {},
       {},
       Scope::namespaced,
       false,
       &kLease,
       {name_column(), column("Holder"), column("Age")},
       {}},
      {"apiextensions.k8s.io",
       "v1",
       "CustomResourceDefinition",
       "customresourcedefinitions",
       "customresourcedefinition",
       {"crd", "crds"},
       {"api-extensions"},
       Scope::cluster,
       true,
       &kDefinition,
       {name_column(), column("Created At", "date")},
       {}},
      {"authentication.k8s.io",
       "v1",
       "SelfSubjectReview",
       "selfsubjectreviews",
       "selfsubjectreview",
       {},
       {},
       Scope::cluster,
       false,
       &kReview,
       {},
       {}},
      {"authorization.k8s.io",
       "v1",
       "SelfSubjectAccessReview",
       "selfsubjectaccessreviews",
       "selfsubjectaccessreview",
       {},
       {},
       Scope::cluster,
       false,
       &kReview,
       {},
       {}},
      {"authorization.k8s.io",
       "v1",
       "SelfSubjectRulesReview",
       "selfsubjectrulesreviews",
       "selfsubjectrulesreview",
       {},
       {},
       Scope::cluster,
       false,
       &kReview,
       {},
       {}},
  };
}

std::shared_ptr<const kube::Schema> schema_of(std::string_view kind) {
  const auto document = base::parse_json(builtin_schema(kind));
  if (!document) {
    throw base::Error(base::Code::internal, "the schema of " + std::string(kind) +
                                                " is no JSON: " + document.error().text());
  }
  auto schema = kube::parse_schema(*document);
  if (!schema) {
    throw base::Error(base::Code::internal, "the schema of " + std::string(kind) + ": " +
                                                schema.error().field + ": " +
                                                schema.error().message);
  }
  return std::make_shared<const kube::Schema>(std::move(*schema));
}

ServedPtr make(Row row) {
  auto served = std::make_shared<Served>();
  kube::Resource& r = served->resource;
  r.id = {std::string(row.group), std::string(row.version), std::string(row.plural)};
  r.kind = row.kind;
  r.list_kind = r.kind + "List";
  r.singular = row.singular;
  r.short_names = std::move(row.short_names);
  r.categories = std::move(row.categories);
  r.scope = row.scope;
  using Status = kube::Resource::StatusSubresource;
  r.status_subresource = row.has_status ? Status::yes : Status::no;
  r.columns = std::move(row.columns);
  r.selectable_fields = std::move(row.selectable);
  r.schema = schema_of(row.group == "events.k8s.io" ? "events.k8s.io/Event" : row.kind);
  const bool elsewhere = !row.stored_version.empty();
  served->collection = collection_of(elsewhere ? row.stored_group : row.group, row.plural);
  served->stored_api_version =
      elsewhere ? kube::GroupVersion{std::string(row.stored_group), std::string(row.stored_version)}
                      .text()
                : served->api_version();
  served->stored_kind = r.kind;
  served->kind = row.hooks;
  return served;
}

}  // namespace

const std::vector<ServedPtr>& builtin_resources() {
  static const std::vector<ServedPtr> all = [] {
    std::vector<ServedPtr> made;
    for (Row& row : rows()) made.push_back(make(std::move(row)));
    return made;
  }();
  return all;
}

}  // namespace meridian::kubeserver::kinds
