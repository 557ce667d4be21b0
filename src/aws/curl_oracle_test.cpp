// SPDX-License-Identifier: Apache-2.0
//
// libcurl signs, we verify: an implementation that shares no line with ours, over a real socket.
#include <curl/curl.h>
#include <gtest/gtest.h>

#include "aws/sigv4.h"
#include "base/digest.h"
#include "net/server.h"

namespace meridian::aws {
namespace {

std::size_t drop(char*, std::size_t size, std::size_t count, void*) { return size * count; }

struct Seen {
  Verdict verdict = Verdict::bad_signature;
  Verdict with_other_secret = Verdict::good;
  std::string canonical_request;
};

Seen send(const std::string& method, const std::string& target, const std::string& body,
          const std::string& service) {
  Seen seen;
  const base::SystemClock clock;
  net::HttpServer server({.listen = {"127.0.0.1", 0}}, [&](net::Request& q, net::Responder& r) {
    const std::string hash = base::sha256_hex(q.body->read_all(1 << 20));
    if (const auto claim = parse_claim(q)) {
      const auto good = verify(*claim, q, "secret/key+", clock.now(), hash);
      seen.verdict = good.verdict;
      seen.canonical_request = good.canonical_request;
      seen.with_other_secret = verify(*claim, q, "other", clock.now(), hash).verdict;
    }
    r.send({});
  });
  CURL* curl = curl_easy_init();
  const std::string url = "http://127.0.0.1:" + std::to_string(server.port()) + target;
  curl_slist* headers = curl_slist_append(nullptr, "content-type: application/x-amz-json-1.1");
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_AWS_SIGV4, ("aws:amz:us-west-2:" + service).c_str());
  curl_easy_setopt(curl, CURLOPT_USERPWD, "AKIDEXAMPLE:secret/key+");
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method.c_str());
  if (!body.empty()) {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.c_str());
  }
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, drop);
  EXPECT_EQ(curl_easy_perform(curl), CURLE_OK);
  curl_easy_cleanup(curl);
  curl_slist_free_all(headers);
  return seen;
}

TEST(CurlOracle, ItsSignaturesVerify) {
  const struct {
    std::string method, target, body, service;
  } cases[] = {
      {"POST", "/", R"({"TrainingJobName":"a"})", "sagemaker"},
      {"GET", "/", "", "batch"},
      {"GET", "/v1/tags/name", "", "batch"},
      {"GET", "/bucket/key?list-type=2&prefix=a", "", "s3"},
      {"PUT", "/bucket/key", "hello", "s3"},
  };
  for (const auto& c : cases) {
    const auto seen = send(c.method, c.target, c.body, c.service);
    EXPECT_EQ(seen.verdict, Verdict::good) << c.method << " " << c.target << "\n"
                                           << seen.canonical_request;
    EXPECT_EQ(seen.with_other_secret, Verdict::bad_signature) << c.target;
  }
}

}  // namespace
}  // namespace meridian::aws
