// One S3 request, taken apart, and its answer.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/xml.h"
#include "net/server.h"
#include "s3/server/server.h"
#include "s3/store/checksum.h"
#include "s3/store/object_store.h"

namespace meridian::s3 {

// Bucket and key of a request, whichever way they were sent.
struct Target {
  std::string bucket, key;
};
// Path style (/bucket/key) or virtual-host style (bucket.localhost, bucket.s3.REGION.…).
base::Result<Target> parse_target(std::string_view host, std::string_view raw_path);

// A byte range of an object that exists: first and count.
struct ByteRange {
  std::uint64_t offset = 0, count = 0;
};
struct RangeAnswer {
  enum class Kind { whole, part, unsatisfiable } kind = Kind::whole;
  ByteRange range;
};
// The Range header as S3 takes it: one range; anything malformed means the whole object.
RangeAnswer parse_range(std::string_view header, std::uint64_t size);

class Call {
 public:
  Call(const net::Request& request, const Caller& caller, net::BodyReader& body,
       const std::function<const net::Headers*()>& trailers, net::Responder& responder,
       std::string request_id);

  const net::Request& http;
  const Caller& caller;
  net::BodyReader& body;
  std::string request_id;
  Target target;

  void parse();  // target and query; throws S3Error

  bool has(std::string_view parameter) const;
  std::string parameter(std::string_view name, std::string_view fallback = "") const;
  // A whole number of a parameter, bounded above by `most`; InvalidArgument when it is not one.
  std::size_t number(std::string_view name, std::size_t fallback, std::size_t most) const;
  std::string header(std::string_view name) const { return http.headers.get(name); }
  std::optional<std::string> find_header(std::string_view name) const {
    return http.headers.find(name);
  }
  bool is_head() const { return http.method == "HEAD"; }

  // What the checksum headers of the request speak of.
  enum class Checksums { body, object };
  // The body of an XML request, its digests verified. MalformedXML.
  base::XmlElement read_xml(std::string_view root, Checksums of = Checksums::body);
  std::string read_document(Checksums of = Checksums::body);  // the same as text

  // What the request says about the body's digests.
  ExpectedDigests digests() const;
  WriteConditions write_conditions() const;

  // Answers. CORS and id headers are added.
  net::Headers extra_headers;  // set before answering
  void answer(net::Response response);
  void answer_xml(base::XmlWriter& xml, net::Headers headers = {});
  void answer_empty(int status, net::Headers headers = {});
  void begin(int status, net::Headers headers);
  net::Responder& responder() { return responder_; }

 private:
  void complete(net::Headers& headers) const;
  std::optional<std::string> content_md5() const;  // raw; InvalidDigest
  void add_header_checksum(ExpectedDigests& digests) const;
  void add_trailing_checksum(ExpectedDigests& digests) const;

  const std::function<const net::Headers*()>& trailers_;
  net::Responder& responder_;
  std::vector<std::pair<std::string, std::string>> query_;
};

constexpr std::string_view s3_namespace = "http://s3.amazonaws.com/doc/2006-03-01/";

// "a1b2…" as S3 sends it.
inline std::string quoted_etag(std::string_view etag) { return "\"" + std::string(etag) + "\""; }
// Without quotes and weak mark.
std::string unquoted(std::string_view etag);

}  // namespace meridian::s3
