// SPDX-License-Identifier: Apache-2.0
#include "aws/cbor.h"

#include <bit>
#include <cmath>

#include "base/json.h"
#include "base/strings.h"

namespace meridian::aws {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr int max_depth = 32;
constexpr std::uint8_t indefinite = 31;
constexpr std::uint8_t break_byte = 0xff;

struct Refused {
  std::string why;
};

// Throws Refused, which does not leave this file: the depth of the recursion is bounded and every
// length is checked against what is left before it is used.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  std::size_t offset() const { return at_; }
  bool at_end() const { return at_ == bytes_.size(); }

  Json value(int depth) {
    if (depth > max_depth) throw Refused{"nested too deeply"};
    const std::uint8_t first = byte();
    const int major = first >> 5;
    const std::uint8_t low = first & 31;
    switch (major) {
      case 0: return unsigned_value(argument(low));
      case 1: return negative_value(argument(low));
      case 2: return Json(base::base64(string(2, low)));
      case 3: return text(low);
      case 4: return array(low, depth);
      case 5: return map(low, depth);
      case 6: return tagged(argument(low), depth);
      default: return simple(low);
    }
  }

 private:
  std::uint8_t byte() {
    if (at_end()) throw Refused{"ends too early"};
    return static_cast<std::uint8_t>(bytes_[at_++]);
  }

  std::uint64_t big_endian(int count) {
    std::uint64_t out = 0;
    for (int i = 0; i < count; ++i) out = out << 8 | byte();
    return out;
  }

  std::uint64_t argument(std::uint8_t low) {
    if (low < 24) return low;
    if (low < 28) return big_endian(1 << (low - 24));
    throw Refused{"has a reserved length"};
  }

  static Json unsigned_value(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(INT64_MAX)) return Json(value);
    return Json(static_cast<std::int64_t>(value));
  }
  static Json negative_value(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(INT64_MAX)) throw Refused{"has a number below -2^63"};
    return Json(-1 - static_cast<std::int64_t>(value));
  }

  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size() - at_) throw Refused{"has a length past its end"};
    const auto out = bytes_.substr(at_, size);
    at_ += size;
    return out;
  }

  // The bytes of a string of major type `major`, in one piece or in definite pieces.
  std::string string(int major, std::uint8_t low) {
    if (low != indefinite) return std::string(take(argument(low)));
    std::string out;
    for (;;) {
      const std::uint8_t first = byte();
      if (first == break_byte) return out;
      if (first >> 5 != major || (first & 31) == indefinite) {
        throw Refused{"has a wrong piece inside a string"};
      }
      out += take(argument(first & 31));
    }
  }

  Json text(std::uint8_t low) {
    const std::string utf8 = string(3, low);
    if (!base::is_valid_utf8(utf8)) throw Refused{"has text that is not UTF-8"};
    return Json(utf8);
  }

  bool at_break() {
    if (at_end()) throw Refused{"ends too early"};
    if (static_cast<std::uint8_t>(bytes_[at_]) != break_byte) return false;
    ++at_;
    return true;
  }

  // Runs `item` as often as the head says; each item takes at least one byte.
  template <class F>
  void each(std::uint8_t low, F&& item) {
    if (low == indefinite) {
      while (!at_break()) item();
      return;
    }
    const std::uint64_t count = argument(low);
    if (count > bytes_.size() - at_) throw Refused{"has a length past its end"};
    for (std::uint64_t i = 0; i < count; ++i) item();
  }

  Json array(std::uint8_t low, int depth) {
    JsonArray out;
    each(low, [&] { out.push_back(value(depth + 1)); });
    return out;
  }

  Json map(std::uint8_t low, int depth) {
    JsonObject out;
    each(low, [&] {
      const std::uint8_t first = byte();
      if (first >> 5 != 3) throw Refused{"has a map key that is not text"};
      const Json key = text(first & 31);
      out[key.get_string()] = value(depth + 1);
    });
    return out;
  }

  Json tagged(std::uint64_t tag, int depth) {
    if (tag != 1) throw Refused{"has the unknown tag " + std::to_string(tag)};
    Json out = value(depth + 1);
    if (!out.is_number()) throw Refused{"has a timestamp that is not a number"};
    return out;
  }

  Json simple(std::uint8_t low) {
    switch (low) {
      case 20: return false;
      case 21: return true;
      case 22:
      case 23: return nullptr;
      case 25: return finite(half(static_cast<std::uint16_t>(big_endian(2))));
      case 26: return finite(std::bit_cast<float>(static_cast<std::uint32_t>(big_endian(4))));
      case 27: return finite(std::bit_cast<double>(big_endian(8)));
      default: throw Refused{"has an unknown simple value"};
    }
  }

  static Json finite(double value) {
    if (!std::isfinite(value)) throw Refused{"has a number that is not finite"};
    return value;
  }

  static double half(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const int mantissa = bits & 1023;
    double value = exponent == 0    ? std::ldexp(mantissa, -24)
                   : exponent == 31 ? (mantissa ? NAN : INFINITY)
                                    : std::ldexp(mantissa + 1024, exponent - 25);
    return bits & 0x8000 ? -value : value;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace

base::Result<base::Json> parse_cbor(std::string_view bytes) {
  Reader reader(bytes);
  try {
    Json out = reader.value(0);
    if (!reader.at_end()) throw Refused{"goes on after its value"};
    return out;
  } catch (const Refused& refused) {
    return base::ParseError{"CBOR " + refused.why, reader.offset()};
  }
}

void CborWriter::big_endian(std::uint64_t value, int count) {
  for (int i = count - 1; i >= 0; --i) out_ += static_cast<char>(value >> (8 * i) & 0xff);
}

CborWriter& CborWriter::head(int major, std::uint64_t argument) {
  const auto first = [&](int low) { out_ += static_cast<char>(major << 5 | low); };
  if (argument < 24) {
    first(static_cast<int>(argument));
  } else if (argument <= 0xff) {
    first(24);
    big_endian(argument, 1);
  } else if (argument <= 0xffff) {
    first(25);
    big_endian(argument, 2);
  } else if (argument <= 0xffff'ffff) {
    first(26);
    big_endian(argument, 4);
  } else {
    first(27);
    big_endian(argument, 8);
  }
  return *this;
}

CborWriter& CborWriter::text(std::string_view utf8) {
  head(3, utf8.size());
  out_ += utf8;
  return *this;
}

CborWriter& CborWriter::bytes(std::string_view raw) {
  head(2, raw.size());
  out_ += raw;
  return *this;
}

CborWriter& CborWriter::integer(std::int64_t value) {
  if (value >= 0) return head(0, static_cast<std::uint64_t>(value));
  return head(1, static_cast<std::uint64_t>(-(value + 1)));
}

CborWriter& CborWriter::number(double value) {
  out_ += static_cast<char>(0xfb);
  big_endian(std::bit_cast<std::uint64_t>(value), 8);
  return *this;
}

CborWriter& CborWriter::boolean(bool value) {
  out_ += static_cast<char>(value ? 0xf5 : 0xf4);
  return *this;
}

CborWriter& CborWriter::null() {
  out_ += static_cast<char>(0xf6);
  return *this;
}

CborWriter& CborWriter::epoch_seconds(double value) {
  head(6, 1);
  return number(value);
}

}  // namespace meridian::aws
