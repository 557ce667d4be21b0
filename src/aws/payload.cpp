// SPDX-License-Identifier: Apache-2.0
//
// The body behind a verified head: its hash, or the aws-chunked coding with its chunk signatures.
//
//   11;chunk-signature=HEX CRLF  17 bytes CRLF  …  0;chunk-signature=HEX CRLF  trailer lines  CRLF
//
// What clients do beside the specification is accepted: one CRLF more than expected after the
// trailers, a bare LF between a trailer and its signature, chunks that do not end where HTTP's do.
#include <algorithm>
#include <cstring>

#include "aws/canonical.h"
#include "aws/sigv4.h"
#include "base/digest.h"
#include "base/strings.h"

namespace meridian::aws {
namespace {

constexpr std::size_t max_line = 8 << 10;
constexpr std::size_t max_trailer_bytes = 16 << 10;
constexpr std::uint64_t max_chunk = 5ull << 40;  // S3's largest object

[[noreturn]] void fail(std::string_view code, const std::string& text) {
  throw base::Error(base::Code::data_loss, std::string(code) + ": " + text);
}

[[noreturn]] void fail_incomplete(const std::string& text) { fail("IncompleteBody", text); }

std::string_view until(std::string_view text, char mark) { return text.substr(0, text.find(mark)); }

// A small window over the bytes of the wire.
class Wire {
 public:
  explicit Wire(net::BodyReader& inner) : inner_(inner) {}

  bool at_end() { return at_ == end_ && !fill(); }

  std::size_t take(char* out, std::size_t size) {
    if (at_ == end_ && size >= window) return inner_.read(out, size);  // no copy for large pieces
    if (at_end()) return 0;
    const std::size_t count = std::min(size, end_ - at_);
    std::memcpy(out, buffer_.get() + at_, count);
    at_ += count;
    return count;
  }

  // Up to LF, without it and a CR before it.
  std::string take_line() {
    std::string line;
    char c = 0;
    while (take(&c, 1) == 1 && c != '\n') {
      line += c;
      if (line.size() > max_line) fail_incomplete("a line of the aws-chunked body is too long");
    }
    if (line.ends_with('\r')) line.pop_back();
    return line;
  }

  void expect_crlf() {
    char c[2] = {};
    if (take(c, 1) != 1 || take(c + 1, 1) != 1) fail_incomplete("the body ends inside a chunk");
    if (c[0] != '\r' || c[1] != '\n') {
      fail_incomplete("a chunk is longer than its announced size");
    }
  }

 private:
  bool fill() {
    if (!buffer_) buffer_ = std::make_unique<char[]>(window);
    at_ = 0;
    end_ = inner_.read(buffer_.get(), window);
    return end_ > 0;
  }

  static constexpr std::size_t window = 16 << 10;
  net::BodyReader& inner_;
  std::unique_ptr<char[]> buffer_;
  std::size_t at_ = 0, end_ = 0;
};

}  // namespace

struct PayloadReader::State {
  State(net::BodyReader& inner_body, const net::Request& request, const AuthClaim& claim,
        const Verification& verification, std::string_view secret)
      : inner(inner_body),
        wire(inner_body),
        form(verification.payload),
        expected_sha256(verification.expected_sha256),
        previous_signature(verification.seed_signature),
        amz_date(claim.amz_date),
        scope(claim.date + "/" + claim.region + "/" + claim.service + "/aws4_request"),
        announced_trailers(base::to_lower(request.headers.get("x-amz-trailer"))) {
    if (!chunked()) {
      announced = inner.length();
      return;
    }
    if (signed_chunks()) key = signing_key(secret, claim.date, claim.region, claim.service);
    const auto header = request.headers.find("x-amz-decoded-content-length");
    if (!header) fail("MissingContentLength", "You must provide x-amz-decoded-content-length");
    announced = base::to_uint(*header);
    if (!announced) fail("InvalidRequest", "x-amz-decoded-content-length is not a number");
  }

  bool chunked() const {
    return form != PayloadForm::signed_hash && form != PayloadForm::unsigned_payload;
  }
  bool signed_chunks() const {
    return form == PayloadForm::chunked_signed || form == PayloadForm::chunked_signed_trailer;
  }

  std::size_t read_plain(char* buffer, std::size_t size) {
    const std::size_t count = inner.read(buffer, size);
    delivered += count;
    if (form == PayloadForm::signed_hash) hash.update({buffer, count});
    // The last byte is not handed out before the hash is known to be right.
    if (count == 0 || delivered == announced) finish_plain();
    return count;
  }

  void finish_plain() {
    if (finished) return;
    finished = true;
    if (announced && delivered < *announced) fail_incomplete("the body is shorter than announced");
    if (form != PayloadForm::signed_hash) return;
    const std::string actual = base::hex(hash.finish());
    if (!base::equal_in_constant_time(actual, base::to_lower(expected_sha256))) {
      fail("XAmzContentSHA256Mismatch",
           "The provided 'x-amz-content-sha256' header does not match what was computed");
    }
  }

  std::size_t read_chunked(char* buffer, std::size_t size) {
    if (finished) return 0;
    if (left_in_chunk == 0) begin_chunk();
    if (finished) return 0;
    const std::size_t want = static_cast<std::size_t>(std::min<std::uint64_t>(size, left_in_chunk));
    const std::size_t count = wire.take(buffer, want);
    if (count == 0) fail_incomplete("the body ends inside a chunk");
    left_in_chunk -= count;
    delivered += count;
    if (signed_chunks()) hash.update({buffer, count});
    if (left_in_chunk == 0) end_chunk();
    if (delivered == announced && left_in_chunk == 0) begin_chunk();  // must be the last one
    return count;
  }

  void begin_chunk() {
    const std::string line = wire.take_line();
    const std::string_view digits = until(line, ';');
    std::uint64_t size = 0;
    if (digits.empty() || digits.size() > 12) fail_incomplete("a chunk has no valid size");
    for (const char c : digits) {
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) fail_incomplete("a chunk has no valid size");
      size = size * 16 + static_cast<unsigned>(digit);
    }
    if (size > max_chunk || delivered + size > *announced) {
      fail_incomplete("the body is longer than x-amz-decoded-content-length");
    }
    chunk_signature.clear();
    constexpr std::string_view extension = ";chunk-signature=";
    const std::string_view rest = std::string_view(line).substr(digits.size());
    if (rest.starts_with(extension)) chunk_signature = rest.substr(extension.size());
    if (signed_chunks()) hash = base::Digest(base::DigestKind::sha256);
    left_in_chunk = size;
    if (size == 0) finish_chunked();
  }

  void end_chunk() {
    wire.expect_crlf();
    check_chunk_signature();
  }

  void check_chunk_signature() {
    if (!signed_chunks()) return;
    const std::string text = "AWS4-HMAC-SHA256-PAYLOAD\n" + amz_date + "\n" + scope + "\n" +
                             previous_signature + "\n" + std::string(empty_sha256) + "\n" +
                             base::hex(hash.finish());
    advance_signature(text, chunk_signature);
  }

  void advance_signature(const std::string& text, std::string_view claimed) {
    std::string expected = base::hex(base::hmac_sha256(key, text));
    if (!base::equal_in_constant_time(expected, claimed)) {
      fail("SignatureDoesNotMatch", "The signature of a chunk of the body does not match");
    }
    previous_signature = std::move(expected);
  }

  void finish_chunked() {
    finished = true;
    check_chunk_signature();
    if (delivered != *announced) {
      fail_incomplete("the body is shorter than x-amz-decoded-content-length");
    }
    std::string canonical, trailer_signature;
    std::size_t bytes = 0;
    while (!wire.at_end()) {
      const std::string line = wire.take_line();
      bytes += line.size() + 1;
      if (bytes > max_trailer_bytes) fail("MalformedTrailerError", "the trailers are too long");
      if (!line.empty()) take_trailer(line, canonical, trailer_signature);
    }
    check_trailers(canonical, trailer_signature);
  }

  void take_trailer(const std::string& line, std::string& canonical, std::string& signature) {
    const auto colon = line.find(':');
    const std::string name = base::to_lower(base::trim(line.substr(0, colon)));
    if (colon == std::string::npos || name.empty()) {
      fail("MalformedTrailerError", "a trailer is not of the form name:value");
    }
    const std::string value(base::trim(std::string_view(line).substr(colon + 1)));
    if (name == "x-amz-trailer-signature") {
      signature = value;
      return;
    }
    if (!is_announced(name)) {
      fail("MalformedTrailerError",
           "trailer '" + base::to_valid_utf8(name) + "' is not announced by x-amz-trailer");
    }
    canonical += name + ":" + value + "\n";
    trailers.add(name, value);
  }

  bool is_announced(std::string_view name) const {
    for (const auto& piece : base::split(announced_trailers, ',')) {
      if (base::trim(piece) == name) return true;
    }
    return false;
  }

  void check_trailers(const std::string& canonical, const std::string& signature) {
    for (const auto& piece : base::split(announced_trailers, ',')) {
      const auto name = base::trim(piece);
      if (!name.empty() && !trailers.find(name)) {
        fail("MalformedTrailerError",
             "the announced trailer '" + std::string(name) + "' is missing");
      }
    }
    if (form != PayloadForm::chunked_signed_trailer) return;
    advance_signature("AWS4-HMAC-SHA256-TRAILER\n" + amz_date + "\n" + scope + "\n" +
                          previous_signature + "\n" + base::sha256_hex(canonical),
                      signature);
  }

  net::BodyReader& inner;
  Wire wire;
  PayloadForm form;
  std::string expected_sha256, previous_signature, amz_date, scope, announced_trailers, key;
  std::string chunk_signature;
  std::optional<std::uint64_t> announced;
  std::uint64_t delivered = 0, left_in_chunk = 0;
  base::Digest hash{base::DigestKind::sha256};
  net::Headers trailers;
  bool finished = false;
};

PayloadReader::PayloadReader(net::BodyReader& inner, const net::Request& request,
                             const AuthClaim& claim, const Verification& verification,
                             std::string_view secret)
    : state_(std::make_unique<State>(inner, request, claim, verification, secret)) {}

PayloadReader::~PayloadReader() = default;

std::size_t PayloadReader::read(char* buffer, std::size_t size) {
  if (size == 0) return 0;
  return state_->chunked() ? state_->read_chunked(buffer, size) : state_->read_plain(buffer, size);
}

std::optional<std::uint64_t> PayloadReader::length() const { return state_->announced; }

const net::Headers& PayloadReader::trailers() const { return state_->trailers; }

}  // namespace meridian::aws
