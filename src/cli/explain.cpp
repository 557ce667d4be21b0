// `meridian explain`: the fields of a kind, from the server's own OpenAPI document.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <ostream>

#include "base/strings.h"
#include "cli/resources.h"

namespace meridian::cli {
namespace {

using base::Json;

// The schema of a kind in the server's OpenAPI document.
const Json* find_schema(const Json& document, const std::string& kind) {
  const Json* schemas = base::find_path(document, "components.schemas");
  if (schemas == nullptr) return nullptr;
  for (const auto& [name, schema] : schemas->as_object()) {
    const Json* gvks = base::find(schema, "x-kubernetes-group-version-kind");
    if (gvks == nullptr || !gvks->is_array()) continue;
    for (const Json& gvk : gvks->get_array()) {
      if (base::string_or(gvk, "kind") == kind) return &schema;
    }
  }
  return nullptr;
}

std::string type_of(const Json& schema) {
  const std::string type = base::string_or(schema, "type", "Object");
  const Json* items = base::find(schema, "items");
  return type == "array" && items != nullptr ? "[]" + type_of(*items) : type;
}

const Json& inside(const Json& schema) {
  const Json* items = base::find(schema, "items");
  return items != nullptr ? inside(*items) : schema;
}

int explain(Context& context, const ResourceOptions& options) {
  if (options.names.empty())
    throw base::Error(base::Code::invalid_argument, "explain what? KIND or KIND.FIELD.FIELD");
  Cluster cluster(context, *options.cluster);
  std::vector<std::string> path = base::split(options.names[0], '.');
  const Served& served = cluster.find(path.front());
  const std::string document_path =
      served.id.group.empty() ? "api/v1"
                              : fmt::format("apis/{}/{}", served.id.group, served.id.version);
  const auto document =
      base::parse_json(cluster.api().send({.path = "/openapi/v3/" + document_path}).body);
  const Json* schema = document ? find_schema(*document, served.kind) : nullptr;
  if (schema == nullptr)
    throw base::Error(base::Code::not_found, "the server has no schema of " + served.kind);
  for (std::size_t i = 1; i < path.size(); ++i) {
    const Json* properties = base::find(inside(*schema), "properties");
    const Json* next = properties != nullptr ? base::find(*properties, path[i]) : nullptr;
    if (next == nullptr) {
      std::vector<std::string> known;
      if (properties != nullptr)
        for (const auto& [name, _] : properties->as_object()) known.emplace_back(name);
      const auto meant = base::nearest(path[i], known);
      throw base::Error(base::Code::invalid_argument,
                        fmt::format("{} has no field '{}'{}", path[i - 1], path[i],
                                    meant ? fmt::format("; did you mean '{}'?", *meant) : ""));
    }
    schema = next;
  }
  auto& out = context.console.out();
  out << served.kind
      << (path.size() > 1 ? "." + base::join({path.begin() + 1, path.end()}, ".") : "") << "  <"
      << type_of(*schema) << ">\n";
  if (const std::string text = base::string_or(*schema, "description"); !text.empty())
    out << text << '\n';
  for (const char* bound : {"enum", "pattern", "minimum", "maximum", "minLength", "maxLength",
                            "minItems", "maxItems"}) {
    if (const Json* value = base::find(*schema, bound))
      out << "  " << bound << "  " << base::to_text(*value) << '\n';
  }
  const Json* properties = base::find(inside(*schema), "properties");
  if (properties == nullptr) return 0;
  const Json* required = base::find(inside(*schema), "required");
  Table table({"FIELD", "TYPE", ""});
  for (const auto& [name, property] : properties->as_object()) {
    bool needed = false;
    if (required != nullptr)
      for (const Json& one : required->as_array())
        needed = needed || base::view(one.as_string()) == std::string_view(name);
    table.add({std::string(name), type_of(property), needed ? "required" : ""});
  }
  table.print(out);
  return 0;
}

}  // namespace

void add_explain(Command root, Context& context) {
  auto x = std::make_shared<ResourceOptions>();
  auto explaining =
      root.add("explain", "Fields of a kind", "meridian explain trainingjob.spec.resourceConfig");
  explaining.arguments("kind", x->names, "KIND or KIND.FIELD.FIELD");
  add_resource_options(explaining, x);
  explaining.run([x, &context] { return explain(context, *x); });
}

}  // namespace meridian::cli
