// SPDX-License-Identifier: Apache-2.0
#include "net/http_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meridian::net {
namespace {

using namespace std::string_literals;

// 0 when the bytes are one whole, good head; else the status of the refusal; -1: not complete.
int verdict(const std::string& bytes) {
  HeadFinder finder;
  const auto size = finder.find(bytes);
  if (!size) return size.error().status;
  if (*size == 0) return -1;
  const auto head = parse_head(std::string_view(bytes).substr(0, *size));
  return head ? 0 : head.error().status;
}

std::string fields(const std::string& lines) {
  return "POST / HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n";
}

std::string line(const std::string& request_line) { return request_line + "\r\nHost: h\r\n\r\n"; }

struct Case {
  const char* what;
  std::string bytes;
  int expected;
};

// Forms by which one reader can be made to see another request than the next reader does.
const Case kHostile[] = {
    {"two lengths", fields("Content-Length: 3\r\nContent-Length: 4\r\n"), 400},
    {"the same length twice", fields("Content-Length: 3\r\nContent-Length: 3\r\n"), 400},
    {"a list of lengths", fields("Content-Length: 3, 3\r\n"), 400},
    {"a signed length", fields("Content-Length: +3\r\n"), 400},
    {"a negative length", fields("Content-Length: -3\r\n"), 400},
    {"a hexadecimal length", fields("Content-Length: 0x3\r\n"), 400},
    {"a length with a blank inside", fields("Content-Length: 3 0\r\n"), 400},
    {"an empty length", fields("Content-Length:\r\n"), 400},
    {"a length past 64 bits", fields("Content-Length: 18446744073709551617\r\n"), 400},
    {"length and chunked", fields("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"), 400},
    {"chunked and length", fields("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"), 400},
    {"chunked twice", fields("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400},
    {"chunked, identity", fields("Transfer-Encoding: chunked, identity\r\n"), 501},
    {"identity", fields("Transfer-Encoding: identity\r\n"), 501},
    {"gzip, chunked", fields("Transfer-Encoding: gzip, chunked\r\n"), 501},
    {"xchunked", fields("Transfer-Encoding: xchunked\r\n"), 501},
    {"quoted chunked", fields("Transfer-Encoding: \"chunked\"\r\n"), 501},
    {"chunked with a vertical tab", fields("Transfer-Encoding: \vchunked\r\n"), 400},
    {"chunked under HTTP/1.0", "POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
     400},
    {"a blank before the colon", fields("Transfer-Encoding : chunked\r\n"), 400},
    {"a tab before the colon", fields("Content-Length\t: 3\r\n"), 400},
    {"a folded line", fields("X: a\r\n b\r\n"), 400},
    {"a line folded by a tab", fields("X: a\r\n\tContent-Length: 3\r\n"), 400},
    {"a first field that is folded", "GET / HTTP/1.1\r\n Host: h\r\n\r\n", 400},
    {"a line without colon", fields("X\r\n"), 400},
    {"a field without name", fields(": x\r\n"), 400},
    {"NUL in a value", fields("X: a\0b\r\n"s), 400},
    {"NUL in a name", fields("X\0: a\r\n"s), 400},
    {"a carriage return in a value", fields("X: a\rContent-Length: 3\r\n"), 400},
    {"DEL in a value", fields("X: \x7f\r\n"), 400},
    {"a bare line feed between fields", "GET / HTTP/1.1\r\nHost: h\nX: y\r\n\r\n", 400},
    {"bare line feeds everywhere", "GET / HTTP/1.1\nHost: h\n\n", 400},
    {"a bare line feed at the end", "GET / HTTP/1.1\r\nHost: h\r\n\n", 400},
    {"a bare line feed in front", "\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
    {"two empty lines in front", "\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
    {"no host", "GET / HTTP/1.1\r\n\r\n", 400},
    {"two hosts", fields("Host: h\r\n"), 400},
    {"an empty host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", 400},
    {"a list of hosts", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 400},
    {"a host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
    {"a host with a user", "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n", 400},
    {"a host with a named port", "GET / HTTP/1.1\r\nHost: a:http\r\n\r\n", 400},
    {"a host with two ports", "GET / HTTP/1.1\r\nHost: a:1:2\r\n\r\n", 400},
    {"an open bracket in the host", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", 400},
    {"no target", line("GET HTTP/1.1"), 400},
    {"a blank in the target", line("GET /a b HTTP/1.1"), 400},
    {"two blanks", line("GET  / HTTP/1.1"), 400},
    {"a tab for a blank", line("GET\t/ HTTP/1.1"), 400},
    {"a blank at the end", line("GET / HTTP/1.1 "), 400},
    {"a blank in front", line(" GET / HTTP/1.1"), 400},
    {"a fragment", line("GET /a#b HTTP/1.1"), 400},
    {"raw bytes in the target", line("GET /\xc3\xa4 HTTP/1.1"), 400},
    {"a control character in the target", line("GET /\x01 HTTP/1.1"), 400},
    {"a relative target", line("GET a HTTP/1.1"), 400},
    {"another scheme", line("GET ftp://h/ HTTP/1.1"), 400},
    {"an absolute target without host", line("GET http:///a HTTP/1.1"), 400},
    {"a star for GET", line("GET * HTTP/1.1"), 400},
    {"CONNECT", line("CONNECT h:443 HTTP/1.1"), 501},
    {"a method that is no token", line("GE(T / HTTP/1.1"), 400},
    {"an endless method", line(std::string(33, 'M') + " / HTTP/1.1"), 400},
    {"lower case http", line("GET / http/1.1"), 400},
    {"HTTP/0.9", "GET /\r\n\r\n", 400},
    {"HTTP/1.2", line("GET / HTTP/1.2"), 505},
    {"HTTP/1.10", line("GET / HTTP/1.10"), 400},
    {"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
    {"a TLS greeting", "\x16\x03\x01\x02", 400},
    {"another expectation", fields("Expect: payment\r\nContent-Length: 1\r\n"), 417},
    {"a header past 32 KiB", fields("X: " + std::string(kMaxHeadBytes, 'x') + "\r\n"), 431},
    {"a request line past 32 KiB", "GET /" + std::string(kMaxHeadBytes, 'x'), 431},
};

TEST(ParseHead, RefusesWhatTwoReadersCouldReadDifferently) {
  for (const Case& c : kHostile) EXPECT_EQ(verdict(c.bytes), c.expected) << c.what;
}

const Case kGood[] = {
    {"the least", line("GET / HTTP/1.1"), 0},
    {"HTTP/1.0 without host", "GET / HTTP/1.0\r\n\r\n", 0},
    {"one empty line in front", "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", 0},
    {"OPTIONS *", line("OPTIONS * HTTP/1.1"), 0},
    {"chunked in capitals", fields("Transfer-Encoding: CHUNKED\r\n"), 0},
    {"a value with tabs and UTF-8", fields("X:\t a\tb \xc3\xa4 \t\r\n"), 0},
    {"an empty value", fields("X:\r\n"), 0},
    {"an IPv6 host", "GET / HTTP/1.1\r\nHost: [::1]:8470\r\n\r\n", 0},
    {"a host with an underscore", "GET / HTTP/1.1\r\nHost: my_bucket.localhost:80\r\n\r\n", 0},
    {"an unknown method", line("M-SEARCH / HTTP/1.1"), 0},
    {"not yet complete", "GET / HTTP/1.1\r\nHost: h\r\n", -1},
    {"nothing but an empty line", "\r\n", -1},
};

TEST(ParseHead, AcceptsWhatIsUsual) {
  for (const Case& c : kGood) EXPECT_EQ(verdict(c.bytes), c.expected) << c.what;
}

TEST(ParseHead, GivesThePartsOfARequest) {
  const auto head = parse_head(
      "PUT /b/k%20y?x-id=PutObject&a=/? HTTP/1.1\r\nHost: 127.0.0.1:8470\r\n"
      "content-length:  12 \r\nExpect: 100-Continue\r\nX-A: \r\n\r\n");
  ASSERT_TRUE(head.ok());
  EXPECT_EQ(head->method, "PUT");
  EXPECT_EQ(head->target, "/b/k%20y?x-id=PutObject&a=/?");
  EXPECT_EQ(head->path, "/b/k%20y");
  EXPECT_EQ(head->query, "x-id=PutObject&a=/?");
  EXPECT_EQ(head->content_length, 12u);
  EXPECT_FALSE(head->chunked);
  EXPECT_TRUE(head->keep_alive);
  EXPECT_TRUE(head->expects_continue);
  EXPECT_EQ(head->headers.find("x-a"), "");
}

TEST(ParseHead, TurnsAnAbsoluteTargetIntoPathAndHost) {
  const auto head = parse_head("GET http://real:80?q HTTP/1.1\r\nHost: other\r\n\r\n");
  ASSERT_TRUE(head.ok());
  EXPECT_EQ(head->target, "/?q");
  EXPECT_EQ(head->path, "/");
  EXPECT_EQ(head->query, "q");
  EXPECT_EQ(head->headers.all("host"), std::vector<std::string>{"real:80"});
}

TEST(ParseHead, KeepsTheConnectionAsItsVersionSays) {
  const auto keeps = [](const std::string& version, const std::string& connection) {
    const auto head = parse_head("GET / HTTP/" + version + "\r\nHost: h\r\n" + connection + "\r\n");
    return head.ok() && head->keep_alive;
  };
  EXPECT_TRUE(keeps("1.1", ""));
  EXPECT_FALSE(keeps("1.1", "Connection: close\r\n"));
  EXPECT_FALSE(keeps("1.1", "Connection: TE, Close\r\n"));
  EXPECT_FALSE(keeps("1.1", "Connection: keep-alive\r\nConnection: close\r\n"));
  EXPECT_FALSE(keeps("1.0", ""));
  EXPECT_TRUE(keeps("1.0", "Connection: Keep-Alive\r\n"));
}

TEST(ParseHead, CountsFields) {
  std::string lines;
  for (std::size_t i = 1; i < kMaxHeadFields; ++i) lines += "X: y\r\n";
  EXPECT_EQ(verdict(fields(lines)), 0);
  EXPECT_EQ(verdict(fields(lines + "X: y\r\n")), 431);
  // The host of an absolute target becomes a field, too.
  EXPECT_EQ(verdict("GET http://h/ HTTP/1.0\r\n" + lines + "\r\n"), 0);
  EXPECT_EQ(verdict("GET http://h/ HTTP/1.0\r\n" + lines + "X: y\r\n\r\n"), 431);
}

TEST(HeadFinder, FindsTheSameEndHoweverTheBytesArrive) {
  const std::string bytes = "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\nGET";
  HeadFinder finder;
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const auto size = finder.find(std::string_view(bytes).substr(0, n));
    ASSERT_TRUE(size.ok());
    if (*size == 0) continue;
    EXPECT_EQ(*size, bytes.size() - 3);
    EXPECT_EQ(n, *size);
    return;
  }
  FAIL() << "no end found";
}

// Decodes `bytes` in pieces of `step`; "!" and the reason when refused; "…" when it does not end.
std::string decode(const std::string& bytes, std::size_t step) {
  ChunkDecoder decoder;
  std::string inbox;
  std::string out;
  std::size_t at = 0;
  while (!decoder.ended()) {
    if (decoder.data_left() > 0 && !inbox.empty()) {
      const std::size_t n = std::min<std::uint64_t>(decoder.data_left(), inbox.size());
      out += inbox.substr(0, n);
      inbox.erase(0, n);
      decoder.took(n);
      continue;
    }
    const auto dropped = decoder.take_framing(inbox);
    if (!dropped) return "!" + dropped.error().message;
    inbox.erase(0, *dropped);
    if (decoder.ended() || *dropped > 0) continue;
    if (at == bytes.size()) return out + "…";
    inbox += bytes.substr(at, step);
    at += std::min(step, bytes.size() - at);
  }
  return out + "|" + inbox + bytes.substr(at);
}

TEST(ChunkDecoder, DecodesTheSameHoweverTheBytesArrive) {
  const std::string bytes =
      "5\r\nhello\r\n00A;x=\"y\"\r\n, good day\r\n0\r\nA: b\r\nC:\r\n\r\nGET /";
  for (std::size_t step = 1; step <= bytes.size(); ++step) {
    EXPECT_EQ(decode(bytes, step), "hello, good day|GET /") << step;
  }
  EXPECT_EQ(decode("0\r\n\r\n", 3), "|");
  EXPECT_EQ(decode("5\r\nhel", 3), "hel…");
}

TEST(ChunkDecoder, RefusesBrokenFraming) {
  for (const std::string bytes : {
           "\r\n",                    // no size
           "g\r\n",                   // no digit
           "0x5\r\nhello\r\n",        // prefixed
           "-5\r\nhello\r\n",         // signed
           " 5\r\nhello\r\n",         // blank in front
           "5 \r\nhello\r\n",         // blank behind
           "5\nhello\r\n0\r\n\r\n",   // bare line feed
           "5\r\nhelloX\r\n",         // longer than said
           "5\r\nhello\n0\r\n\r\n",   // bare line feed after the data
           "ffffffffffffffff1\r\n",   // overflow
           "1000000000000000\r\n",    // absurd
           "0\r\nA b: c\r\n\r\n",     // trailer name
           "0\r\nnocolon\r\n\r\n",    // trailer without colon
           "0\r\n: x\r\n\r\n",        // trailer without name
           "5;a\x01=b\r\nhello\r\n",  // control character in the extension
       }) {
    EXPECT_EQ(decode(bytes, 1)[0], '!') << bytes;
  }
}

TEST(ChunkDecoder, BoundsExtensionsAndTrailers) {
  EXPECT_EQ(decode("1;" + std::string(kMaxChunkLine, 'x'), 64)[0], '!');
  std::string trailers = "0\r\n";
  for (std::size_t i = 0; i <= kMaxTrailerBytes / 4; ++i) trailers += "a:\r\n";
  EXPECT_EQ(decode(trailers, 64)[0], '!');
  EXPECT_EQ(decode("0\r\nA: " + std::string(kMaxTrailerBytes, 'x'), 64)[0], '!');
}

}  // namespace
}  // namespace meridian::net
