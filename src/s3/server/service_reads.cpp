// GetObject, HeadObject, GetObjectAttributes, GetObjectTagging.
//
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/strings.h"
#include "s3/server/conditions.h"
#include "s3/server/service.h"

namespace meridian::s3 {
namespace {

// Bodies up to this size go out with their head in one write.
constexpr std::uint64_t small_body = 64u << 10;

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> overrides{
    {{"response-content-type", "content-type"},
     {"response-content-language", "content-language"},
     {"response-expires", "expires"},
     {"response-cache-control", "cache-control"},
     {"response-content-disposition", "content-disposition"},
     {"response-content-encoding", "content-encoding"}}};

net::Headers object_headers(const Call& call, const ObjectRecord& record, bool versioned) {
  net::Headers headers;
  headers.add("Last-Modified", base::format_http_date(record.modified));
  headers.add("ETag", quoted_etag(record.etag));
  headers.add("Accept-Ranges", "bytes");
  if (!record.headers.contains("content-type")) headers.add("Content-Type", "binary/octet-stream");
  for (const auto& [name, value] : record.headers) headers.add(name, value);
  for (const auto& [name, value] : record.metadata) headers.add("x-amz-meta-" + name, value);
  if (record.storage_class != "STANDARD") headers.add("x-amz-storage-class", record.storage_class);
  if (!record.tags.empty()) headers.add("x-amz-tagging-count", std::to_string(record.tags.size()));
  if (versioned) headers.add("x-amz-version-id", record.version_id);
  for (const auto& [parameter, header] : overrides) {
    if (call.has(parameter)) headers.set(header, call.parameter(parameter));
  }
  return headers;
}

// What of the object is asked for.
struct Selection {
  int status = 200;
  ByteRange range;
  std::optional<Piece> part;  // of partNumber
};

S3Error invalid_range(const ObjectRecord& record, const std::string& header) {
  return S3Error("InvalidRange", "The requested range is not satisfiable", 416)
      .with("RangeRequested", header)
      .with("ActualObjectSize", std::to_string(record.size))
      .with_header("Content-Range", "bytes */" + std::to_string(record.size));
}

Selection select_part(const Call& call, const ObjectRecord& record) {
  const auto number = base::to_uint(call.parameter("partNumber"));
  if (!number || *number < 1 || *number > 10'000)
    throw invalid_argument("Part number must be an integer between 1 and 10000, inclusive",
                           "partNumber", call.parameter("partNumber"));
  if (call.find_header("range"))
    throw S3Error("InvalidRequest",
                  "Cannot specify both Range header and partNumber query parameter", 400);
  if (*number > record.pieces.size())
    throw S3Error("InvalidPartNumber", "The requested partnumber is not satisfiable", 416)
        .with("ActualPartCount", std::to_string(record.pieces.size()))
        .with("PartNumberRequested", call.parameter("partNumber"));
  Selection selection{.status = 206};
  for (std::size_t i = 0; i + 1 < *number; ++i) selection.range.offset += record.pieces[i].size;
  selection.part = record.pieces[*number - 1];
  selection.range.count = selection.part->size;
  return selection;
}

Selection select(const Call& call, const ObjectRecord& record) {
  if (call.has("partNumber")) return select_part(call, record);
  const auto header = call.header("range");
  const auto if_range = call.find_header("if-range");
  const bool range_holds = !if_range || unquoted(*if_range) == record.etag ||
                           *if_range == base::format_http_date(record.modified);
  if (header.empty() || !range_holds) return {200, {0, record.size}, {}};
  const auto answer = parse_range(header, record.size);
  if (answer.kind == RangeAnswer::Kind::unsatisfiable) throw invalid_range(record, header);
  return {answer.kind == RangeAnswer::Kind::part ? 206 : 200, answer.range, {}};
}

void add_selection_headers(const Call& call, net::Headers& headers, const ObjectRecord& record,
                           const Selection& selection) {
  headers.set("Content-Length", std::to_string(selection.range.count));
  if (selection.status == 206 && selection.range.count > 0)
    headers.add("Content-Range",
                "bytes " + std::to_string(selection.range.offset) + "-" +
                    std::to_string(selection.range.offset + selection.range.count - 1) + "/" +
                    std::to_string(record.size));
  if (selection.part && record.multipart)
    headers.add("x-amz-mp-parts-count", std::to_string(record.pieces.size()));
  if (!base::equals_ignoring_case(call.header("x-amz-checksum-mode"), "ENABLED") ||
      !record.checksum)
    return;
  if (selection.part && record.multipart) {
    if (!selection.part->checksum.empty())
      headers.add(header_name(record.checksum->kind), selection.part->checksum);
  } else if (selection.range.count == record.size) {
    add_checksum_headers(headers, *record.checksum);
  }
}

void read_exactly(int fd, std::uint64_t offset, std::string& into) {
  for (std::size_t done = 0; done < into.size();) {
    const auto n =
        ::pread(fd, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (n <= 0) throw base::Error(base::Code::internal, "object content is shorter than recorded");
    done += static_cast<std::size_t>(n);
  }
}

// Sends the range from the files of the object.
void send_range(net::Responder& out, const ContentFiles& files, const HeldObject& object,
                ByteRange range) {
  if (object.file) return out.send_file(object.file->get(), range.offset, range.count);
  for (const auto& slice : slices_of(object.record.pieces, range.offset, range.count)) {
    const auto file = files.open(slice.id);
    if (!file) throw base::Error(base::Code::internal, "object content is missing");
    out.send_file(file->get(), slice.offset, slice.size);
  }
}

// The ObjectParts of GetObjectAttributes; single parts are told only with their checksums, as AWS
// does.
void write_parts(base::XmlWriter& xml, const Call& call, const ObjectRecord& record) {
  const auto& pieces = record.pieces;
  const auto after = base::to_uint(call.header("x-amz-part-number-marker")).value_or(0);
  const auto most =
      std::min<std::uint64_t>(base::to_uint(call.header("x-amz-max-parts")).value_or(1000), 1000);
  const auto begin = std::min<std::uint64_t>(after, pieces.size());
  const auto end = std::min<std::uint64_t>(pieces.size(), begin + most);
  xml.open("ObjectParts")
      .element("TotalPartsCount", std::to_string(pieces.size()))
      .element("PartNumberMarker", std::to_string(after))
      .element("NextPartNumberMarker", std::to_string(end))
      .element("MaxParts", std::to_string(most))
      .element("IsTruncated", end < pieces.size() ? "true" : "false");
  for (auto i = begin; i < end && record.checksum; ++i) {
    xml.open("Part").element("PartNumber", std::to_string(i + 1));
    xml.element("Size", std::to_string(pieces[i].size));
    if (!pieces[i].checksum.empty())
      xml.element(xml_name(record.checksum->kind), pieces[i].checksum);
    xml.close();
  }
  xml.close();
}

// The answer when there is no such object, or only a delete marker.
S3Error absent(ObjectStore& store, const Call& call) {
  const auto& [bucket, key] = call.target;
  const auto version = call.parameter("versionId");
  if (!version.empty()) {
    const auto marker = store.find_record(bucket, key, version);
    if (!marker) return no_such_version(key, version);
    return S3Error("MethodNotAllowed", "The specified method is not allowed against this resource.",
                   405)
        .with("Method", call.http.method)
        .with("ResourceType", "DeleteMarker")
        .with_header("x-amz-delete-marker", "true")
        .with_header("x-amz-version-id", version)
        .with_header("Allow", "DELETE")
        .with_header("Last-Modified", base::format_http_date(marker->modified));
  }
  auto error = no_such_key(key);
  if (const auto marker = store.find_current_marker(bucket, key))
    error.with_header("x-amz-delete-marker", "true").with_header("x-amz-version-id", *marker);
  return error;
}

}  // namespace

void Service::get_object(Call& call) {
  auto& store = home(call);
  const auto& [bucket, key] = call.target;
  const auto held = store.hold(bucket, key, call.parameter("versionId"));
  if (!held) return answer_error(call, absent(store, call));
  const auto& record = held->record;
  const auto versioning = store.find_bucket(bucket);
  const bool versioned = versioning && versioning->versioning != Versioning::off;
  auto headers = object_headers(call, record, versioned);
  switch (check_read(read_conditions(call.http.headers, ""), record)) {
    case ReadVerdict::not_modified:
      headers.remove("Content-Type");
      return call.answer_empty(304, std::move(headers));
    case ReadVerdict::failed: return answer_error(call, precondition_failed("If-Match"));
    case ReadVerdict::send: break;
  }
  const auto selection = select(call, record);
  add_selection_headers(call, headers, record, selection);
  if (!call.is_head() && held->file && selection.range.count <= small_body) {
    std::string bytes(selection.range.count, '\0');
    read_exactly(held->file->get(), selection.range.offset, bytes);
    headers.remove("Content-Length");
    return call.answer({selection.status, std::move(headers), std::move(bytes)});
  }
  call.begin(selection.status, std::move(headers));
  if (!call.is_head()) send_range(call.responder(), store.files(), *held, selection.range);
}

void Service::get_attributes(Call& call) {
  auto& store = home(call);
  const auto version = call.parameter("versionId");
  const auto record = store.find_record(call.target.bucket, call.target.key, version);
  if (!record || record->delete_marker) throw absent(store, call);
  std::set<std::string> wanted;
  for (const auto& line : call.http.headers.all("x-amz-object-attributes")) {
    for (const auto& name : base::split(line, ',')) wanted.insert(std::string(base::trim(name)));
  }
  if (wanted.empty())
    throw invalid_argument("x-amz-object-attributes is required", "x-amz-object-attributes", "");
  base::XmlWriter xml;
  xml.open("GetObjectAttributesResponse", s3_namespace);
  if (wanted.contains("ETag")) xml.element("ETag", record->etag);
  if (wanted.contains("Checksum") && record->checksum) {
    xml.open("Checksum");
    add_checksum_elements(xml, *record->checksum);
    xml.close();
  }
  if (wanted.contains("ObjectParts") && record->multipart) write_parts(xml, call, *record);
  if (wanted.contains("StorageClass")) xml.element("StorageClass", record->storage_class);
  if (wanted.contains("ObjectSize")) xml.element("ObjectSize", std::to_string(record->size));
  net::Headers headers;
  headers.set("Last-Modified", base::format_http_date(record->modified));
  if (record->version_id != "null") headers.set("x-amz-version-id", record->version_id);
  call.answer_xml(xml, std::move(headers));
}

void Service::get_object_tagging(Call& call) {
  auto& store = home(call);
  const auto record =
      store.find_record(call.target.bucket, call.target.key, call.parameter("versionId"));
  if (!record || record->delete_marker) throw absent(store, call);
  base::XmlWriter xml;
  write_tagging(xml, record->tags);
  net::Headers headers;
  if (record->version_id != "null") headers.set("x-amz-version-id", record->version_id);
  call.answer_xml(xml, std::move(headers));
}

}  // namespace meridian::s3
