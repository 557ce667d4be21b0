// SPDX-License-Identifier: Apache-2.0
#include "kube/cel/utf8.h"

namespace meridian::kube::cel {
namespace {

constexpr char32_t replacement = 0xfffd;

// How many bytes follow a first byte; -1 for none that is one.
int bytes_after(unsigned char first) {
  if (first < 0x80) return 0;
  if (first >= 0xc2 && first < 0xe0) return 1;
  if (first >= 0xe0 && first < 0xf0) return 2;
  return first >= 0xf0 && first < 0xf5 ? 3 : -1;
}

bool is_scalar(char32_t point, int after) {
  static constexpr char32_t smallest[] = {0, 0x80, 0x800, 0x10000};
  return point >= smallest[after] && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
}

}  // namespace

std::u32string to_code_points(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    const int after = bytes_after(first);
    char32_t point = after <= 0 ? first : first & (0x3f >> after);
    bool good = after >= 0 && at + static_cast<std::size_t>(after) < text.size();
    for (int i = 1; good && i <= after; ++i) {
      const auto next = static_cast<unsigned char>(text[at + static_cast<std::size_t>(i)]);
      good = (next & 0xc0) == 0x80;
      point = point << 6 | (next & 0x3f);
    }
    good = good && is_scalar(point, after);
    out += good ? point : replacement;
    at += good ? static_cast<std::size_t>(after) + 1 : 1;
  }
  return out;
}

void append_utf8(std::string& out, char32_t point) {
  const auto add = [&](char32_t byte) { out += static_cast<char>(byte); };
  if (point < 0x80) {
    add(point);
  } else if (point < 0x800) {
    add(0xc0 | point >> 6);
    add(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    add(0xe0 | point >> 12);
    add(0x80 | (point >> 6 & 0x3f));
    add(0x80 | (point & 0x3f));
  } else {
    add(0xf0 | point >> 18);
    add(0x80 | (point >> 12 & 0x3f));
    add(0x80 | (point >> 6 & 0x3f));
    add(0x80 | (point & 0x3f));
  }
}

std::string to_utf8(std::u32string_view points) {
  std::string out;
  out.reserve(points.size());
  for (const char32_t point : points) append_utf8(out, point);
  return out;
}

}  // namespace meridian::kube::cel
