// SPDX-License-Identifier: Apache-2.0
#include "token_calls.h"

#include <fmt/format.h>

#include <vector>

#include "base/json.h"
#include "key_calls.h"

namespace meridian {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr std::int64_t kMostDays = 3650;

JsonObject shown(const identity::Token& token) {
  JsonArray grants;
  for (const identity::Grant& grant : token.grants) {
    grants.push_back(JsonObject{{"Role", identity::name(grant.role)}, {"Namespace", grant.ns}});
  }
  JsonObject out{{"Id", token.id},
                 {"User", token.user},
                 {"Grants", std::move(grants)},
                 {"Created", token.created.seconds()}};
  if (token.expires) out["Expires"] = token.expires->seconds();
  return out;
}

// One role, in the namespaces given or in all.
std::vector<identity::Grant> grants_of(const JsonObject& input) {
  const Json whole(input);
  const std::string text = base::string_or(whole, "Role", "viewer");
  const auto role = identity::parse_role(text);
  if (!role) {
    throw aws::ApiError("ValidationException",
                        fmt::format("'{}' is not a role; one of admin, editor, viewer", text));
  }
  std::vector<identity::Grant> grants;
  const Json* namespaces = base::find(whole, "Namespaces");
  if (namespaces != nullptr && namespaces->is_array()) {
    for (const Json& ns : namespaces->get_array()) {
      if (ns.is_string() && !ns.get_string().empty()) {
        grants.push_back({*role, std::string(base::view(ns.get_string()))});
      }
    }
  }
  if (grants.empty()) grants.push_back({*role, ""});
  return grants;
}

std::optional<base::Duration> lifetime_of(const JsonObject& input) {
  const std::int64_t days = base::int_or(Json(input), "Days", 0);
  if (days == 0) return std::nullopt;
  if (days < 0 || days > kMostDays) {
    throw aws::ApiError("ValidationException",
                        fmt::format("Days: {} is not between 1 and {}", days, kMostDays));
  }
  return std::chrono::hours(24 * days);
}

}  // namespace

std::map<std::string, aws::OperationHandler> token_calls(identity::Identity& identity,
                                                         identity::Tokens& tokens) {
  using Context = aws::CallContext;
  return {
      {"tokens-add",
       [&](const Context& context, const JsonObject& input) -> Json {
         require_admin(identity, context);
         const identity::NewToken made =
             tokens.add(base::string_or(Json(input), "User"), grants_of(input), lifetime_of(input));
         JsonObject answer = shown(made.token);
         answer["Secret"] = made.secret;
         return answer;
       }},
      {"tokens-list",
       [&](const Context& context, const JsonObject&) -> Json {
         require_admin(identity, context);
         JsonArray all;
         for (const identity::Token& token : tokens.list()) all.push_back(shown(token));
         return JsonObject{{"Tokens", std::move(all)}};
       }},
      {"tokens-remove",
       [&](const Context& context, const JsonObject& input) -> Json {
         require_admin(identity, context);
         tokens.remove(base::string_or(Json(input), "Id"));
         return JsonObject{};
       }},
  };
}

}  // namespace meridian
