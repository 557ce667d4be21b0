// SPDX-License-Identifier: Apache-2.0
#include "kube/cel/token.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "base/strings.h"
#include "kube/cel/utf8.h"

namespace meridian::kube::cel {
namespace {

using Kind = Token::Kind;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// How a string is written: r"…" raw, b"…" bytes, three quotes for several lines.
struct Quote {
  bool raw = false, bytes = false;
  std::string_view mark;   // ", ', """ or '''
  std::size_t length = 0;  // of prefix and mark; 0: no string begins here
};

Quote read_quote(std::string_view text) {
  Quote out;
  std::size_t at = 0;
  for (; at < 2 && at < text.size(); ++at) {
    const char c = text[at];
    if ((c == 'r' || c == 'R') && !out.raw) {
      out.raw = true;
    } else if ((c == 'b' || c == 'B') && !out.bytes) {
      out.bytes = true;
    } else {
      break;
    }
  }
  for (const std::string_view mark : {"\"\"\"", "'''", "\"", "'"}) {
    if (!text.substr(at).starts_with(mark)) continue;
    out.mark = mark;
    out.length = at + mark.size();
    return out;
  }
  return {};
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  base::Result<std::vector<Token>> run() {
    std::vector<Token> out;
    while (!error_) {
      skip_blanks();
      if (at_ == text_.size()) {
        out.push_back({.kind = Kind::end, .offset = at_});
        return out;
      }
      out.push_back(next());
    }
    return *error_;
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void fail(std::string message) {
    if (!error_) error_ = base::ParseError{.message = std::move(message), .offset = at_};
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (std::string_view(" \t\r\n\f").find(text_[at_]) != std::string_view::npos) {
        ++at_;
      } else if (rest().starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return;
      }
    }
  }

  Token next() {
    const std::size_t start = at_;
    Token out{.kind = Kind::symbol, .offset = start};
    if (const Quote quote = read_quote(rest()); quote.length > 0) {
      read_string(quote, out);
    } else if (is_letter(peek())) {
      while (is_letter(peek()) || is_digit(peek())) ++at_;
      out.kind = Kind::identifier;
      out.text = text_.substr(start, at_ - start);
    } else if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) {
      read_number(out);
    } else {
      read_symbol(out);
    }
    return out;
  }

  void read_symbol(Token& out) {
    for (const std::string_view symbol : {"==", "!=", "<=", ">=", "&&", "||"}) {
      if (!rest().starts_with(symbol)) continue;
      out.text = symbol;
      at_ += 2;
      return;
    }
    if (std::string_view("()[]{}.,:?<>+-*/%!").find(peek()) == std::string_view::npos) {
      const std::size_t length = std::max<std::size_t>(base::utf8_prefix(rest(), 4).size(), 1);
      fail(fmt::format("'{}' is not expected here",
                       base::to_valid_utf8(rest().substr(0, is_digit(peek()) ? 1 : length))));
      return;
    }
    out.text = rest().substr(0, 1);
    ++at_;
  }

  void read_number(Token& out) {
    const std::size_t start = at_;
    const bool hex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
    if (hex) at_ += 2;
    const std::size_t digits = at_;
    while (hex ? is_hex(peek()) : is_digit(peek())) ++at_;
    bool whole = true;
    if (!hex) whole = !read_fraction();
    const std::string_view text = text_.substr(digits, at_ - digits);
    if (!whole) {
      const auto number = base::to_double(text);
      if (!number) return fail("this number is too large");
      out.kind = Kind::number;
      out.number = *number;
    } else {
      const auto parsed =
          std::from_chars(text.data(), text.data() + text.size(), out.integer, hex ? 16 : 10);
      if (parsed.ec != std::errc() || text.empty()) return fail("this is no 64 bit integer");
      out.kind = Kind::integer;
      if (peek() == 'u' || peek() == 'U') {
        ++at_;
        out.kind = Kind::unsigned_integer;
      }
    }
    if (is_letter(peek())) fail("a number ends here");
    out.text = text_.substr(start, at_ - start);
  }

  // ".5", "e-3"; says whether there was one.
  bool read_fraction() {
    const std::size_t start = at_;
    if (peek() == '.' && is_digit(peek(1))) {
      ++at_;
      while (is_digit(peek())) ++at_;
    }
    const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
    if ((peek() == 'e' || peek() == 'E') && is_digit(peek(1 + sign))) {
      at_ += 1 + sign;
      while (is_digit(peek())) ++at_;
    }
    return at_ > start;
  }

  void read_string(const Quote& quote, Token& out) {
    out.kind = quote.bytes ? Kind::bytes : Kind::text;
    at_ += quote.length;
    while (!error_) {
      if (at_ == text_.size()) return fail("a string is not closed");
      if (rest().starts_with(quote.mark)) {
        at_ += quote.mark.size();
        return;
      }
      const char c = peek();
      if (c == '\n' && quote.mark.size() == 1) return fail("a string is not closed on its line");
      if (c == '\\' && !quote.raw) {
        read_escape(quote, out.text);
      } else {
        out.text += c;
        ++at_;
      }
    }
  }

  void read_escape(const Quote& quote, std::string& out) {
    static constexpr std::string_view letters = "abfnrtv\\?\"'`";
    static constexpr std::string_view meanings = "\a\b\f\n\r\t\v\\?\"'`";
    const char kind = peek(1);
    if (const std::size_t at = letters.find(kind); kind != '\0' && at != std::string_view::npos) {
      out += meanings[at];
      at_ += 2;
    } else if (kind == 'x' || kind == 'X') {
      read_code(quote, 2, 2, 16, out);
    } else if (kind == 'u') {
      read_code(quote, 2, 4, 16, out);
    } else if (kind == 'U') {
      read_code(quote, 2, 8, 16, out);
    } else if (kind >= '0' && kind <= '3') {
      read_code(quote, 1, 3, 8, out);
    } else {
      fail("an unknown escape");
    }
  }

  // `count` digits after `skip` characters: a byte in bytes, a code point in texts.
  void read_code(const Quote& quote, std::size_t skip, std::size_t count, int base,
                 std::string& out) {
    const std::string_view digits = rest().substr(std::min(skip, rest().size()), count);
    std::uint32_t code = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), code, base);
    const bool complete = digits.size() == count && parsed.ptr == digits.data() + digits.size();
    const bool scalar = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    if (!complete || !scalar || (quote.bytes && code > 0xff)) return fail("a broken escape");
    if (quote.bytes) {
      out += static_cast<char>(code);
    } else {
      append_utf8(out, code);
    }
    at_ += skip + count;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<base::ParseError> error_;
};

}  // namespace

base::Result<std::vector<Token>> tokenize(std::string_view text) { return Lexer(text).run(); }

}  // namespace meridian::kube::cel
