// Configurations of a bucket that are kept as they come, and settings that have one value.
//
// What promises security that is not given says so: in a Warning header and in the log, or it is
// refused (ServerSettings::refuse_unenforced).
//
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "base/log.h"
#include "s3/server/bucket_documents.h"
#include "s3/server/service.h"

namespace meridian::s3 {
namespace {

struct AbsentSetting {
  std::string_view sub_resource, code, message;
  int status;
};
constexpr std::array<AbsentSetting, 5> absent_settings{{
    {"website", "NoSuchWebsiteConfiguration",
     "The specified bucket does not have a website configuration", 404},
    {"replication", "ReplicationConfigurationNotFoundError",
     "The replication configuration was not found", 404},
    {"object-lock", "ObjectLockConfigurationNotFoundError",
     "Object Lock configuration does not exist for this bucket", 404},
    {"retention", "InvalidRequest", "Bucket is missing Object Lock Configuration", 400},
    {"legal-hold", "InvalidRequest", "Bucket is missing Object Lock Configuration", 400},
}};

constexpr std::string_view block_name = "publicAccessBlock";
constexpr std::string_view removed = "removed";  // not the same as never set

const BucketDocument& document_of(const Call& call) {
  for (const auto& document : bucket_documents()) {
    if (call.has(document.sub_resource)) return document;
  }
  throw base::Error(base::Code::internal, "no document of that name");  // no route leads here
}

std::optional<std::string> stored(const BucketRecord& bucket, std::string_view name) {
  const auto found = bucket.documents.find(std::string(name));
  if (found == bucket.documents.end()) return std::nullopt;
  return found->second;
}

// Nobody comes in without a signature, whatever the setting says.
std::string everything_blocked() {
  base::XmlWriter xml;
  xml.open("PublicAccessBlockConfiguration", s3_namespace);
  for (std::string_view what :
       {"BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"})
    xml.element(what, "true");
  return xml.finish();
}

}  // namespace

void Service::get_document(Call& call) {
  const auto bucket = home(call).find_bucket(call.target.bucket);
  if (!bucket) throw no_such_bucket(call.target.bucket);
  const auto& document = document_of(call);
  auto text = stored(*bucket, document.sub_resource);
  if (!text && document.sub_resource == block_name) text = everything_blocked();
  if (!text || *text == removed)
    throw S3Error(std::string(document.absent_code), std::string(document.absent_message), 404)
        .with("BucketName", call.target.bucket);
  net::Headers headers;
  headers.set("Content-Type", std::string(document.content_type));
  call.answer({.status = 200, .headers = std::move(headers), .body = std::move(*text)});
}

void Service::put_document(Call& call) {
  auto& store = home(call);
  const auto& document = document_of(call);
  const auto text = call.read_document();
  if (auto failure = document.check(text)) throw *failure;
  if (!document.not_enforced.empty()) warn_not_enforced(call, document.not_enforced);
  const auto bucket = store.find_bucket(call.target.bucket);
  if (document.sub_resource == "policy" && bucket &&
      blocks_public_policy(stored(*bucket, block_name).value_or("")) && is_public_policy(text))
    throw access_denied(
        "public policies are prevented by the BlockPublicPolicy setting of the bucket");
  store.update_bucket(call.target.bucket, [&](BucketRecord& record) {
    record.documents[std::string(document.sub_resource)] = text;
  });
  call.answer_empty(document.put_status);
}

void Service::delete_document(Call& call) {
  const std::string name(document_of(call).sub_resource);
  home(call).update_bucket(call.target.bucket, [&](BucketRecord& bucket) {
    bucket.documents.erase(name);
    if (name == block_name) bucket.documents[name] = removed;
  });
  call.answer_empty(204);
}

void Service::warn_not_enforced(Call& call, std::string_view what) {
  if (settings_.refuse_unenforced)
    throw not_implemented(what, "the daemon runs with --strict, which refuses such settings");
  call.extra_headers.set("Warning", "299 meridian \"" + std::string(what) + "\"");
  base::log_warn(what, {{"bucket", call.target.bucket}, {"principal", call.caller.principal_arn}});
}

void Service::get_absent_setting(Call& call) {
  home(call);
  for (const auto& setting : absent_settings) {
    if (!call.has(setting.sub_resource)) continue;
    throw S3Error(std::string(setting.code), std::string(setting.message), setting.status)
        .with("BucketName", call.target.bucket);
  }
}

// What is not there is gone.
void Service::delete_absent_setting(Call& call) {
  home(call);
  call.answer_empty(204);
}

void Service::put_fixed_setting(Call& call) {
  home(call);
  for (const auto& setting : fixed_bucket_settings()) {
    if (!call.has(setting.sub_resource)) continue;
    if (auto failure = check_fixed_setting(setting, call.read_document())) throw *failure;
    return call.answer_empty(200);
  }
}

void Service::get_policy_status(Call& call) {
  home(call);
  base::XmlWriter xml;
  xml.open("PolicyStatus", s3_namespace).element("IsPublic", "false");
  call.answer_xml(xml);
}

void Service::get_ownership_controls(Call& call) {
  home(call);
  base::XmlWriter xml;
  xml.open("OwnershipControls", s3_namespace).open("Rule");
  xml.element("ObjectOwnership", "BucketOwnerEnforced");
  call.answer_xml(xml);
}

void Service::get_empty_setting(Call& call) {
  home(call);
  base::XmlWriter xml;
  if (call.has("logging"))
    xml.open("BucketLoggingStatus", s3_namespace);
  else if (call.has("notification"))
    xml.open("NotificationConfiguration", s3_namespace);
  else if (call.has("accelerate"))
    xml.open("AccelerateConfiguration", s3_namespace);
  else
    xml.open("RequestPaymentConfiguration", s3_namespace).element("Payer", "BucketOwner");
  call.answer_xml(xml);
}

}  // namespace meridian::s3
