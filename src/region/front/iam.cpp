// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/json.h"
#include "base/strings.h"
#include "region/front/installation_services.h"

namespace meridian::region::front {
namespace {

using aws::ApiError;
using aws::CallContext;
using base::Json;
using base::JsonArray;
using base::JsonObject;

JsonObject role_json(const identity::RoleRecord& role) {
  JsonObject out{{"Path", role.path},
                 {"RoleName", role.name},
                 {"RoleId", role.id},
                 {"Arn", role.arn},
                 {"CreateDate", role.created.seconds()},
                 {"MaxSessionDuration", 3600}};
  // IAM answers policies percent-encoded, and clients decode them.
  if (!role.assume_role_policy.empty()) {
    out["AssumeRolePolicyDocument"] = base::percent_encode(role.assume_role_policy);
  }
  if (!role.description.empty()) out["Description"] = role.description;
  return out;
}

Json create_role(identity::Identity& identity, const CallContext& context,
                 const JsonObject& input) {
  const Json in(input);
  identity::RoleRecord role;
  role.name = base::string_or(in, "RoleName");
  role.path = base::string_or(in, "Path", "/");
  role.description = base::string_or(in, "Description");
  role.assume_role_policy = base::string_or(in, "AssumeRolePolicyDocument");
  role.arn = "arn:aws:iam::" + context.account + ":role" + role.path + role.name;
  if (const auto policy = base::parse_json(role.assume_role_policy); !policy) {
    throw ApiError("MalformedPolicyDocument", "AssumeRolePolicyDocument: " + policy.error().text());
  }
  try {
    role = identity.create_role(std::move(role));
  } catch (const base::Error& error) {  // IAM has its own code and status for this one
    if (error.code() != base::Code::already_exists) throw;
    throw ApiError("EntityAlreadyExists", error.message(), 409);
  }
  return JsonObject{{"Role", role_json(role)}};
}

Json get_role(const identity::Identity& identity, const CallContext& context,
              const JsonObject& input) {
  const std::string name = base::string_or(Json(input), "RoleName");
  const auto role = identity.find_role(context.account, name);
  if (!role) {
    throw ApiError("NoSuchEntity", "The role with name " + name + " cannot be found.", 404);
  }
  return JsonObject{{"Role", role_json(*role)}};
}

Json list_roles(const identity::Identity& identity, const CallContext& context,
                const JsonObject& input) {
  const Json in(input);
  const std::string prefix = base::string_or(in, "PathPrefix", "/");
  const std::string after = base::string_or(in, "Marker");  // the last name of the page before
  const auto limit = static_cast<std::size_t>(base::int_or(in, "MaxItems", 100));
  JsonArray roles;
  std::string last;
  bool more = false;
  for (const auto& role : identity.list_roles(context.account)) {  // in order of names
    if (!role.path.starts_with(prefix) || (!after.empty() && role.name <= after)) continue;
    more = roles.size() == limit;
    if (more) break;
    roles.push_back(role_json(role));
    last = role.name;
  }
  JsonObject out{{"Roles", std::move(roles)}, {"IsTruncated", more}};
  if (more) out["Marker"] = last;
  return out;
}

// Meridian accepts every well-formed role and keeps no policies: what a job may reach is decided by
// the scope of its keys (design D12). So nothing is denied by a role, and that is the answer.
Json simulate_principal_policy(const JsonObject& input) {
  const Json in(input);
  JsonArray results;
  if (const Json* actions = base::find(in, "ActionNames")) {
    for (const Json& action : actions->as_array()) {
      results.push_back(JsonObject{{"EvalActionName", action},
                                   {"EvalResourceName", "*"},
                                   {"EvalDecision", "allowed"},
                                   {"MatchedStatements", JsonArray{}},
                                   {"MissingContextValues", JsonArray{}}});
    }
  }
  return JsonObject{{"EvaluationResults", std::move(results)}, {"IsTruncated", false}};
}

}  // namespace

aws::Service make_iam(identity::Identity& identity) {
  aws::Service iam{.name = "iam", .operations = {}};
  iam.operations["CreateRole"] = [&identity](const CallContext& context, const JsonObject& input) {
    return create_role(identity, context, input);
  };
  iam.operations["GetRole"] = [&identity](const CallContext& context, const JsonObject& input) {
    return get_role(identity, context, input);
  };
  iam.operations["ListRoles"] = [&identity](const CallContext& context, const JsonObject& input) {
    return list_roles(identity, context, input);
  };
  iam.operations["SimulatePrincipalPolicy"] = [](const CallContext&, const JsonObject& input) {
    return simulate_principal_policy(input);
  };
  return iam;
}

}  // namespace meridian::region::front
