// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/access.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "kube/status.h"

namespace meridian::kubeserver {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using identity::Role;
using kinds::Registry;

bool is_read(std::string_view verb) { return verb == "get" || verb == "list" || verb == "watch"; }

bool is_review(const Attributes& wanted) {
  return wanted.group == "authorization.k8s.io" || wanted.group == "authentication.k8s.io";
}

bool is_definitions(const Attributes& wanted) { return wanted.group == "apiextensions.k8s.io"; }

bool is_namespaces(const Attributes& wanted) {
  return wanted.group.empty() && wanted.resource == "namespaces";
}

// Whether objects of this resource live outside of namespaces. "*" and unknown ones may.
bool is_cluster_wide(const Attributes& wanted, const Registry& registry) {
  for (const kinds::ServedPtr& served : registry.all()) {
    if (served->group() == wanted.group && served->plural() == wanted.resource) {
      return !served->namespaced();
    }
  }
  return wanted.ns.empty();
}

bool role_allows(Role role, const Attributes& wanted, bool cluster_wide) {
  if (role == Role::admin) return true;
  const bool secrets = wanted.resource == "secrets" || wanted.resource == "*";
  if (role == Role::editor) return !cluster_wide || is_read(wanted.verb);
  return is_read(wanted.verb) && !secrets;
}

std::string forbidden_message(const Caller& caller, const Attributes& wanted) {
  const std::string resource =
      wanted.resource + (wanted.subresource.empty() ? "" : "/" + wanted.subresource);
  const std::string what =
      wanted.group.empty() ? wanted.resource : wanted.resource + "." + wanted.group;
  return fmt::format(
      "{}{} is forbidden: User \"{}\" cannot {} resource \"{}\" in API group \"{}\" {}", what,
      wanted.name.empty() ? "" : fmt::format(" \"{}\"", wanted.name), caller.user, wanted.verb,
      resource, wanted.group,
      wanted.ns.empty() ? "at the cluster scope"
                        : fmt::format("in the namespace \"{}\"", wanted.ns));
}

std::string text_at(const Json& value, std::string_view path) {
  const Json* found = base::find_path(value, path);
  return found != nullptr && found->is_string() ? std::string(base::view(found->get_string())) : "";
}

JsonObject access_status(const Json& review, const Caller& caller, const Registry& registry) {
  const std::string path = "spec.resourceAttributes.";
  if (base::find_path(review, "spec.nonResourceAttributes") != nullptr) {
    const bool read = base::to_lower(text_at(review, "spec.nonResourceAttributes.verb")) == "get";
    return {{"allowed", read || caller.token.role_in("") == Role::admin}};
  }
  if (base::find_path(review, "spec.resourceAttributes") == nullptr) {
    throw kube::invalid("authorization.k8s.io", "SelfSubjectAccessReview", "",
                        {{"spec.resourceAttributes", "FieldValueInvalid",
                          "Invalid value: null: exactly one of nonResourceAttributes or "
                          "resourceAttributes must be specified"}});
  }
  const Attributes wanted{
      text_at(review, path + "verb"),      text_at(review, path + "group"),
      text_at(review, path + "resource"),  text_at(review, path + "subresource"),
      text_at(review, path + "namespace"), text_at(review, path + "name")};
  return {{"allowed", may(caller, wanted, registry)}};
}

JsonArray readable_resources(const Registry& registry, std::string_view group) {
  JsonArray out;
  for (const kinds::ServedPtr& served : registry.all()) {
    const Json plural(served->plural());
    const bool counts = served->group() == group && served->is_stored() && served->namespaced() &&
                        served->plural() != "secrets";
    if (counts && std::ranges::find(out, plural) == out.end()) out.push_back(plural);
  }
  return out;
}

JsonArray resource_rules(Role role, const Registry& registry) {
  JsonArray rules;
  if (role != Role::viewer) {
    rules.push_back(JsonObject{
        {"verbs", JsonArray{"*"}}, {"apiGroups", JsonArray{"*"}}, {"resources", JsonArray{"*"}}});
    return rules;
  }
  for (const kinds::Group& group : registry.groups()) {
    JsonArray resources = readable_resources(registry, group.name);
    if (resources.empty()) continue;
    rules.push_back(JsonObject{{"verbs", JsonArray{"get", "list", "watch"}},
                               {"apiGroups", JsonArray{Json(group.name)}},
                               {"resources", std::move(resources)}});
  }
  return rules;
}

JsonObject rules_status(const Json& review, const Caller& caller, const Registry& registry) {
  JsonArray rules{
      JsonObject{{"verbs", JsonArray{"create"}},
                 {"apiGroups", JsonArray{"authorization.k8s.io"}},
                 {"resources", JsonArray{"selfsubjectaccessreviews", "selfsubjectrulesreviews"}}},
      JsonObject{{"verbs", JsonArray{"create"}},
                 {"apiGroups", JsonArray{"authentication.k8s.io"}},
                 {"resources", JsonArray{"selfsubjectreviews"}}},
      JsonObject{{"verbs", JsonArray{"get", "list", "watch"}},
                 {"apiGroups", JsonArray{"apiextensions.k8s.io"}},
                 {"resources", JsonArray{"customresourcedefinitions"}}}};
  if (const auto role = caller.token.role_in(text_at(review, "spec.namespace"))) {
    for (Json& rule : resource_rules(*role, registry)) rules.push_back(std::move(rule));
  }
  JsonArray paths{JsonObject{
      {"verbs", JsonArray{"get"}},
      {"nonResourceURLs", JsonArray{"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez",
                                    "/openapi", "/openapi/*", "/readyz", "/version"}}}};
  return {{"resourceRules", std::move(rules)},
          {"nonResourceRules", std::move(paths)},
          {"incomplete", false}};
}

JsonObject subject_status(const Caller& caller) {
  JsonArray groups;
  for (const std::string& group : caller.groups) groups.emplace_back(group);
  JsonObject user{{"username", caller.user}, {"groups", std::move(groups)}};
  if (!caller.token.id.empty()) user["uid"] = caller.token.id;
  return {{"userInfo", std::move(user)}};
}

}  // namespace

Caller Caller::of(const identity::Token& token) {
  Caller caller{token.user, {}, token};
  for (const identity::Grant& grant : token.grants) {
    const std::string where = grant.ns.empty() ? "" : ":" + grant.ns;
    caller.groups.push_back(fmt::format("meridian:{}{}", identity::name(grant.role), where));
  }
  caller.groups.emplace_back("system:authenticated");
  return caller;
}

Caller Caller::controller() {
  return {"system:meridian",
          {"meridian:admin", "system:authenticated"},
          {.user = "system:meridian", .grants = {{Role::admin, ""}}}};
}

Caller authenticate(const net::Request& request, const identity::Tokens& tokens) {
  constexpr std::string_view scheme = "bearer ";
  const std::string header = request.headers.get("authorization");
  if (base::to_lower(header.substr(0, scheme.size())) == scheme) {
    const auto token = tokens.find(base::trim(std::string_view(header).substr(scheme.size())));
    if (token) return Caller::of(*token);
  }
  throw kube::StatusError(401, "Unauthorized", "Unauthorized");
}

bool may(const Caller& caller, const Attributes& wanted, const Registry& registry) {
  if (is_review(wanted)) return wanted.verb == "create";
  if (is_definitions(wanted) && is_read(wanted.verb)) return true;
  const bool cluster_wide = is_cluster_wide(wanted, registry);
  if (is_namespaces(wanted) && wanted.verb == "get") {
    const std::string& name = wanted.name.empty() ? wanted.ns : wanted.name;
    return caller.token.role_in(name).has_value();
  }
  const auto role = caller.token.role_in(cluster_wide ? "" : wanted.ns);
  return role && role_allows(*role, wanted, cluster_wide);
}

void require(const Caller& caller, const Attributes& wanted, const Registry& registry) {
  if (may(caller, wanted, registry)) return;
  throw kube::StatusError(403, "Forbidden", forbidden_message(caller, wanted),
                          {wanted.group, wanted.resource, wanted.name});
}

Json answer_review(const kinds::Served& served, Json review, const Caller& caller,
                   const Registry& registry) {
  if (!review.is_object()) throw kube::bad_request("the body must be an object");
  JsonObject& root = review.get_object();
  root["apiVersion"] = served.api_version();
  root["kind"] = served.resource.kind;
  if (!root.contains("metadata")) root["metadata"] = JsonObject();
  const std::string& plural = served.plural();
  if (plural == "selfsubjectaccessreviews") {
    root["status"] = access_status(review, caller, registry);
  } else if (plural == "selfsubjectrulesreviews") {
    root["status"] = rules_status(review, caller, registry);
  } else {
    root["status"] = subject_status(caller);
  }
  return review;
}

}  // namespace meridian::kubeserver
