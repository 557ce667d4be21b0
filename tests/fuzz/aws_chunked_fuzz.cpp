// The aws-chunked coding, signed or not: never more bytes than announced, and the same bytes
// however the network cuts them.
//
// The first line of the input is "FORM DECODED-LENGTH TRAILER-NAMES", FORM one of u (unsigned),
// s (signed), t (signed with trailers); the rest is the body.
//
// LINK: aws
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "aws/sigv4.h"
#include "base/strings.h"

using namespace meridian;

namespace {

class Pieces final : public net::BodyReader {
 public:
  Pieces(std::string_view bytes, std::size_t piece) : bytes_(bytes), piece_(piece) {}
  std::size_t read(char* buffer, std::size_t size) override {
    const std::size_t count = std::min({size, piece_, bytes_.size()});
    bytes_.copy(buffer, count);
    bytes_.remove_prefix(count);
    return count;
  }
  std::optional<std::uint64_t> length() const override { return std::nullopt; }

 private:
  std::string_view bytes_;
  std::size_t piece_;
};

struct Outcome {
  std::string bytes;
  bool whole = false;
};

aws::PayloadForm form_of(char letter) {
  if (letter == 's') return aws::PayloadForm::chunked_signed;
  if (letter == 't') return aws::PayloadForm::chunked_signed_trailer;
  return aws::PayloadForm::chunked_unsigned_trailer;
}

Outcome decode(const std::vector<std::string>& words, std::string_view body, std::size_t piece) {
  net::Request request;
  request.headers.add("x-amz-decoded-content-length", words[1]);
  if (words.size() > 2) request.headers.add("x-amz-trailer", words[2]);
  const aws::AuthClaim claim{
      .date = "20130524", .region = "us-east-1", .service = "s3", .amz_date = "20130524T000000Z"};
  const aws::Verification verification{
      .verdict = aws::Verdict::good,
      .payload = form_of(words[0].empty() ? 'u' : words[0][0]),
      .seed_signature = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9"};
  Pieces inner(body, piece);
  Outcome out;
  try {
    aws::PayloadReader reader(inner, request, claim, verification,
                              "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY");
    char buffer[57];
    while (const std::size_t count = reader.read(buffer, sizeof buffer)) {
      out.bytes.append(buffer, count);
      if (out.bytes.size() > *reader.length()) std::abort();
    }
    out.whole = true;
    if (out.bytes.size() != *reader.length()) std::abort();
  } catch (const base::Error& error) {
    if (error.code() != base::Code::data_loss) std::abort();
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto end = input.find('\n');
  if (end == input.npos) return 0;
  const auto words = base::split(input.substr(0, end), ' ');
  if (words.size() < 2) return 0;
  const auto body = input.substr(end + 1);
  const Outcome at_once = decode(words, body, body.size() + 1);
  const Outcome in_pieces = decode(words, body, 3);
  if (at_once.whole != in_pieces.whole) std::abort();
  if (at_once.whole && at_once.bytes != in_pieces.bytes) std::abort();
  return 0;
}
