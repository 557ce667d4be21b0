// The head of a request, as claims and signatures are read from it: the protocol of a call too.
//
// Input: "METHOD PATH?QUERY" in the first line, header lines, an empty line, the body.
//
// LINK: aws
// SPDX-License-Identifier: Apache-2.0
#include "aws/sigv4.h"

#include <cstdint>
#include <cstdlib>

#include "aws/protocol.h"
#include "base/digest.h"
#include "base/strings.h"

using namespace meridian;

namespace {

struct Head {
  net::Request request;
  std::string body;
};

Head parse_head(std::string_view input) {
  Head out;
  bool first = true;
  while (!input.empty()) {
    const auto end = input.find('\n');
    const auto line = input.substr(0, end);
    input = end == input.npos ? std::string_view() : input.substr(end + 1);
    if (first) {
      const auto blank = line.find(' ');
      out.request.method = line.substr(0, blank);
      const auto target = blank == line.npos ? std::string_view("/") : line.substr(blank + 1);
      const auto question = target.find('?');
      out.request.path = target.substr(0, question);
      if (question != target.npos) out.request.query = target.substr(question + 1);
      first = false;
    } else if (line.empty()) {
      out.body = input;
      break;
    } else if (const auto colon = line.find(':'); colon != line.npos) {
      out.request.headers.add(std::string(line.substr(0, colon)),
                              std::string(base::trim(line.substr(colon + 1))));
    }
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Head head = parse_head({reinterpret_cast<const char*>(data), size});
  const auto claim = aws::parse_claim(head.request);
  if (!claim) {
    if (claim.error().message.empty()) std::abort();
    if (!base::is_valid_utf8(claim.error().message)) std::abort();
    return 0;
  }
  const auto noon = *base::parse_iso8601("2026-01-31T12:00:00Z");
  const auto seen =
      aws::verify(*claim, head.request, "a secret", noon, base::sha256_hex(head.body));
  // No input here is signed with this secret.
  if (seen.verdict == aws::Verdict::good) std::abort();

  auto form = aws::identify(head.request, claim->service);
  try {
    auto call = aws::decode(form, head.request, head.body);
    aws::inspect(*call.operation, call.input);
  } catch (const aws::ApiError& error) {
    aws::encode_error(form, error, "id");
  }
  return 0;
}
