// Versioning, ACLs, tags and CORS rules of a bucket; see also service_bucket_documents.cpp.
//
// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "s3/server/cors.h"
#include "s3/server/service.h"

namespace meridian::s3 {
namespace {

std::optional<std::string> cors_of(const BucketRecord& bucket) {
  const auto found = bucket.documents.find("cors");
  if (found == bucket.documents.end()) return std::nullopt;
  return found->second;
}

}  // namespace

void Service::get_versioning(Call& call) {
  const auto bucket = home(call).find_bucket(call.target.bucket);
  base::XmlWriter xml;
  xml.open("VersioningConfiguration", s3_namespace);
  if (bucket && bucket->versioning != Versioning::off)
    xml.element("Status", bucket->versioning == Versioning::enabled ? "Enabled" : "Suspended");
  call.answer_xml(xml);
}

void Service::put_versioning(Call& call) {
  auto& store = home(call);
  const auto xml = call.read_xml("VersioningConfiguration");
  const auto status = xml.text_of("Status");
  if (status != "Enabled" && status != "Suspended")
    throw S3Error("IllegalVersioningConfigurationException",
                  "The Versioning element must be specified: Status is Enabled or Suspended", 400);
  if (xml.text_of("MfaDelete") == "Enabled")
    throw S3Error("NotImplemented",
                  "A header you provided implies functionality that is not implemented: MFA delete",
                  501);
  store.update_bucket(call.target.bucket, [&](BucketRecord& bucket) {
    bucket.versioning = status == "Enabled" ? Versioning::enabled : Versioning::suspended;
  });
  call.answer_empty(200);
}

void Service::get_acl(Call& call) {
  auto& store = home(call);
  if (!call.target.key.empty() &&
      !store.find_record(call.target.bucket, call.target.key, call.parameter("versionId")))
    throw no_such_key(call.target.key);
  // Written by hand: the grantee needs a second namespace and a type attribute.
  const auto id = owner_id(call.caller.account);
  const auto who =
      "<ID>" + id + "</ID><DisplayName>" + base::xml_escape(call.caller.account) + "</DisplayName>";
  answer_text_xml(call,
                  "<AccessControlPolicy xmlns=\"" + std::string(s3_namespace) + "\"><Owner>" + who +
                      "</Owner><AccessControlList><Grant><Grantee xmlns:xsi=\"http://www.w3.org"
                      "/2001/XMLSchema-instance\" xsi:type=\"CanonicalUser\">" +
                      who +
                      "</Grantee><Permission>FULL_CONTROL</Permission></Grant>"
                      "</AccessControlList></AccessControlPolicy>");
}

void Service::put_acl(Call& call) {
  auto& store = home(call);
  if (!call.target.key.empty() &&
      !store.find_record(call.target.bucket, call.target.key, call.parameter("versionId")))
    throw no_such_key(call.target.key);
  const auto acl = call.header("x-amz-acl");
  if (acl != "private" && acl != "bucket-owner-full-control")
    throw S3Error("AccessControlListNotSupported", "The bucket does not allow ACLs", 400);
  call.answer_empty(200);
}

void Service::get_bucket_tagging(Call& call) {
  const auto bucket = home(call).find_bucket(call.target.bucket);
  if (!bucket || bucket->tags.empty())
    throw S3Error("NoSuchTagSet", "The TagSet does not exist", 404)
        .with("BucketName", call.target.bucket);
  base::XmlWriter xml;
  write_tagging(xml, bucket->tags);
  call.answer_xml(xml);
}

void Service::put_bucket_tagging(Call& call) {
  auto& store = home(call);
  auto tags = parse_tagging_xml(call.read_xml("Tagging"));
  check_tags(tags, 50);
  store.update_bucket(call.target.bucket, [&](BucketRecord& bucket) { bucket.tags = tags; });
  call.answer_empty(204);
}

void Service::delete_bucket_tagging(Call& call) {
  home(call).update_bucket(call.target.bucket, [](BucketRecord& bucket) { bucket.tags.clear(); });
  call.answer_empty(204);
}

void Service::get_cors(Call& call) {
  const auto bucket = home(call).find_bucket(call.target.bucket);
  const auto text = bucket ? cors_of(*bucket) : std::nullopt;
  if (!text)
    throw S3Error("NoSuchCORSConfiguration", "The CORS configuration does not exist", 404)
        .with("BucketName", call.target.bucket);
  answer_text_xml(call, *text);
}

void Service::put_cors(Call& call) {
  auto& store = home(call);
  const auto text = call.read_document();
  if (auto rules = parse_cors(text); !rules) throw malformed_xml(rules.error().message);
  store.update_bucket(call.target.bucket,
                      [&](BucketRecord& bucket) { bucket.documents["cors"] = text; });
  call.answer_empty(200);
}

void Service::delete_cors(Call& call) {
  home(call).update_bucket(call.target.bucket,
                           [](BucketRecord& bucket) { bucket.documents.erase("cors"); });
  call.answer_empty(204);
}

void Service::preflight(Call& call) {
  const auto origin = call.header("origin");
  const auto method = call.header("access-control-request-method");
  if (origin.empty() || method.empty())
    throw S3Error("BadRequest",
                  "Insufficient information. Origin request header needed, and "
                  "Access-Control-Request-Method.",
                  400);
  auto* store = store_with(call.target.bucket);
  const auto bucket = store ? store->find_bucket(call.target.bucket) : nullptr;
  const auto text = bucket ? cors_of(*bucket) : std::nullopt;
  const auto rules = parse_cors(text.value_or(""));
  const auto asked = call.header("access-control-request-headers");
  const auto* rule = rules ? match_cors(*rules, origin, method, asked) : nullptr;
  if (!rule)
    throw S3Error("AccessForbidden",
                  text ? "CORSResponse: This CORS request is not allowed. This is usually "
                         "because the evaluation of Origin, request method / "
                         "Access-Control-Request-Method or Access-Control-Request-Headers "
                         "are not whitelisted by the resource's CORS spec."
                       : "CORSResponse: CORS is not enabled for this bucket.",
                  403);
  net::Headers headers;
  add_cors(headers, *rule, origin);
  if (!asked.empty()) headers.set("Access-Control-Allow-Headers", asked);
  call.answer_empty(200, std::move(headers));
}

void Service::add_cors_headers(Call& call) {
  const auto origin = call.header("origin");
  if (origin.empty() || call.target.bucket.empty() || call.http.method == "OPTIONS") return;
  auto* store = store_with(call.target.bucket);
  const auto bucket = store ? store->find_bucket(call.target.bucket) : nullptr;
  const auto text = bucket ? cors_of(*bucket) : std::nullopt;
  if (!text) return;
  const auto rules = parse_cors(*text);
  if (!rules) return;
  if (const auto* rule = match_cors(*rules, origin, call.http.method, ""))
    add_cors(call.extra_headers, *rule, origin);
}

}  // namespace meridian::s3
