// Text helpers that the standard library lacks.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace meridian::base {

std::vector<std::string> split(std::string_view text, char separator);  // keeps empty pieces
std::string join(const std::vector<std::string>& pieces, std::string_view separator);
std::string_view trim(std::string_view text);  // blanks, tabs, CR, LF on both ends
std::string to_lower(std::string_view text);   // ASCII
std::string to_upper(std::string_view text);   // ASCII
bool equals_ignoring_case(std::string_view a, std::string_view b);  // ASCII
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

// Whole text as a number, or nothing: no blanks, no sign for unsigned, no overflow,
// no infinity and no NaN.
std::optional<std::int64_t> to_int(std::string_view text);
std::optional<std::uint64_t> to_uint(std::string_view text);
std::optional<double> to_double(std::string_view text);

std::string hex(std::string_view bytes);  // lower case
std::optional<std::string> unhex(std::string_view text);
std::string base64(std::string_view bytes);
std::optional<std::string> unbase64(std::string_view text);  // strict, padded; blanks refused

// RFC 3986: keeps A-Za-z0-9-_.~ and the characters of `keep`; %XX upper case for the rest.
std::string percent_encode(std::string_view bytes, std::string_view keep = "");
// Decodes %XX; '+' stays '+'. Nothing for a broken escape.
std::optional<std::string> percent_decode(std::string_view text);

bool is_valid_utf8(std::string_view bytes);
// `text` cut to at most `bytes` bytes at a character boundary.
std::string_view utf8_prefix(std::string_view text, std::size_t bytes);
// Invalid sequences replaced by U+FFFD, so that any bytes can go into JSON.
std::string to_valid_utf8(std::string_view bytes);

// The candidate nearest to `word` (edit distance at most a third of its length), for "did you
// mean".
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

// "1.5 GiB", "812 B".
std::string format_bytes(std::uint64_t bytes);

// For std::map<std::string, …, std::less<>> look-ups and header names.
struct LessIgnoringCase {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const;
};

}  // namespace meridian::base
