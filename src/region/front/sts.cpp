// SPDX-License-Identifier: Apache-2.0
#include "aws/arn.h"
#include "base/json.h"
#include "region/front/installation_services.h"

namespace meridian::region::front {
namespace {

using aws::ApiError;
using aws::CallContext;
using base::Json;
using base::JsonObject;

// "arn:aws:iam::123456789012:role/path/name" → "name".
std::string role_name_of(const std::string& text) {
  const auto arn = aws::parse_arn(text);
  const bool formed = arn && arn->service == "iam" && arn->region.empty() &&
                      !arn->account.empty() && arn->resource_type() == "role" &&
                      !text.ends_with('/');
  if (!formed) {
    throw ApiError("ValidationError",
                   "RoleArn '" + text + "' is not of the form arn:aws:iam::123456789012:role/NAME");
  }
  return text.substr(text.rfind('/') + 1);
}

JsonObject credentials_json(const identity::AccessKey& key) {
  return {{"AccessKeyId", key.id},
          {"SecretAccessKey", key.secret},
          {"SessionToken", key.session_token},
          {"Expiration", key.expires ? key.expires->seconds() : 0.0}};
}

identity::AccessKey caller(const identity::Identity& identity, const CallContext& context) {
  auto key = identity.find_key(context.access_key_id);
  if (!key) throw ApiError("InvalidClientTokenId", "The access key has been removed", 403);
  return std::move(*key);
}

// Temporary keys end with what their caller's key ends with: its job, or its own removal.
std::string owner_after(const identity::AccessKey& key) {
  return key.owner.empty() ? identity::owner_of_key(key.id) : key.owner;
}

Json get_caller_identity(const CallContext& context) {
  return JsonObject{{"UserId", context.access_key_id},
                    {"Account", context.account},
                    {"Arn", context.principal_arn}};
}

Json assume_role(identity::Identity& identity, const CallContext& context,
                 const JsonObject& input) {
  const Json in(input);
  const std::string role = role_name_of(base::string_or(in, "RoleArn"));
  const std::string session = base::string_or(in, "RoleSessionName");
  const identity::AccessKey parent = caller(identity, context);
  identity::Principal principal = parent.principal;
  principal.name = role + "/" + session;
  principal.arn = "arn:aws:sts::" + principal.account + ":assumed-role/" + principal.name;
  const auto lifetime = std::chrono::seconds(base::int_or(in, "DurationSeconds", 3600));
  const auto key = identity.add_temporary_key(principal, lifetime, owner_after(parent));
  return JsonObject{{"Credentials", credentials_json(key)},
                    {"AssumedRoleUser", JsonObject{{"AssumedRoleId", key.id + ":" + session},
                                                   {"Arn", principal.arn}}}};
}

Json get_session_token(identity::Identity& identity, const CallContext& context,
                       const JsonObject& input) {
  const auto lifetime = std::chrono::seconds(base::int_or(Json(input), "DurationSeconds", 43'200));
  const identity::AccessKey parent = caller(identity, context);
  const auto key = identity.add_temporary_key(parent.principal, lifetime, owner_after(parent));
  return JsonObject{{"Credentials", credentials_json(key)}};
}

}  // namespace

aws::Service make_sts(identity::Identity& identity) {
  aws::Service sts{.name = "sts", .operations = {}};
  sts.operations["GetCallerIdentity"] = [](const CallContext& context, const JsonObject&) {
    return get_caller_identity(context);
  };
  sts.operations["AssumeRole"] = [&identity](const CallContext& context, const JsonObject& input) {
    return assume_role(identity, context, input);
  };
  sts.operations["GetSessionToken"] = [&identity](const CallContext& context,
                                                  const JsonObject& input) {
    return get_session_token(identity, context, input);
  };
  return sts;
}

}  // namespace meridian::region::front
