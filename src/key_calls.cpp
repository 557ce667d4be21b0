// SPDX-License-Identifier: Apache-2.0
#include "key_calls.h"

#include <fmt/format.h>

#include "base/json.h"

namespace meridian {

void require_admin(const identity::Identity& identity, const aws::CallContext& context) {
  const auto key = identity.find_key(context.access_key_id);
  if (key && key->principal.role == identity::Role::admin &&
      key->principal.scope == identity::Scope::full) {
    return;
  }
  throw aws::ApiError("AccessDeniedException",
                      "only an administrator's key may manage keys and tokens", 403);
}

std::map<std::string, aws::OperationHandler> key_calls(identity::Identity& identity) {
  const auto shown = [](const identity::AccessKey& key) {
    return base::JsonObject{{"AccessKeyId", key.id},
                            {"User", key.principal.name},
                            {"Role", std::string(identity::name(key.principal.role))},
                            {"Created", key.created.seconds()}};
  };
  return {
      {"keys-add",
       [=, &identity](const aws::CallContext& context,
                      const base::JsonObject& input) -> base::Json {
         require_admin(identity, context);
         const std::string role_text = base::string_or(input, "Role", "editor");
         const auto role = identity::parse_role(role_text);
         if (!role) {
           throw aws::ApiError("ValidationException", fmt::format("'{}' is not a role; one of "
                                                                  "admin, editor, viewer",
                                                                  role_text));
         }
         const auto key = identity.add_key(base::string_or(input, "User"), *role);
         base::JsonObject answer = shown(key);
         answer["SecretAccessKey"] = key.secret;
         return answer;
       }},
      {"keys-list",
       [=, &identity](const aws::CallContext& context, const base::JsonObject&) -> base::Json {
         require_admin(identity, context);
         base::JsonArray keys;
         for (const auto& key : identity.list_keys()) keys.push_back(shown(key));
         return base::JsonObject{{"Keys", keys}};
       }},
      {"keys-remove",
       [=, &identity](const aws::CallContext& context,
                      const base::JsonObject& input) -> base::Json {
         require_admin(identity, context);
         identity.remove_key(base::string_or(input, "AccessKeyId"));
         return base::JsonObject{};
       }},
  };
}

}  // namespace meridian
