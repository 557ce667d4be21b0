// PutObject, CopyObject, deletes and object tags.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/strings.h"
#include "s3/server/conditions.h"
#include "s3/server/service.h"

namespace meridian::s3 {
namespace {

constexpr std::array<std::string_view, 6> stored_headers{
    "content-type",     "cache-control", "content-disposition",
    "content-language", "expires",       "x-amz-website-redirect-location"};
constexpr std::array<std::string_view, 6> encryption_headers{
    "x-amz-server-side-encryption",
    "x-amz-server-side-encryption-aws-kms-key-id",
    "x-amz-server-side-encryption-context",
    "x-amz-server-side-encryption-bucket-key-enabled",
    "x-amz-server-side-encryption-customer-algorithm",
    "x-amz-server-side-encryption-customer-key-md5"};
constexpr std::array<std::string_view, 8> storage_classes{
    "STANDARD",   "REDUCED_REDUNDANCY", "STANDARD_IA", "ONEZONE_IA", "INTELLIGENT_TIERING",
    "GLACIER_IR", "EXPRESS_ONEZONE",    "OUTPOSTS"};

Fields encryption_of(const Call& call) {
  Fields fields;
  for (auto name : encryption_headers) {
    if (auto value = call.find_header(name)) fields[std::string(name)] = *value;
  }
  return fields;
}

// "aws-chunked" says how the body was sent, not what it is.
std::string content_encoding(const Call& call) {
  std::vector<std::string> kept;
  for (const auto& piece : base::split(call.header("content-encoding"), ',')) {
    const auto name = base::trim(piece);
    if (!name.empty() && !base::equals_ignoring_case(name, "aws-chunked")) kept.emplace_back(name);
  }
  return base::join(kept, ",");
}

Fields metadata_of(const Call& call) {
  constexpr std::string_view prefix = "x-amz-meta-";
  Fields metadata;
  std::size_t size = 0;
  for (const auto& [raw_name, value] : call.http.headers.fields()) {
    const auto name = base::to_lower(raw_name);
    if (!name.starts_with(prefix)) continue;
    auto& stored = metadata[name.substr(prefix.size())];
    stored += (stored.empty() ? "" : ",") + base::to_valid_utf8(value);
    size += name.size() - prefix.size() + value.size();
  }
  if (size > 2048)
    throw S3Error("MetadataTooLarge",
                  "Your metadata headers exceed the maximum allowed metadata size", 400)
        .with("Size", std::to_string(size))
        .with("MaxSizeAllowed", "2048");
  return metadata;
}

Fields headers_of(const Call& call) {
  Fields headers = encryption_of(call);
  for (auto name : stored_headers) {
    if (auto value = call.find_header(name); value && !value->empty())
      headers[std::string(name)] = base::to_valid_utf8(*value);
  }
  if (auto encoding = content_encoding(call); !encoding.empty())
    headers["content-encoding"] = encoding;
  return headers;
}

std::string storage_class_of(const Call& call) {
  const auto name = call.header("x-amz-storage-class");
  if (name.empty()) return "STANDARD";
  if (std::find(storage_classes.begin(), storage_classes.end(), name) == storage_classes.end())
    throw S3Error("InvalidStorageClass",
                  "The storage class you specified is not valid: '" + name + "'", 400)
        .with("StorageClassRequested", name);
  return name;
}

net::Headers version_header(ObjectStore& store, const ObjectRecord& record,
                            const std::string& bucket) {
  net::Headers headers;
  const auto found = store.find_bucket(bucket);
  if (found && found->versioning != Versioning::off)
    headers.set("x-amz-version-id", record.version_id);
  return headers;
}

bool replaces(const Call& call, std::string_view header) {
  const auto text = call.header(header);
  if (text.empty() || text == "COPY") return false;
  if (text == "REPLACE") return true;
  throw invalid_argument("Unknown metadata directive.", std::string(header), text);
}

}  // namespace

NewObject new_object(const Call& call) {
  NewObject object{.bucket = call.target.bucket,
                   .key = call.target.key,
                   .metadata = metadata_of(call),
                   .headers = headers_of(call),
                   .tags = parse_tagging_header(call.header("x-amz-tagging")),
                   .storage_class = storage_class_of(call),
                   .conditions = call.write_conditions()};
  check_tags(object.tags, 10);
  return object;
}

void add_checksum_headers(net::Headers& headers, const Checksum& checksum) {
  headers.set(header_name(checksum.kind), checksum.value);
  headers.set("x-amz-checksum-type", checksum.composite ? "COMPOSITE" : "FULL_OBJECT");
}

void add_checksum_elements(base::XmlWriter& xml, const Checksum& checksum) {
  xml.element(xml_name(checksum.kind), checksum.value)
      .element("ChecksumType", checksum.composite ? "COMPOSITE" : "FULL_OBJECT");
}

void add_echoed_headers(net::Headers& headers, const ObjectRecord& record) {
  for (auto name : encryption_headers) {
    const auto found = record.headers.find(std::string(name));
    if (found != record.headers.end()) headers.set(name, found->second);
  }
}

Fields parse_tagging_header(const std::string& text) {
  Fields tags;
  for (const auto& [key, value] : net::parse_query(text, true)) {
    if (key.empty() || !tags.emplace(key, value).second)
      throw S3Error("InvalidTag", "The TagValue you have provided is invalid", 400)
          .with("TagKey", key);
  }
  return tags;
}

Fields parse_tagging_xml(const base::XmlElement& tagging) {
  const auto* set = tagging.find("TagSet");
  if (!set) throw malformed_xml("TagSet is missing");
  Fields tags;
  for (const auto& tag : set->children) {
    if (!tags.emplace(tag.text_of("Key"), tag.text_of("Value")).second)
      throw S3Error("InvalidTag", "Cannot provide multiple Tags with the same key", 400)
          .with("TagKey", tag.text_of("Key"));
  }
  return tags;
}

void check_tags(const Fields& tags, std::size_t most) {
  if (tags.size() > most)
    throw S3Error("BadRequest", "Object tags cannot be greater than " + std::to_string(most), 400);
  for (const auto& [key, value] : tags) {
    if (key.empty() || key.size() > 4 * 128 || !base::is_valid_utf8(key) ||
        !base::is_valid_utf8(value))
      throw S3Error("InvalidTag", "The TagKey you have provided is invalid", 400)
          .with("TagKey", key);
    if (value.size() > 4 * 256)
      throw S3Error("InvalidTag", "The TagValue you have provided is invalid", 400)
          .with("TagKey", key);
  }
}

void write_tagging(base::XmlWriter& xml, const Fields& tags) {
  xml.open("Tagging", s3_namespace).open("TagSet");
  for (const auto& [key, value] : tags)
    xml.open("Tag").element("Key", key).element("Value", value).close();
}

void Service::check_encryption(const Call& call) const {
  if (settings_.refuse_unenforced && !encryption_of(call).empty())
    throw not_implemented("encryption of objects",
                          "the daemon runs with --strict, which refuses what it does not do");
}

void Service::put_object(Call& call) {
  if (call.find_header("x-amz-copy-source")) return copy_object(call);
  auto& store = home(call);
  check_encryption(call);
  auto object = new_object(call);
  object.expected = call.digests();
  object.checksum = object.expected.kind;
  const auto record = store.put(object, call.body);
  auto headers = version_header(store, record, object.bucket);
  headers.set("ETag", quoted_etag(record.etag));
  add_echoed_headers(headers, record);
  if (record.checksum) add_checksum_headers(headers, *record.checksum);
  call.answer_empty(200, std::move(headers));
}

Service::Source Service::open_source(const Call& call) {
  const auto raw = call.header("x-amz-copy-source");
  std::string_view path = raw;
  std::string version;
  if (const auto at = path.find("?versionId="); at != std::string_view::npos) {
    version = base::percent_decode(path.substr(at + 11)).value_or("");
    path = path.substr(0, at);
  }
  auto decoded = base::percent_decode(path);
  if (decoded && decoded->starts_with('/')) decoded->erase(0, 1);
  const auto slash = decoded ? decoded->find('/') : std::string::npos;
  if (slash == std::string::npos || slash == 0 || slash + 1 == decoded->size())
    throw invalid_argument(
        "Copy Source must mention the source bucket and key: sourcebucket/sourcekey",
        "x-amz-copy-source", raw);
  Source source{.bucket = decoded->substr(0, slash), .key = decoded->substr(slash + 1)};
  source.store = &find_store(source.bucket, call.caller.account);
  if (const auto bucket = source.store->find_bucket(source.bucket))
    check_owner_header(call, "x-amz-source-expected-bucket-owner", *bucket);
  auto held = source.store->hold(source.bucket, source.key, version);
  if (!held) {
    if (version.empty()) throw no_such_key(source.key);
    throw no_such_version(source.key, version);
  }
  const auto conditions = read_conditions(call.http.headers, "x-amz-copy-source-");
  if (check_read(conditions, held->record) != ReadVerdict::send)
    throw precondition_failed("x-amz-copy-source-If-*");
  source.held = std::move(*held);
  return source;
}

void Service::copy_object(Call& call) {
  auto& store = home(call);
  check_encryption(call);
  auto source = open_source(call);
  const auto from = source.held.record;
  auto target = new_object(call);
  const bool new_metadata = replaces(call, "x-amz-metadata-directive");
  const bool new_tags = replaces(call, "x-amz-tagging-directive");
  const bool onto_itself = source.bucket == target.bucket && source.key == target.key;
  if (onto_itself && !new_metadata && !new_tags && !call.find_header("x-amz-storage-class") &&
      !call.find_header("x-amz-website-redirect-location") && encryption_of(call).empty() &&
      call.header("x-amz-copy-source").find("?versionId=") == std::string::npos)
    throw S3Error("InvalidRequest",
                  "This copy request is illegal because it is trying to copy an object to itself "
                  "without changing the object's metadata, storage class, website redirect "
                  "location or encryption attributes.",
                  400);
  if (!new_metadata) {
    auto headers = encryption_of(call);
    for (const auto& [name, value] : from.headers) {
      if (!name.starts_with("x-amz-server-side-encryption")) headers.emplace(name, value);
    }
    target.headers = std::move(headers);
    target.metadata = from.metadata;
  }
  if (!new_tags) target.tags = from.tags;
  if (const auto asked = call.find_header("x-amz-checksum-algorithm"))
    target.checksum = parse_checksum_kind(*asked);
  ObjectRecord record;
  if (source.store == &store) {
    record = store.copy(source.held, target);
  } else {  // to another region of this installation: another file system for all we know
    auto reader = source.store->read(std::move(source.held), 0, from.size);
    record = store.put(target, *reader);
  }
  auto headers = version_header(store, record, target.bucket);
  if (from.version_id != "null") headers.set("x-amz-copy-source-version-id", from.version_id);
  add_echoed_headers(headers, record);
  base::XmlWriter xml;
  xml.open("CopyObjectResult", s3_namespace)
      .element("LastModified", base::format_iso8601(record.modified))
      .element("ETag", quoted_etag(record.etag));
  if (record.checksum) add_checksum_elements(xml, *record.checksum);
  call.answer_xml(xml, std::move(headers));
}

void Service::delete_object(Call& call) {
  auto& store = home(call);
  const auto removal =
      store.remove_version(call.target.bucket, call.target.key, call.parameter("versionId"));
  net::Headers headers;
  if (removal.delete_marker) headers.set("x-amz-delete-marker", "true");
  if (!removal.version_id.empty()) headers.set("x-amz-version-id", removal.version_id);
  call.answer_empty(204, std::move(headers));
}

void Service::delete_objects(Call& call) {
  auto& store = home(call);
  const auto request = call.read_xml("Delete");
  const bool quiet = request.text_of("Quiet") == "true";
  const auto count = std::count_if(request.children.begin(), request.children.end(),
                                   [](const auto& child) { return child.name == "Object"; });
  if (count == 0 || count > 1000) throw malformed_xml("1 to 1000 Object elements are allowed");
  base::XmlWriter xml;
  xml.open("DeleteResult", s3_namespace);
  for (const auto& object : request.children) {
    if (object.name != "Object") continue;
    const auto key = object.text_of("Key"), version = object.text_of("VersionId");
    try {  // each object succeeds or fails by itself
      const auto removal = store.remove_version(call.target.bucket, key, version);
      if (quiet) continue;
      xml.open("Deleted").element("Key", key);
      if (!version.empty()) xml.element("VersionId", version);
      if (removal.delete_marker)
        xml.element("DeleteMarker", "true").element("DeleteMarkerVersionId", removal.version_id);
    } catch (const base::Error& failure) {
      const auto error = to_s3_error(failure);
      xml.open("Error").element("Key", key).element("VersionId", version);
      xml.element("Code", error.s3_code()).element("Message", error.message());
    }
    xml.close();
  }
  call.answer_xml(xml);
}

void Service::put_object_tagging(Call& call) {
  auto& store = home(call);
  auto tags = parse_tagging_xml(call.read_xml("Tagging"));
  check_tags(tags, 10);
  const auto record = store.set_tags(call.target.bucket, call.target.key,
                                     call.parameter("versionId"), std::move(tags));
  call.answer_empty(200, version_header(store, record, call.target.bucket));
}

void Service::delete_object_tagging(Call& call) {
  auto& store = home(call);
  const auto record =
      store.set_tags(call.target.bucket, call.target.key, call.parameter("versionId"), {});
  call.answer_empty(204, version_header(store, record, call.target.bucket));
}

}  // namespace meridian::s3
