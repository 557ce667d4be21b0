// SPDX-License-Identifier: Apache-2.0
#include "s3/server/call.h"

#include <algorithm>

#include "base/digest.h"
#include "base/strings.h"
#include "s3/error.h"

namespace meridian::s3 {
namespace {

constexpr std::size_t largest_document = 4u << 20;

}  // namespace

base::Result<Target> parse_target(std::string_view host, std::string_view raw_path) {
  if (!raw_path.empty() && raw_path.front() == '/') raw_path.remove_prefix(1);
  Target target{bucket_of_host(host), ""};
  auto raw_key = raw_path;
  if (target.bucket.empty()) {
    const auto slash = std::min(raw_path.find('/'), raw_path.size());
    auto bucket = base::percent_decode(raw_path.substr(0, slash));
    if (!bucket) return base::ParseError{"the bucket holds a broken percent escape"};
    target.bucket = std::move(*bucket);
    raw_key = slash < raw_path.size() ? raw_path.substr(slash + 1) : "";
  }
  auto key = base::percent_decode(raw_key);
  if (!key) return base::ParseError{"the key holds a broken percent escape"};
  if (!base::is_valid_utf8(*key)) return base::ParseError{"the key is not UTF-8"};
  target.key = std::move(*key);
  return target;
}

RangeAnswer parse_range(std::string_view header, std::uint64_t size) {
  using Kind = RangeAnswer::Kind;
  const RangeAnswer whole{Kind::whole, {0, size}};
  if (!header.starts_with("bytes=") || header.find(',') != std::string_view::npos) return whole;
  const auto spec = base::trim(header.substr(6));
  const auto dash = spec.find('-');
  if (dash == std::string_view::npos) return whole;
  const auto first = base::to_uint(spec.substr(0, dash));
  const auto last = base::to_uint(spec.substr(dash + 1));
  if (dash == 0) {  // the last N bytes
    if (!last) return whole;
    if (*last == 0 || size == 0) return {Kind::unsatisfiable, {}};
    const auto count = std::min(*last, size);
    return {Kind::part, {size - count, count}};
  }
  const bool open_end = dash + 1 == spec.size();
  if (!first || (!open_end && !last) || (last && *last < *first)) return whole;
  if (*first >= size) return {Kind::unsatisfiable, {}};
  const auto end = open_end || *last >= size ? size : *last + 1;
  return {Kind::part, {*first, end - *first}};
}

std::string unquoted(std::string_view etag) {
  etag = base::trim(etag);
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"')
    etag = etag.substr(1, etag.size() - 2);
  return std::string(etag);
}

Call::Call(const net::Request& request, const Caller& who, net::BodyReader& reader,
           const std::function<const net::Headers*()>& trailers, net::Responder& responder,
           std::string id)
    : http(request),
      caller(who),
      body(reader),
      request_id(std::move(id)),
      trailers_(trailers),
      responder_(responder) {}

void Call::parse() {
  auto parsed = parse_target(header("host"), http.path);
  if (!parsed)
    throw S3Error("InvalidURI", "Couldn't parse the specified URI: " + parsed.error().message, 400);
  target = std::move(*parsed);
  query_ = net::parse_query(http.query, true);
}

bool Call::has(std::string_view name) const {
  return std::any_of(query_.begin(), query_.end(), [&](const auto& p) { return p.first == name; });
}

std::string Call::parameter(std::string_view name, std::string_view fallback) const {
  for (const auto& [key, value] : query_) {
    if (key == name) return value;
  }
  return std::string(fallback);
}

std::size_t Call::number(std::string_view name, std::size_t fallback, std::size_t most) const {
  if (!has(name)) return fallback;
  const auto text = parameter(name);
  if (text.empty()) return fallback;
  const auto value = base::to_uint(text);
  if (!value || *value > 2'147'483'647)
    throw invalid_argument(
        "Provided " + std::string(name) + " not an integer or within integer range",
        std::string(name), text);
  return std::min<std::size_t>(*value, most);
}

std::string Call::read_document(Checksums of) {
  std::string text;
  try {
    text = body.read_all(largest_document);
  } catch (const base::Error& error) {  // a document this long is not one of S3's
    if (error.code() == base::Code::resource_exhausted) throw malformed_xml();
    throw;
  }
  const auto expected = digests();
  if (expected.md5 && base::digest(base::DigestKind::md5, text) != *expected.md5)
    throw bad_digest("Content-MD5");
  if (of == Checksums::object) return text;
  auto checksum = expected.checksum;
  if (!checksum && expected.trailing_checksum) checksum = expected.trailing_checksum();
  if (checksum && checksum_of(*expected.kind, text) != *checksum)
    throw bad_digest(std::string(name(*expected.kind)));
  return text;
}

base::XmlElement Call::read_xml(std::string_view root, Checksums of) {
  auto parsed = base::parse_xml(read_document(of), largest_document);
  if (!parsed || parsed->name != root) throw malformed_xml();
  return std::move(*parsed);
}

std::optional<std::string> Call::content_md5() const {
  const auto text = find_header("content-md5");
  if (!text) return std::nullopt;
  auto raw = base::unbase64(*text);
  if (!raw || raw->size() != 16)
    throw S3Error("InvalidDigest", "The Content-MD5 you specified was invalid.", 400)
        .with("Content-MD5", *text);
  return raw;
}

namespace {
constexpr std::string_view checksum_prefix = "x-amz-checksum-";
}  // namespace

void Call::add_header_checksum(ExpectedDigests& digests) const {
  for (const auto& [raw_name, value] : http.headers.fields()) {
    const auto name = base::to_lower(raw_name);
    if (!name.starts_with(checksum_prefix)) continue;
    const auto kind = parse_checksum_kind(name.substr(checksum_prefix.size()));
    if (!kind) continue;  // -mode, -type, -algorithm
    if (digests.kind)
      throw S3Error("InvalidRequest",
                    "Expecting a single x-amz-checksum- header. Multiple checksum Types are not "
                    "allowed.",
                    400);
    const auto raw = base::unbase64(value.substr(0, value.find('-')));
    if (!raw || raw->size() != raw_size(*kind))
      throw S3Error("InvalidRequest", "Value for " + name + " header is invalid.", 400);
    digests.kind = kind;
    digests.checksum = value;
  }
}

void Call::add_trailing_checksum(ExpectedDigests& digests) const {
  const auto trailer = base::to_lower(header("x-amz-trailer"));
  if (!trailer.starts_with(checksum_prefix)) return;
  digests.kind = parse_checksum_kind(std::string_view(trailer).substr(checksum_prefix.size()));
  if (!digests.kind)
    throw S3Error("InvalidRequest",
                  "The value specified in the x-amz-trailer header is not supported", 400);
  digests.trailing_checksum = [this, trailer]() -> std::optional<std::string> {
    const auto* trailers = trailers_ ? trailers_() : nullptr;
    auto value = trailers ? trailers->find(trailer) : std::nullopt;
    if (!value)
      throw S3Error("MalformedTrailerError",
                    "The request contained trailing data that was not well-formed or did not "
                    "conform to our published schema.",
                    400);
    return value;
  };
}

ExpectedDigests Call::digests() const {
  ExpectedDigests digests{.md5 = content_md5()};
  add_header_checksum(digests);
  if (!digests.kind) add_trailing_checksum(digests);
  if (!digests.kind && find_header("x-amz-sdk-checksum-algorithm"))
    throw S3Error("InvalidRequest",
                  "x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* "
                  "or x-amz-trailer headers were found.",
                  400);
  return digests;
}

WriteConditions Call::write_conditions() const {
  WriteConditions conditions;
  if (const auto none = find_header("if-none-match")) {
    if (base::trim(*none) != "*")
      throw S3Error("NotImplemented",
                    "A header you provided implies functionality that is not implemented", 501)
          .with("Header", "If-None-Match");
    conditions.if_none_match_any = true;
  }
  if (const auto match = find_header("if-match")) conditions.if_match = unquoted(*match);
  return conditions;
}

void Call::complete(net::Headers& headers) const {
  headers.set("x-amz-request-id", request_id);
  headers.set("x-amz-id-2", request_id);
  for (const auto& [name, value] : extra_headers.fields()) headers.set(name, value);
}

void Call::answer(net::Response response) {
  complete(response.headers);
  responder_.send(std::move(response));
}

void Call::answer_xml(base::XmlWriter& xml, net::Headers headers) {
  headers.set("Content-Type", "application/xml");
  answer({.status = 200, .headers = std::move(headers), .body = xml.finish()});
}

void Call::answer_empty(int status, net::Headers headers) {
  answer({.status = status, .headers = std::move(headers)});
}

void Call::begin(int status, net::Headers headers) {
  complete(headers);
  responder_.begin(status, std::move(headers));
}

}  // namespace meridian::s3
