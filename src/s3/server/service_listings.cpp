// ListObjects, ListObjectsV2, ListObjectVersions.
//
// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "s3/server/service.h"

namespace meridian::s3 {
namespace {

// Names in listings, URL-encoded when the client asked for it.
class Encoder {
 public:
  explicit Encoder(const Call& call) : url_(call.parameter("encoding-type") == "url") {
    if (call.has("encoding-type") && !url_)
      throw invalid_argument("Invalid Encoding Method specified in Request", "encoding-type",
                             call.parameter("encoding-type"));
  }
  std::string operator()(const std::string& name) const {
    return url_ ? base::percent_encode(name, "/") : name;
  }
  void write_type(base::XmlWriter& xml) const {
    if (url_) xml.element("EncodingType", "url");
  }

 private:
  bool url_;
};

std::string encode_token(const std::string& key) { return base::hex(key); }

std::string decode_token(const Call& call) {
  const auto token = call.parameter("continuation-token");
  auto key = base::unhex(token);
  if (token.empty() || !key)
    throw invalid_argument("The continuation token provided is incorrect", "continuation-token",
                           token);
  return *key;
}

void write_object(base::XmlWriter& xml, const Encoder& encode, const ObjectRecord& object) {
  xml.element("Key", encode(object.key))
      .element("LastModified", base::format_iso8601(object.modified))
      .element("ETag", quoted_etag(object.etag));
  if (object.checksum) {
    xml.element("ChecksumAlgorithm", name(object.checksum->kind))
        .element("ChecksumType", object.checksum->composite ? "COMPOSITE" : "FULL_OBJECT");
  }
  xml.element("Size", std::to_string(object.size)).element("StorageClass", object.storage_class);
}

void write_prefixes(base::XmlWriter& xml, const Encoder& encode, const Listing& listing) {
  for (const auto& prefix : listing.common_prefixes)
    xml.open("CommonPrefixes").element("Prefix", encode(prefix)).close();
}

void write_contents(base::XmlWriter& xml, const Encoder& encode, const Listing& listing,
                    const std::string* owner) {
  for (const auto& object : listing.objects) {
    xml.open("Contents");
    write_object(xml, encode, object);
    if (owner) write_owner(xml, "Owner", *owner);
    xml.close();
  }
  write_prefixes(xml, encode, listing);
}

std::string_view yes_no(bool value) { return value ? "true" : "false"; }

}  // namespace

void Service::list_objects(Call& call) {
  auto& store = home(call);
  const Encoder encode(call);
  const ListRequest request{.bucket = call.target.bucket,
                            .prefix = call.parameter("prefix"),
                            .delimiter = call.parameter("delimiter"),
                            .after = call.parameter("marker"),
                            .limit = call.number("max-keys", 1000, 1000)};
  const auto listing = store.list_objects(request);
  base::XmlWriter xml;
  xml.open("ListBucketResult", s3_namespace)
      .element("Name", request.bucket)
      .element("Prefix", encode(request.prefix))
      .element("Marker", encode(request.after));
  if (listing.truncated && !request.delimiter.empty())
    xml.element("NextMarker", encode(listing.next));
  xml.element("MaxKeys", std::to_string(request.limit));
  if (!request.delimiter.empty()) xml.element("Delimiter", encode(request.delimiter));
  encode.write_type(xml);
  xml.element("IsTruncated", yes_no(listing.truncated));
  write_contents(xml, encode, listing, &call.caller.account);
  call.answer_xml(xml);
}

void Service::list_objects_v2(Call& call) {
  auto& store = home(call);
  const Encoder encode(call);
  if (call.parameter("list-type") != "2")
    throw invalid_argument("Invalid List Type specified in Request", "list-type",
                           call.parameter("list-type"));
  const bool continues = call.has("continuation-token");
  const ListRequest request{.bucket = call.target.bucket,
                            .prefix = call.parameter("prefix"),
                            .delimiter = call.parameter("delimiter"),
                            .after = continues ? decode_token(call) : call.parameter("start-after"),
                            .limit = call.number("max-keys", 1000, 1000)};
  const auto listing = store.list_objects(request);
  base::XmlWriter xml;
  xml.open("ListBucketResult", s3_namespace)
      .element("Name", request.bucket)
      .element("Prefix", encode(request.prefix));
  if (!request.delimiter.empty()) xml.element("Delimiter", encode(request.delimiter));
  xml.element("MaxKeys", std::to_string(request.limit));
  encode.write_type(xml);
  xml.element("KeyCount", std::to_string(listing.objects.size() + listing.common_prefixes.size()))
      .element("IsTruncated", yes_no(listing.truncated));
  if (continues) xml.element("ContinuationToken", call.parameter("continuation-token"));
  if (listing.truncated) xml.element("NextContinuationToken", encode_token(listing.next));
  if (call.has("start-after")) xml.element("StartAfter", encode(call.parameter("start-after")));
  const bool with_owner = call.parameter("fetch-owner") == "true";
  write_contents(xml, encode, listing, with_owner ? &call.caller.account : nullptr);
  call.answer_xml(xml);
}

void Service::list_versions(Call& call) {
  auto& store = home(call);
  const Encoder encode(call);
  const ListRequest request{.bucket = call.target.bucket,
                            .prefix = call.parameter("prefix"),
                            .delimiter = call.parameter("delimiter"),
                            .after = call.parameter("key-marker"),
                            .after_version = call.parameter("version-id-marker"),
                            .limit = call.number("max-keys", 1000, 1000)};
  if (call.has("version-id-marker") && (request.after.empty() || request.after_version.empty()))
    throw invalid_argument(request.after.empty()
                               ? "A version-id marker cannot be specified without a key marker."
                               : "A version-id marker cannot be empty.",
                           "version-id-marker", request.after_version);
  const auto listing = store.list_versions(request);
  base::XmlWriter xml;
  xml.open("ListVersionsResult", s3_namespace)
      .element("Name", request.bucket)
      .element("Prefix", encode(request.prefix))
      .element("KeyMarker", encode(request.after))
      .element("VersionIdMarker", request.after_version);
  if (listing.truncated) {
    xml.element("NextKeyMarker", encode(listing.next));
    if (!listing.next_version.empty()) xml.element("NextVersionIdMarker", listing.next_version);
  }
  xml.element("MaxKeys", std::to_string(request.limit));
  if (!request.delimiter.empty()) xml.element("Delimiter", encode(request.delimiter));
  encode.write_type(xml);
  xml.element("IsTruncated", yes_no(listing.truncated));
  for (std::size_t i = 0; i < listing.objects.size(); ++i) {
    const auto& object = listing.objects[i];
    xml.open(object.delete_marker ? "DeleteMarker" : "Version");
    xml.element("VersionId", object.version_id).element("IsLatest", yes_no(listing.latest[i]));
    if (object.delete_marker)
      xml.element("Key", encode(object.key))
          .element("LastModified", base::format_iso8601(object.modified));
    else
      write_object(xml, encode, object);
    write_owner(xml, "Owner", call.caller.account);
    xml.close();
  }
  write_prefixes(xml, encode, listing);
  call.answer_xml(xml);
}

}  // namespace meridian::s3
