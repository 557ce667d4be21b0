// SPDX-License-Identifier: Apache-2.0
#include "net/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace meridian::net {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(Headers, NamesCompareWithoutCaseAndKeepTheirOrder) {
  Headers headers;
  headers.add("Accept", "a");
  headers.add("X-Amz-Date", "d");
  headers.add("ACCEPT", "b");
  EXPECT_EQ(headers.find("accept"), "a");
  EXPECT_THAT(headers.all("Accept"), ElementsAre("a", "b"));
  EXPECT_EQ(headers.find("absent"), std::nullopt);
  EXPECT_EQ(headers.get("absent", "fallback"), "fallback");
  headers.set("accept", "c");
  EXPECT_THAT(headers.fields(), ElementsAre(Pair("X-Amz-Date", "d"), Pair("accept", "c")));
  headers.remove("x-amz-DATE");
  EXPECT_THAT(headers.fields(), ElementsAre(Pair("accept", "c")));
}

TEST(ParseQuery, DecodesPairsInOrder) {
  EXPECT_THAT(parse_query("list-type=2&prefix=a%2Fb&acl&x=1=2&&%zz=+"),
              ElementsAre(Pair("list-type", "2"), Pair("prefix", "a/b"), Pair("acl", ""),
                          Pair("x", "1=2"), Pair("%zz", "+")));
  EXPECT_THAT(parse_query("Action=Get+It%2B&=v", true),
              ElementsAre(Pair("Action", "Get It+"), Pair("", "v")));
  EXPECT_THAT(parse_query(""), ElementsAre());
}

TEST(BodyReader, ReadsAllUpToALimit) {
  const std::string large(300'000, 'x');
  EXPECT_EQ(StringBody(large).read_all(large.size()), large);
  EXPECT_EQ(StringBody("").read_all(0), "");
  try {
    StringBody(large).read_all(large.size() - 1);
    FAIL() << "read past the limit";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::Code::resource_exhausted);
  }
}

// Says nothing about its length, and gives little at a time.
class Trickle final : public BodyReader {
 public:
  explicit Trickle(std::string bytes) : body_(std::move(bytes)) {}
  std::size_t read(char* buffer, std::size_t size) override {
    return body_.read(buffer, std::min<std::size_t>(size, 7));
  }
  std::optional<std::uint64_t> length() const override { return std::nullopt; }

 private:
  StringBody body_;
};

TEST(BodyReader, ReadsAllOfABodyWithoutLength) {
  const std::string text(10'000, 'y');
  EXPECT_EQ(Trickle(text).read_all(10'000), text);
  EXPECT_THROW(Trickle(text).read_all(9'999), base::Error);
}

TEST(ReasonPhrase, EveryStatusHasOne) {
  EXPECT_EQ(reason_phrase(200), "OK");
  EXPECT_EQ(reason_phrase(431), "Request Header Fields Too Large");
  for (int status = 100; status < 600; ++status) EXPECT_FALSE(reason_phrase(status).empty());
}

}  // namespace
}  // namespace meridian::net
