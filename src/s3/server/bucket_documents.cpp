// SPDX-License-Identifier: Apache-2.0
#include "s3/server/bucket_documents.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/strings.h"
#include "s3/store/lifecycle.h"

namespace meridian::s3 {
namespace {

using base::Json;

constexpr std::size_t largest_policy = 20u << 10;
constexpr std::array<std::string_view, 4> block_elements{
    "BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"};

S3Error malformed_policy(std::string why) {
  return {"MalformedPolicy", "Policy is not valid: " + std::move(why), 400};
}

// One statement or several.
std::vector<const Json*> statements_of(const Json& policy) {
  std::vector<const Json*> statements;
  const Json* found = base::find(policy, "Statement");
  if (found && found->is_object()) statements.push_back(found);
  if (found && found->is_array()) {
    for (const auto& statement : found->get_array()) statements.push_back(&statement);
  }
  return statements;
}

std::optional<S3Error> check_statement(const Json& statement) {
  if (!statement.is_object()) return malformed_policy("a Statement is an object");
  const auto has = [&](std::string_view name) { return base::find(statement, name) != nullptr; };
  const auto effect = base::string_or(statement, "Effect");
  if (effect != "Allow" && effect != "Deny")
    return malformed_policy("Effect is Allow or Deny, not '" + effect + "'");
  if (!has("Principal") && !has("NotPrincipal")) return malformed_policy("Missing Principal");
  if (!has("Action") && !has("NotAction")) return malformed_policy("Missing Action");
  if (!has("Resource") && !has("NotResource")) return malformed_policy("Missing Resource");
  return std::nullopt;
}

std::optional<S3Error> check_policy(std::string_view text) {
  if (text.size() > largest_policy)
    return S3Error("PolicyTooLarge", "Policies must not exceed 20 KiB", 400);
  const auto policy = base::parse_json(text);
  if (!policy || !policy->is_object())
    return malformed_policy("Policies must be valid JSON and the first byte must be '{'");
  const auto statements = statements_of(*policy);
  if (statements.empty()) return malformed_policy("Missing Statement");
  for (const auto* statement : statements) {
    if (auto failure = check_statement(*statement)) return failure;
  }
  return std::nullopt;
}

std::optional<S3Error> check_encryption(std::string_view text) {
  const auto xml = base::parse_xml(text);
  if (!xml || xml->name != "ServerSideEncryptionConfiguration") return malformed_xml();
  const auto* rule = xml->find("Rule");
  const auto* by_default = rule ? rule->find("ApplyServerSideEncryptionByDefault") : nullptr;
  if (!by_default) return malformed_xml("Rule and ApplyServerSideEncryptionByDefault are needed");
  const auto algorithm = by_default->text_of("SSEAlgorithm");
  if (algorithm == "AES256" || algorithm == "aws:kms" || algorithm == "aws:kms:dsse")
    return std::nullopt;
  return malformed_xml("SSEAlgorithm is AES256, aws:kms or aws:kms:dsse");
}

std::optional<S3Error> check_lifecycle(std::string_view text) {
  const auto rules = parse_lifecycle(text);
  if (rules) return std::nullopt;
  return malformed_xml(rules.error().message);
}

std::optional<S3Error> check_public_access_block(std::string_view text) {
  const auto xml = base::parse_xml(text);
  if (!xml || xml->name != "PublicAccessBlockConfiguration") return malformed_xml();
  for (const auto& child : xml->children) {
    if (std::find(block_elements.begin(), block_elements.end(), child.name) == block_elements.end())
      return malformed_xml("<" + child.name + "> is not known");
    const auto value = base::to_lower(base::trim(child.text));
    if (value != "true" && value != "false") return malformed_xml("true or false is expected");
  }
  return std::nullopt;
}

constexpr std::array<BucketDocument, 4> documents{{
    {"policy", "application/json", 204, "NoSuchBucketPolicy", "The bucket policy does not exist",
     "the bucket policy is stored, not enforced: the roles of the keys decide", &check_policy},
    {"encryption", "application/xml", 200, "ServerSideEncryptionConfigurationNotFoundError",
     "The server side encryption configuration was not found",
     "the encryption setting is stored, not enforced: objects lie on the disk as they are",
     &check_encryption},
    {"lifecycle", "application/xml", 200, "NoSuchLifecycleConfiguration",
     "The lifecycle configuration does not exist", "", &check_lifecycle},
    {"publicAccessBlock", "application/xml", 200, "NoSuchPublicAccessBlockConfiguration",
     "The public access block configuration was not found", "", &check_public_access_block},
}};

// Principal "*", or {"AWS": "*"}, or a list with it.
bool is_anybody(const Json* principal) {
  if (!principal) return false;
  if (principal->is_string()) return principal->get_string() == "*";
  if (principal->is_array())
    return std::any_of(principal->get_array().begin(), principal->get_array().end(),
                       [](const Json& one) { return is_anybody(&one); });
  return principal->is_object() && is_anybody(base::find(*principal, "AWS"));
}

bool is_empty(const base::XmlElement& xml) { return xml.children.empty(); }

constexpr std::array<FixedSetting, 5> fixed_settings{{
    {"ownershipControls", "OwnershipControls",
     [](const base::XmlElement& xml) {
       const auto* rule = xml.find("Rule");
       return rule && rule->text_of("ObjectOwnership") == "BucketOwnerEnforced";
     },
     "there are no ACLs: set BucketOwnerEnforced"},
    {"notification", "NotificationConfiguration", &is_empty,
     "nobody is notified: list the bucket to see what is new"},
    {"logging", "BucketLoggingStatus", &is_empty, "requests are counted on the page /metrics"},
    {"accelerate", "AccelerateConfiguration",
     [](const base::XmlElement& xml) { return xml.text_of("Status") != "Enabled"; },
     "there is one endpoint: set Suspended"},
    {"requestPayment", "RequestPaymentConfiguration",
     [](const base::XmlElement& xml) { return xml.text_of("Payer") == "BucketOwner"; },
     "requests cost nothing: set BucketOwner"},
}};

}  // namespace

std::span<const BucketDocument> bucket_documents() { return documents; }
std::span<const FixedSetting> fixed_bucket_settings() { return fixed_settings; }

bool is_public_policy(std::string_view text) {
  const auto policy = base::parse_json(text);
  if (!policy) return false;
  const auto statements = statements_of(*policy);
  return std::any_of(statements.begin(), statements.end(), [](const Json* statement) {
    return base::string_or(*statement, "Effect") == "Allow" &&
           !base::find(*statement, "Condition") && is_anybody(base::find(*statement, "Principal"));
  });
}

bool blocks_public_policy(std::string_view configuration) {
  if (configuration.empty()) return true;
  const auto xml = base::parse_xml(configuration);
  return !xml || base::to_lower(base::trim(xml->text_of("BlockPublicPolicy"))) == "true";
}

std::optional<S3Error> check_fixed_setting(const FixedSetting& setting, std::string_view text) {
  const auto xml = base::parse_xml(text);
  if (!xml || xml->name != setting.root) return malformed_xml();
  if (setting.is_ours(*xml)) return std::nullopt;
  return not_implemented("PUT ?" + std::string(setting.sub_resource), setting.advice);
}

}  // namespace meridian::s3
