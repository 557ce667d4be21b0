// SPDX-License-Identifier: Apache-2.0
#include "aws/cbor.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/random.h"
#include "base/strings.h"

namespace meridian::aws {
namespace {

std::string read(std::string_view hex) {
  const auto parsed = parse_cbor(*base::unhex(hex));
  return parsed ? base::to_text(*parsed) : "error: " + parsed.error().message;
}

// RFC 8949, appendix A.
TEST(Cbor, ReadsTheExamplesOfTheRfc) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"00", "0"},
      {"1903e8", "1000"},
      {"1b000000e8d4a51000", "1000000000000"},
      {"20", "-1"},
      {"3903e7", "-1000"},
      {"f93e00", "1.5"},
      {"fa47c35000", "100000.0"},
      {"fb3ff199999999999a", "1.1"},
      {"f4", "false"},
      {"f6", "null"},
      {"f7", "null"},
      {"c11a514b67b0", "1363896240"},
      {"c1fb41d452d9ec200000", "1363896240.5"},
      {"4401020304", "\"AQIDBA==\""},
      {"62c3bc", "\"\xC3\xBC\""},
      {"83010203", "[1,2,3]"},
      {"a26161016162820203", R"({"a":1,"b":[2,3]})"},
      {"9f018202039f0405ffff", "[1,[2,3],[4,5]]"},
      {"bf61610161629f0203ffff", R"({"a":1,"b":[2,3]})"},
      {"7f657374726561646d696e67ff", "\"streaming\""},
      {"5f42010243030405ff", "\"AQIDBAU=\""},
  };
  for (const auto& [hex, json] : cases) EXPECT_EQ(read(hex), json) << hex;
}

TEST(Cbor, RefusesWhatIsNotWhole) {
  for (const std::string_view hex : {"",
                                     "18",
                                     "62c3",
                                     "83",
                                     "830102",
                                     "a1",
                                     "a16161",
                                     "9f",
                                     "9f01",
                                     "bf6161",
                                     "7f61",
                                     "5f",
                                     "5f6161ff",
                                     "7f7f6161ffff",
                                     "ff",
                                     "0000",
                                     "a10101",
                                     "1c",
                                     "c0",
                                     "c2420100",
                                     "c16161",
                                     "f97c00",
                                     "f8ff",
                                     "9bffffffffffffffff",
                                     "5bffffffffffffffff",
                                     "bbffffffffffffffff",
                                     "61ff"}) {
    EXPECT_EQ(read(hex).substr(0, 6), "error:") << hex << " gave " << read(hex);
  }
}

TEST(Cbor, RefusesDeepNesting) {
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "81";
  EXPECT_NE(read(deep + "00").find("nested too deeply"), std::string::npos);
}

TEST(Cbor, WhatIsWrittenReadsBack) {
  CborWriter out;
  out.map(5).text("n").integer(-70'000).text("d").number(0.25).text("t").epoch_seconds(1.5);
  out.text("a").array(2).boolean(true).null().text("b").bytes("\x01\x02");
  EXPECT_EQ(base::to_text(*parse_cbor(out.finish())),
            R"({"n":-70000,"d":0.25,"t":1.5,"a":[true,null],"b":"AQI="})");
}

TEST(Cbor, IntegersOfEverySizeReadBack) {
  for (int bits = 0; bits < 63; ++bits) {
    const auto value = std::int64_t{1} << bits;
    for (const std::int64_t v : {value, value - 1, -value, -value - 1}) {
      CborWriter out;
      EXPECT_EQ(parse_cbor(out.integer(v).finish())->to_number<std::int64_t>(), v);
    }
  }
}

TEST(Cbor, IntegersPastTheSignedOnesAreKept) {
  EXPECT_EQ(read("1bffffffffffffffff"), "18446744073709551615");
  CborWriter out;
  EXPECT_EQ(parse_cbor(out.unsigned_integer(UINT64_MAX).finish())->get_uint64(), UINT64_MAX);
}

TEST(Cbor, RandomBytesNeverDoMoreThanFail) {
  base::SeededRandom random(5);
  int understood = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::string bytes = random.bytes(1 + random.below(40));
    const auto parsed = parse_cbor(bytes);
    const std::size_t offset = parsed ? 0 : parsed.error().offset;
    EXPECT_LE(offset, bytes.size());
    if (parsed) ++understood;
  }
  EXPECT_GT(understood, 0);
}

}  // namespace
}  // namespace meridian::aws
