// Multipart uploads.
//
// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "s3/server/service.h"

namespace meridian::s3 {
namespace {

int part_number(const Call& call) {
  const auto text = call.parameter("partNumber");
  const auto number = base::to_uint(text);
  if (!number || *number < 1 || *number > 10'000)
    throw invalid_argument("Part number must be an integer between 1 and 10000, inclusive",
                           "partNumber", text);
  return static_cast<int>(*number);
}

NewPart new_part(const Call& call) {
  return {.bucket = call.target.bucket,
          .key = call.target.key,
          .upload_id = call.parameter("uploadId"),
          .number = part_number(call)};
}

std::vector<CompletedPart> parse_parts(const base::XmlElement& xml) {
  std::vector<CompletedPart> parts;
  for (const auto& child : xml.children) {
    if (child.name != "Part") continue;
    const auto number = base::to_uint(base::trim(child.text_of("PartNumber")));
    if (!number || *number < 1 || *number > 10'000)
      throw invalid_argument("PartNumber must be >= 1", "PartNumber", child.text_of("PartNumber"));
    CompletedPart part{static_cast<int>(*number), unquoted(child.text_of("ETag")), {}};
    for (const auto& item : child.children) {
      if (item.name.starts_with("Checksum") && !item.text.empty()) part.checksum = item.text;
    }
    parts.push_back(std::move(part));
  }
  if (parts.empty() || parts.size() > 10'000)
    throw malformed_xml("1 to 10,000 Part elements are allowed");
  return parts;
}

// The range of the source that a part copies; strict, unlike the Range of a GET.
ByteRange copy_range(const Call& call, std::uint64_t size) {
  const auto text = call.header("x-amz-copy-source-range");
  if (text.empty()) return {0, size};
  const auto dash = text.find('-');
  const bool shaped = text.starts_with("bytes=") && dash != std::string::npos;
  const auto first = shaped ? base::to_uint(text.substr(6, dash - 6)) : std::nullopt;
  const auto last = shaped ? base::to_uint(text.substr(dash + 1)) : std::nullopt;
  if (!first || !last || *last < *first)
    throw invalid_argument(
        "The x-amz-copy-source-range value must be of the form bytes=first-last where first and "
        "last are the zero-based offsets of the first and last bytes to copy",
        "x-amz-copy-source-range", text);
  if (*last >= size)
    throw invalid_argument(
        "Range specified is not valid for source object of size: " + std::to_string(size),
        "x-amz-copy-source-range", text);
  return {*first, *last - *first + 1};
}

std::optional<std::uint64_t> claimed_size(const Call& call) {
  const auto text = call.find_header("x-amz-mp-object-size");
  if (!text) return std::nullopt;
  const auto size = base::to_uint(*text);
  if (!size)
    throw invalid_argument("x-amz-mp-object-size is not a number", "x-amz-mp-object-size", *text);
  return size;
}

void add_part_checksum(net::Headers& headers, const std::optional<ChecksumKind>& kind,
                       const PartRecord& part) {
  if (kind && !part.piece.checksum.empty()) headers.set(header_name(*kind), part.piece.checksum);
}

}  // namespace

void Service::create_upload(Call& call) {
  auto& store = home(call);
  check_encryption(call);
  auto object = new_object(call);
  bool composite = true;
  if (const auto asked = call.find_header("x-amz-checksum-algorithm")) {
    object.checksum = parse_checksum_kind(*asked);
    if (!object.checksum)
      throw S3Error("InvalidRequest",
                    "Checksum algorithm provided is unsupported. Please try again with any of the "
                    "valid types: [CRC32, CRC32C, CRC64NVME, SHA1, SHA256]",
                    400);
    const auto type = call.header("x-amz-checksum-type");
    composite = object.checksum != ChecksumKind::crc64nvme && type != "FULL_OBJECT";
    if (!composite && !is_crc(*object.checksum))
      throw S3Error("InvalidRequest",
                    "The FULL_OBJECT checksum type cannot be used with the " +
                        base::to_lower(name(*object.checksum)) + " checksum algorithm.",
                    400);
  }
  const auto upload = store.create_upload(object, composite);
  net::Headers headers;
  for (const auto& [name, value] : upload.headers) {
    if (name.starts_with("x-amz-server-side-encryption")) headers.set(name, value);
  }
  if (upload.checksum) {
    headers.set("x-amz-checksum-algorithm", std::string(name(*upload.checksum)));
    headers.set("x-amz-checksum-type", upload.composite ? "COMPOSITE" : "FULL_OBJECT");
  }
  base::XmlWriter xml;
  xml.open("InitiateMultipartUploadResult", s3_namespace)
      .element("Bucket", call.target.bucket)
      .element("Key", call.target.key)
      .element("UploadId", upload.id);
  call.answer_xml(xml, std::move(headers));
}

void Service::put_part(Call& call) {
  if (call.find_header("x-amz-copy-source")) return copy_part(call);
  auto& store = home(call);
  auto part = new_part(call);
  part.expected = call.digests();
  const auto record = store.put_part(part, call.body);
  net::Headers headers;
  headers.set("ETag", quoted_etag(record.etag));
  add_part_checksum(headers, part.expected.kind, record);
  call.answer_empty(200, std::move(headers));
}

void Service::copy_part(Call& call) {
  auto& store = home(call);
  const auto part = new_part(call);
  auto source = open_source(call);
  const auto from = source.held.record;
  const auto range = copy_range(call, from.size);
  PartRecord record;
  if (source.store == &store) {
    record = store.copy_part(part, source.held, range.offset, range.count);
  } else {
    auto reader = source.store->read(std::move(source.held), range.offset, range.count);
    record = store.put_part(part, *reader);
  }
  net::Headers headers;
  if (from.version_id != "null") headers.set("x-amz-copy-source-version-id", from.version_id);
  base::XmlWriter xml;
  xml.open("CopyPartResult", s3_namespace)
      .element("LastModified", base::format_iso8601(record.modified))
      .element("ETag", quoted_etag(record.etag));
  call.answer_xml(xml, std::move(headers));
}

void Service::complete_upload(Call& call) {
  auto& store = home(call);
  const auto xml_parts = call.read_xml("CompleteMultipartUpload", Call::Checksums::object);
  const auto claimed = call.digests();
  const auto record = store.complete_upload({.bucket = call.target.bucket,
                                             .key = call.target.key,
                                             .upload_id = call.parameter("uploadId"),
                                             .parts = parse_parts(xml_parts),
                                             .conditions = call.write_conditions(),
                                             .size = claimed_size(call),
                                             .checksum_kind = claimed.kind,
                                             .checksum = claimed.checksum});
  net::Headers headers;
  if (record.version_id != "null") headers.set("x-amz-version-id", record.version_id);
  add_echoed_headers(headers, record);
  base::XmlWriter xml;
  xml.open("CompleteMultipartUploadResult", s3_namespace)
      .element("Location", "http://" + call.header("host") + "/" + call.target.bucket + "/" +
                               base::percent_encode(call.target.key, "/"))
      .element("Bucket", call.target.bucket)
      .element("Key", call.target.key)
      .element("ETag", quoted_etag(record.etag));
  if (record.checksum) add_checksum_elements(xml, *record.checksum);
  call.answer_xml(xml, std::move(headers));
}

void Service::abort_upload(Call& call) {
  home(call).abort_upload(call.target.bucket, call.target.key, call.parameter("uploadId"));
  call.answer_empty(204);
}

void Service::list_uploads(Call& call) {
  auto& store = home(call);
  const auto limit = call.number("max-uploads", 1000, 1000);
  const bool url = call.parameter("encoding-type") == "url";
  const auto encode = [&](const std::string& text) {
    return url ? base::percent_encode(text, "/") : text;
  };
  const auto prefix = call.parameter("prefix"), delimiter = call.parameter("delimiter");
  const auto key_marker = call.parameter("key-marker");
  const auto id_marker = call.parameter("upload-id-marker");
  const auto listing =
      store.list_uploads(call.target.bucket, prefix, delimiter, key_marker, id_marker, limit);
  base::XmlWriter xml;
  xml.open("ListMultipartUploadsResult", s3_namespace)
      .element("Bucket", call.target.bucket)
      .element("KeyMarker", encode(key_marker))
      .element("UploadIdMarker", id_marker);
  if (listing.truncated)
    xml.element("NextKeyMarker", encode(listing.next_key))
        .element("NextUploadIdMarker", listing.next_id);
  xml.element("Prefix", encode(prefix));
  if (!delimiter.empty()) xml.element("Delimiter", encode(delimiter));
  if (url) xml.element("EncodingType", "url");
  xml.element("MaxUploads", std::to_string(limit))
      .element("IsTruncated", listing.truncated ? "true" : "false");
  for (const auto& upload : listing.uploads) {
    xml.open("Upload").element("Key", encode(upload.key)).element("UploadId", upload.id);
    write_owner(xml, "Initiator", call.caller.account);
    write_owner(xml, "Owner", call.caller.account);
    xml.element("StorageClass", upload.storage_class)
        .element("Initiated", base::format_iso8601(upload.started));
    if (upload.checksum) xml.element("ChecksumAlgorithm", name(*upload.checksum));
    xml.close();
  }
  for (const auto& group : listing.common_prefixes)
    xml.open("CommonPrefixes").element("Prefix", encode(group)).close();
  call.answer_xml(xml);
}

void Service::list_parts(Call& call) {
  auto& store = home(call);
  const auto limit = call.number("max-parts", 1000, 1000);
  const auto after = call.number("part-number-marker", 0, 10'000);
  const auto listing = store.list_parts(call.target.bucket, call.target.key,
                                        call.parameter("uploadId"), static_cast<int>(after), limit);
  base::XmlWriter xml;
  xml.open("ListPartsResult", s3_namespace)
      .element("Bucket", call.target.bucket)
      .element("Key", call.target.key)
      .element("UploadId", listing.upload.id)
      .element("PartNumberMarker", std::to_string(after));
  if (!listing.parts.empty())
    xml.element("NextPartNumberMarker", std::to_string(listing.parts.back().number));
  xml.element("MaxParts", std::to_string(limit))
      .element("IsTruncated", listing.truncated ? "true" : "false");
  for (const auto& part : listing.parts) {
    xml.open("Part")
        .element("PartNumber", std::to_string(part.number))
        .element("LastModified", base::format_iso8601(part.modified))
        .element("ETag", quoted_etag(part.etag))
        .element("Size", std::to_string(part.piece.size));
    if (listing.upload.checksum && !part.piece.checksum.empty())
      xml.element(xml_name(*listing.upload.checksum), part.piece.checksum);
    xml.close();
  }
  write_owner(xml, "Initiator", call.caller.account);
  write_owner(xml, "Owner", call.caller.account);
  xml.element("StorageClass", listing.upload.storage_class);
  if (listing.upload.checksum)
    xml.element("ChecksumAlgorithm", name(*listing.upload.checksum))
        .element("ChecksumType", listing.upload.composite ? "COMPOSITE" : "FULL_OBJECT");
  call.answer_xml(xml);
}

}  // namespace meridian::s3
