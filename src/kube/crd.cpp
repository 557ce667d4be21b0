// CustomResourceDefinitions: their checks, and the resources that they define.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "kube/cause.h"
#include "kube/json_path.h"
#include "kube/labels.h"
#include "kube/resource.h"

namespace meridian::kube {
namespace {

using base::Json;
using base::JsonArray;

const JsonArray& list_of(const Json& object, std::string_view key) {
  static const JsonArray none;
  const Json* list = base::find(object, key);
  return list != nullptr && list->is_array() ? list->get_array() : none;
}

const Json& member_of(const Json& object, std::string_view key) {
  static const Json none;
  const Json* member = base::find(object, key);
  return member == nullptr ? none : *member;
}

std::vector<std::string> strings_of(const Json& object, std::string_view key) {
  std::vector<std::string> out;
  for (const Json& item : list_of(object, key)) {
    if (item.is_string()) out.emplace_back(base::view(item.get_string()));
  }
  return out;
}

class CrdReader {
 public:
  explicit CrdReader(const Json& crd) : crd_(crd), spec_(member_of(crd, "spec")) {}

  std::vector<Resource> read() {
    read_names();
    read_scope();
    const std::string strategy =
        base::string_or(member_of(spec_, "conversion"), "strategy", "None");
    if (strategy != "None") {
      add(not_supported("spec.conversion.strategy", Json(strategy), {"None"}));
    }
    std::vector<Resource> out = read_versions();
    if (!causes_.empty()) {
      throw invalid("apiextensions.k8s.io", "CustomResourceDefinition", name_of(crd_), causes_);
    }
    return out;
  }

 private:
  void add(Cause cause) { causes_.push_back(std::move(cause)); }

  // A text that must be there and be a name of this form.
  template <class Check>
  std::string name(const Json& parent, std::string_view key, std::string field, Check why_not) {
    std::string text = base::string_or(parent, key);
    if (text.empty()) {
      add(required_value(std::move(field)));
    } else if (const auto why = why_not(text)) {
      add(invalid_value(std::move(field), Json(text), *why));
    }
    return text;
  }

  void read_names() {
    const Json& names = member_of(spec_, "names");
    common_.id.group = name(spec_, "group", "spec.group", why_not_subdomain);
    common_.id.plural = name(names, "plural", "spec.names.plural", why_not_dns_1035_label);
    common_.kind = name(names, "kind", "spec.names.kind", [](const std::string& kind) {
      return why_not_dns_1035_label(base::to_lower(kind));
    });
    common_.singular = base::string_or(names, "singular", base::to_lower(common_.kind));
    common_.list_kind = base::string_or(names, "listKind", common_.kind + "List");
    common_.short_names = strings_of(names, "shortNames");
    common_.categories = strings_of(names, "categories");
    for (const auto& text : common_.short_names) {
      if (const auto why = why_not_dns_1035_label(text)) {
        add(invalid_value("spec.names.shortNames", Json(text), *why));
      }
    }
    const std::string wanted = common_.id.plural + "." + common_.id.group;
    if (name_of(crd_) != wanted) {
      add(invalid_value("metadata.name", Json(name_of(crd_)),
                        "must be spec.names.plural+\".\"+spec.group"));
    }
  }

  void read_scope() {
    const std::string scope = base::string_or(spec_, "scope");
    common_.scope = scope == "Cluster" ? Scope::cluster : Scope::namespaced;
    if (scope.empty()) {
      add(required_value("spec.scope"));
    } else if (scope != "Cluster" && scope != "Namespaced") {
      add(not_supported("spec.scope", Json(scope), {"Cluster", "Namespaced"}));
    }
  }

  std::vector<Resource> read_versions() {
    const JsonArray& versions = list_of(spec_, "versions");
    std::vector<Resource> out;
    std::set<std::string, std::less<>> seen;
    int stored = 0;
    for (std::size_t i = 0; i < versions.size(); ++i) {
      Resource one = read_version(versions[i], fmt::format("spec.versions[{}]", i));
      if (!seen.insert(one.id.version).second) {
        add(duplicate_value(fmt::format("spec.versions[{}].name", i), Json(one.id.version)));
      }
      stored += one.stored ? 1 : 0;
      if (base::bool_or(versions[i], "served", false)) out.push_back(std::move(one));
    }
    if (versions.empty()) {
      add(required_value("spec.versions", "must have at least one version"));
    } else if (stored != 1) {
      add(invalid_value("spec.versions", Json(static_cast<std::int64_t>(stored)),
                        "must have exactly one version marked as storage version"));
    }
    return out;
  }

  Resource read_version(const Json& version, const std::string& field) {
    Resource out = common_;
    out.id.version = name(version, "name", field + ".name", why_not_dns_1035_label);
    out.stored = base::bool_or(version, "storage", false);
    if (base::find_path(version, "subresources.status") != nullptr) {
      out.status_subresource = Resource::StatusSubresource::yes;
    }
    read_columns(version, field, out);
    read_selectable(version, field, out);
    read_schema(version, field + ".schema.openAPIV3Schema", out);
    return out;
  }

  void read_schema(const Json& version, const std::string& field, Resource& out) {
    const Json* document = base::find_path(version, "schema.openAPIV3Schema");
    if (document == nullptr) {
      add(required_value(field, "schemas are required"));
      return;
    }
    auto schema = parse_schema(*document);
    if (schema) {
      out.schema = std::make_shared<const Schema>(std::move(*schema));
      return;
    }
    Cause cause = schema.error();
    cause.field = cause.field.empty() ? field : field + "." + cause.field;
    add(std::move(cause));
  }

  void read_columns(const Json& version, const std::string& parent, Resource& out) {
    const JsonArray& columns = list_of(version, "additionalPrinterColumns");
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string field = fmt::format("{}.additionalPrinterColumns[{}]", parent, i);
      PrinterColumn column{
          .name = base::string_or(columns[i], "name"),
          .type = base::string_or(columns[i], "type"),
          .format = base::string_or(columns[i], "format"),
          .description = base::string_or(columns[i], "description"),
          .json_path = base::string_or(columns[i], "jsonPath"),
          .priority = static_cast<int>(base::int_or(columns[i], "priority", 0)),
      };
      static const std::vector<std::string> types = {"boolean", "date", "integer", "number",
                                                     "string"};
      if (column.name.empty()) add(required_value(field + ".name"));
      if (std::find(types.begin(), types.end(), column.type) == types.end()) {
        add(not_supported(field + ".type", Json(column.type), types));
      }
      check_path(column.json_path, field + ".jsonPath");
      out.columns.push_back(std::move(column));
    }
  }

  void read_selectable(const Json& version, const std::string& parent, Resource& out) {
    const JsonArray& fields = list_of(version, "selectableFields");
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string field = fmt::format("{}.selectableFields[{}].jsonPath", parent, i);
      const std::string text = base::string_or(fields[i], "jsonPath");
      const auto path = check_path(text, field);
      if (!path) continue;
      if (path->dotted().empty()) {
        add(invalid_value(field, Json(text), "must be made of plain names"));
      }
      out.selectable_fields.push_back(path->dotted());
    }
  }

  std::optional<JsonPath> check_path(const std::string& text, const std::string& field) {
    if (text.empty()) {
      add(required_value(field));
      return std::nullopt;
    }
    auto path = parse_json_path(text);
    if (path) return std::move(*path);
    add(invalid_value(field, Json(text), path.error().text()));
    return std::nullopt;
  }

  const Json& crd_;
  const Json& spec_;
  Resource common_;
  std::vector<Cause> causes_;
};

}  // namespace

std::vector<Resource> resources_of_crd(const Json& crd) { return CrdReader(crd).read(); }

}  // namespace meridian::kube
