// SPDX-License-Identifier: Apache-2.0
#include "s3/store/records.h"

#include <limits>

#include "base/json.h"
#include "base/strings.h"

namespace meridian::s3 {
namespace {

using base::Json;
using base::JsonObject;

// Names and values come from headers and may be any bytes; a document that holds what is not UTF-8
// could never be read again.
void set_fields(JsonObject& to, std::string_view name, const Fields& fields) {
  if (fields.empty()) return;
  JsonObject object;
  for (const auto& [key, value] : fields)
    object[base::to_valid_utf8(key)] = base::to_valid_utf8(value);
  to[name] = std::move(object);
}

Fields fields_of(const Json& from, std::string_view name) {
  Fields fields;
  if (const Json* found = base::find(from, name); found && found->is_object()) {
    for (const auto& [key, value] : found->get_object())
      fields.emplace(std::string(key), std::string(base::view(value.get_string())));
  }
  return fields;
}

void set_text(JsonObject& to, std::string_view name, const std::string& text,
              std::string_view fallback = "") {
  if (text != fallback) to[name] = text;
}

Json json_of(const Piece& piece) {
  JsonObject object{{"id", piece.id}, {"size", piece.size}};
  set_text(object, "checksum", piece.checksum);
  if (piece.offset > 0) object["offset"] = piece.offset;
  return object;
}

Piece piece_of(const Json& json) {
  return {base::string_or(json, "id"), static_cast<std::uint64_t>(base::int_or(json, "size", 0)),
          base::string_or(json, "checksum"),
          static_cast<std::uint64_t>(base::int_or(json, "offset", 0))};
}

Versioning parse_versioning(std::string_view text) {
  if (text == "enabled") return Versioning::enabled;
  return text == "suspended" ? Versioning::suspended : Versioning::off;
}

std::string_view text_of(Versioning versioning) {
  if (versioning == Versioning::enabled) return "enabled";
  return versioning == Versioning::suspended ? "suspended" : "";
}

Json parse(std::string_view body) {
  return base::parse_stored_json(body, "a document of the object index");
}

}  // namespace

std::string to_body(const BucketRecord& record) {
  JsonObject object{{"name", record.name},
                    {"account", record.account},
                    {"region", record.region},
                    {"created", record.created.ms}};
  set_text(object, "versioning", std::string(text_of(record.versioning)));
  set_fields(object, "tags", record.tags);
  set_fields(object, "documents", record.documents);
  return base::to_text(object);
}

BucketRecord bucket_of_body(std::string_view body) {
  const Json json = parse(body);
  return {.name = base::string_or(json, "name"),
          .account = base::string_or(json, "account"),
          .region = base::string_or(json, "region"),
          .created = {base::int_or(json, "created", 0)},
          .versioning = parse_versioning(base::string_or(json, "versioning")),
          .tags = fields_of(json, "tags"),
          .documents = fields_of(json, "documents")};
}

namespace {

JsonObject json_of(const ObjectRecord& record) {
  JsonObject object{{"size", record.size},
                    {"etag", record.etag},
                    {"modified", record.modified.ms},
                    {"order", record.order}};
  if (!record.pieces.empty()) {
    base::JsonArray pieces;
    for (const auto& piece : record.pieces) pieces.push_back(json_of(piece));
    object["pieces"] = std::move(pieces);
  }
  if (record.multipart) object["multipart"] = true;
  if (record.delete_marker) object["deleteMarker"] = true;
  set_text(object, "version", record.version_id, "null");
  set_text(object, "storageClass", record.storage_class, "STANDARD");
  set_fields(object, "metadata", record.metadata);
  set_fields(object, "headers", record.headers);
  set_fields(object, "tags", record.tags);
  if (record.checksum) {
    object["checksum"] = JsonObject{{"kind", name(record.checksum->kind)},
                                    {"value", record.checksum->value},
                                    {"composite", record.checksum->composite}};
  }
  return object;
}

ObjectRecord object_of(const Json& json, std::string key) {
  ObjectRecord record{.key = std::move(key),
                      .size = static_cast<std::uint64_t>(base::int_or(json, "size", 0)),
                      .etag = base::string_or(json, "etag"),
                      .modified = {base::int_or(json, "modified", 0)},
                      .multipart = base::bool_or(json, "multipart", false),
                      .delete_marker = base::bool_or(json, "deleteMarker", false),
                      .version_id = base::string_or(json, "version", "null"),
                      .order = base::string_or(json, "order"),
                      .metadata = fields_of(json, "metadata"),
                      .headers = fields_of(json, "headers"),
                      .tags = fields_of(json, "tags"),
                      .storage_class = base::string_or(json, "storageClass", "STANDARD")};
  if (const Json* pieces = base::find(json, "pieces")) {
    for (const auto& piece : pieces->as_array()) record.pieces.push_back(piece_of(piece));
  }
  if (const Json* sum = base::find(json, "checksum")) {
    if (auto kind = parse_checksum_kind(base::string_or(*sum, "kind")))
      record.checksum =
          Checksum{*kind, base::string_or(*sum, "value"), base::bool_or(*sum, "composite", false)};
  }
  return record;
}

}  // namespace

std::string to_body(const ObjectRecord& record) { return base::to_text(json_of(record)); }

ObjectRecord object_of_body(std::string_view body, std::string key) {
  return object_of(parse(body), std::move(key));
}

std::string to_body(const UploadRecord& record) {
  JsonObject object{{"key", record.key},
                    {"id", record.id},
                    {"started", record.started.ms},
                    {"composite", record.composite}};
  set_text(object, "storageClass", record.storage_class, "STANDARD");
  set_text(object, "file", record.file);
  if (record.stride > 0) object["stride"] = record.stride;
  set_fields(object, "metadata", record.metadata);
  set_fields(object, "headers", record.headers);
  set_fields(object, "tags", record.tags);
  if (record.checksum) object["checksum"] = name(*record.checksum);
  return base::to_text(object);
}

UploadRecord upload_of_body(std::string_view body) {
  const Json json = parse(body);
  return {.key = base::string_or(json, "key"),
          .id = base::string_or(json, "id"),
          .file = base::string_or(json, "file"),
          .stride = static_cast<std::uint64_t>(base::int_or(json, "stride", 0)),
          .started = {base::int_or(json, "started", 0)},
          .metadata = fields_of(json, "metadata"),
          .headers = fields_of(json, "headers"),
          .tags = fields_of(json, "tags"),
          .storage_class = base::string_or(json, "storageClass", "STANDARD"),
          .checksum = parse_checksum_kind(base::string_or(json, "checksum")),
          .composite = base::bool_or(json, "composite", true)};
}

std::string to_body(const PartRecord& record) {
  return base::to_text(JsonObject{{"number", record.number},
                                  {"piece", json_of(record.piece)},
                                  {"etag", record.etag},
                                  {"modified", record.modified.ms}});
}

PartRecord part_of_body(std::string_view body) {
  const Json json = parse(body);
  PartRecord record{.number = static_cast<int>(base::int_or(json, "number", 0)),
                    .etag = base::string_or(json, "etag"),
                    .modified = {base::int_or(json, "modified", 0)}};
  if (const Json* piece = base::find(json, "piece")) record.piece = piece_of(*piece);
  return record;
}

std::string to_body(const CompletedUpload& record) {
  return base::to_text(JsonObject{{"bucket", record.bucket},
                                  {"bucketCreated", record.bucket_created.ms},
                                  {"at", record.at.ms},
                                  {"key", record.object.key},
                                  {"object", json_of(record.object)}});
}

CompletedUpload completed_of_body(std::string_view body) {
  const Json json = parse(body);
  CompletedUpload completed{.bucket = base::string_or(json, "bucket"),
                            .bucket_created = {base::int_or(json, "bucketCreated", 0)},
                            .at = {base::int_or(json, "at", 0)}};
  if (const Json* object = base::find(json, "object"))
    completed.object = object_of(*object, base::string_or(json, "key"));
  return completed;
}

bool is_one_file(const std::vector<Piece>& pieces) {
  std::uint64_t end = 0;
  for (const auto& piece : pieces) {
    if (piece.id != pieces[0].id || piece.offset != end) return false;
    end += piece.size;
  }
  return !pieces.empty();
}

std::string escape_key(std::string_view key) {
  std::string out;
  out.reserve(key.size());
  for (char c : key) {
    if (c == '\0')
      out += "\1\1";
    else if (c == '\1')
      out += "\1\2";
    else
      out += c;
  }
  return out;
}

std::string unescape_key(std::string_view escaped) {
  std::string out;
  out.reserve(escaped.size());
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    if (escaped[i] == '\1' && i + 1 < escaped.size())
      out += escaped[++i] == '\1' ? '\0' : '\1';
    else
      out += escaped[i];
  }
  return out;
}

std::string after_prefix(std::string_view prefix) { return std::string(prefix) + "\xff"; }

std::string version_order(std::uint64_t sequence) {
  const auto inverted = std::numeric_limits<std::uint64_t>::max() - sequence;
  std::string raw(8, '\0');
  for (int i = 0; i < 8; ++i)
    raw[static_cast<std::size_t>(i)] = static_cast<char>(inverted >> (56 - 8 * i));
  return base::hex(raw);
}

std::uint64_t sequence_of(std::string_view order) {
  std::uint64_t inverted = 0;
  for (unsigned char byte : base::unhex(order).value_or("")) inverted = inverted << 8 | byte;
  return std::numeric_limits<std::uint64_t>::max() - inverted;
}

}  // namespace meridian::s3
