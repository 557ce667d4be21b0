// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"

#include <gtest/gtest.h>

#include <random>

namespace meridian::base {
namespace {

using Pieces = std::vector<std::string>;

std::string random_bytes(std::mt19937_64& random, std::size_t most) {
  std::string bytes(random() % (most + 1), '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

TEST(Strings, SplitKeepsEmptyPiecesAndJoinUndoesIt) {
  EXPECT_EQ(split("a,,b,", ','), (Pieces{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), Pieces{""});
  EXPECT_EQ(join({"a", "", "b"}, ", "), "a, , b");
  EXPECT_EQ(join({}, ","), "");
}

TEST(Strings, TrimTakesBlanksOffBothEnds) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Strings, CaseIsAsciiOnly) {
  EXPECT_EQ(to_lower("AZ[É"), "az[É");
  EXPECT_EQ(to_upper("az{é"), "AZ{é");
  EXPECT_TRUE(equals_ignoring_case("Content-LENGTH", "content-length"));
  EXPECT_FALSE(equals_ignoring_case("a", "ab"));
  EXPECT_TRUE(LessIgnoringCase()("ABC", "abd"));
  EXPECT_FALSE(LessIgnoringCase()("ABC", "abc"));
}

TEST(Strings, ReplaceAllDoesNotReplaceItsOwnWork) {
  EXPECT_EQ(replace_all("aaa", "a", "aa"), "aaaaaa");
  EXPECT_EQ(replace_all("abc", "", "x"), "abc");
  EXPECT_EQ(replace_all("", "a", "x"), "");
}

TEST(Strings, NumbersMustFillTheWholeText) {
  EXPECT_EQ(to_int("-42"), -42);
  EXPECT_EQ(to_int("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(to_uint("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(to_double("-1.5e3"), -1500);
  for (const char* bad : {"", " 1", "1 ", "1x", "9223372036854775808", "0x1", "--1"}) {
    EXPECT_FALSE(to_int(bad)) << bad;
  }
  for (const char* bad : {"", "-1", "+1", "18446744073709551616"})
    EXPECT_FALSE(to_uint(bad)) << bad;
  for (const char* bad : {"", "nan", "inf", "-inf", "1e999", "1.5x"}) {
    EXPECT_FALSE(to_double(bad)) << bad;
  }
}

TEST(Strings, HexAndBase64UndoThemselves) {
  EXPECT_EQ(hex(std::string_view("\x00\xff\x1a", 3)), "00ff1a");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  std::mt19937_64 random(1);
  for (int i = 0; i < 500; ++i) {
    const std::string bytes = random_bytes(random, 40);
    EXPECT_EQ(unhex(hex(bytes)), bytes);
    EXPECT_EQ(unbase64(base64(bytes)), bytes);
    EXPECT_EQ(percent_decode(percent_encode(bytes)), bytes);
  }
}

TEST(Strings, BrokenEncodingsAreRefused) {
  for (const char* bad : {"a", "0g", "abc"}) EXPECT_FALSE(unhex(bad)) << bad;
  for (const char* bad :
       {"Zg=", "Zg", "Zg==Zg==", "Z===", "====", "Zm9 ", "Zm8=\n", "Z=g=", "Zm-_"}) {
    EXPECT_FALSE(unbase64(bad)) << bad;
  }
  for (const char* bad : {"%", "%4", "a%4", "%zz", "%-1"}) EXPECT_FALSE(percent_decode(bad)) << bad;
  EXPECT_EQ(percent_decode("a+%41%2f"), "a+A/");
}

TEST(Strings, PercentEncodingKeepsTheUnreserved) {
  EXPECT_EQ(percent_encode("AZaz09-_.~ /é"), "AZaz09-_.~%20%2F%C3%A9");
  EXPECT_EQ(percent_encode("a/b c", "/"), "a/b%20c");
}

TEST(Strings, Utf8IsCheckedAsUnicodeSaysIt) {
  for (const char* good : {"", "a", "é", "€", "😀", "\xf4\x8f\xbf\xbf", "\xee\x80\x80"}) {
    EXPECT_TRUE(is_valid_utf8(good)) << good;
  }
  for (const char* bad :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "a\xff"}) {
    EXPECT_FALSE(is_valid_utf8(bad));
  }
}

TEST(Strings, AnyBytesBecomeValidUtf8) {
  EXPECT_EQ(to_valid_utf8("a\xff\xe2\x82z"), "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz");
  std::mt19937_64 random(2);
  for (int i = 0; i < 500; ++i) {
    EXPECT_TRUE(is_valid_utf8(to_valid_utf8(random_bytes(random, 30))));
  }
}

TEST(Strings, PrefixesEndAtCharacters) {
  EXPECT_EQ(utf8_prefix("aé€", 10), "aé€");
  EXPECT_EQ(utf8_prefix("aé€", 3), "aé");
  EXPECT_EQ(utf8_prefix("aé€", 2), "a");
  EXPECT_EQ(utf8_prefix("aé€", 5), "aé");
  EXPECT_EQ(utf8_prefix("€", 0), "");
}

TEST(Strings, TheNearestWordIsSuggestedWhenItIsNear) {
  const Pieces commands{"train", "tune", "transform", "get"};
  EXPECT_EQ(nearest("trian", commands), "train");
  EXPECT_EQ(nearest("trasnform", commands), "transform");
  EXPECT_EQ(nearest("GET", commands), "get");
  EXPECT_EQ(nearest("ransofrm", commands), "transform");  // one left out, two exchanged
  EXPECT_FALSE(nearest("xyzzy", commands));
  EXPECT_EQ(nearest("ab", {"abc", "ba"}), "abc");  // the first of those as near
  EXPECT_FALSE(nearest("ab", {"cd", "abcd"}));
  EXPECT_FALSE(nearest(std::string(100'000, 'x'), commands));
  EXPECT_FALSE(nearest("x", {}));
}

TEST(Strings, BytesAreShownForPeople) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(10ull << 30), "10.0 GiB");
  EXPECT_EQ(format_bytes(UINT64_MAX), "16384.0 PiB");
}

}  // namespace
}  // namespace meridian::base
