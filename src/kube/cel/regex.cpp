// SPDX-License-Identifier: Apache-2.0
#define PCRE2_CODE_UNIT_WIDTH 8
#include "kube/cel/regex.h"

#include <fmt/format.h>
#include <pcre2.h>

#include <algorithm>
#include <array>

namespace meridian::kube {
namespace {

constexpr std::size_t longest_pattern = 4096;
constexpr unsigned most_repeats = 1000;  // RE2's own
// Steps of the search per byte of text, and at most: enough for what is not exponential.
constexpr std::size_t steps_per_byte = 200;
constexpr std::size_t most_steps = 1'000'000;
constexpr std::uint32_t heap_limit_kib = 20'000;

struct FreeMatch {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};
struct FreeContext {
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Escapes that mean something to PCRE2 and nothing to RE2.
bool is_foreign_escape(char c) {
  return (c >= '1' && c <= '9') ||
         std::string_view("GgKkRXZhHNuLlUE").find(c) != std::string_view::npos;
}

// "(?" is followed by a group's name, flags or ':' in RE2.
bool is_foreign_group(std::string_view rest) {
  if (rest.starts_with("(*")) return true;
  if (!rest.starts_with("(?") || rest.size() < 3) return false;
  if (rest.starts_with("(?P<")) return false;
  return std::string_view("imsU-:").find(rest[2]) == std::string_view::npos;
}

// The end of "{n}", "{n,}" or "{n,m}" at `at`, and whether a count is too large; at itself when the
// brace is a plain character.
struct Repeat {
  std::size_t end;
  bool too_many = false;
};
Repeat read_repeat(std::string_view pattern, std::size_t at) {
  Repeat out{at};
  unsigned count = 0;
  bool any = false;
  for (std::size_t i = at + 1; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (is_digit(c)) {
      count = std::min(count * 10 + static_cast<unsigned>(c - '0'), most_repeats + 1);
      out.too_many |= count > most_repeats;
      any = true;
    } else if (c == ',' && any) {
      count = 0;
    } else if (c == '}' && any) {
      out.end = i + 1;
      return out;
    } else {
      break;
    }
  }
  return {at};
}

// Where the pattern leaves RE2's syntax, and why.
class Re2Check {
 public:
  explicit Re2Check(std::string_view pattern) : pattern_(pattern) {}

  std::optional<base::ParseError> run() {
    while (at_ < pattern_.size() && !error_) step();
    return error_;
  }

 private:
  void fail(std::string message) {
    error_ = base::ParseError{.message = std::move(message), .offset = at_};
  }

  void step() {
    const char c = pattern_[at_];
    if (c == '\\') return escape();
    if (c == '[') return brackets();
    if (c == '(') {
      if (is_foreign_group(pattern_.substr(at_))) fail("this kind of group is not supported");
      ++at_;
    } else if (c == '*' || c == '+' || c == '?') {
      ++at_;
      quantified();
    } else if (c == '{') {
      const Repeat repeat = read_repeat(pattern_, at_);
      if (repeat.too_many) fail(fmt::format("a repeat count is over {}", most_repeats));
      if (repeat.end > at_) {
        at_ = repeat.end;
        quantified();
      } else {
        ++at_;
      }
    } else {
      ++at_;
    }
  }

  // After a quantifier: '?' makes it lazy; another one is an error of RE2.
  void quantified() {
    if (at_ < pattern_.size() && pattern_[at_] == '?') ++at_;
    if (at_ < pattern_.size() &&
        std::string_view("*+?").find(pattern_[at_]) != std::string_view::npos) {
      fail("a quantifier after a quantifier");
    }
  }

  void escape() {
    if (at_ + 1 < pattern_.size() && is_foreign_escape(pattern_[at_ + 1])) {
      fail(fmt::format("'\\{}' is not supported", pattern_[at_ + 1]));
    }
    if (pattern_.substr(at_, 2) == "\\Q") {
      const std::size_t end = pattern_.find("\\E", at_);
      at_ = end == std::string_view::npos ? pattern_.size() : end + 2;
    } else {
      at_ += 2;
    }
  }

  void brackets() {
    ++at_;
    if (at_ < pattern_.size() && pattern_[at_] == '^') ++at_;
    for (bool first = true; at_ < pattern_.size(); first = false) {
      if (pattern_[at_] == ']' && !first) {
        ++at_;
        return;
      }
      const std::size_t posix = pattern_.substr(at_).starts_with("[:") ? pattern_.find(":]", at_)
                                                                       : std::string_view::npos;
      if (posix != std::string_view::npos) {
        at_ = posix + 2;
      } else {
        at_ += pattern_[at_] == '\\' ? 2 : 1;
      }
    }
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  std::optional<base::ParseError> error_;
};

}  // namespace

struct Regex::Code {
  pcre2_code* code;
  explicit Code(pcre2_code* c) : code(c) {}
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() { pcre2_code_free(code); }
};

base::Result<Regex> parse_regex(std::string_view pattern) {
  if (pattern.size() > longest_pattern) {
    return base::ParseError{.message = fmt::format("longer than {} bytes", longest_pattern)};
  }
  if (const auto error = Re2Check(pattern).run()) return *error;
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                   PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C,
                                   &error, &offset, nullptr);
  if (code == nullptr) {
    std::array<PCRE2_UCHAR, 256> text{};
    pcre2_get_error_message(error, text.data(), text.size());
    return base::ParseError{.message = reinterpret_cast<const char*>(text.data()),
                            .offset = std::min(offset, pattern.size())};
  }
  return Regex(std::make_shared<Regex::Code>(code));
}

namespace {

// One search from `start` on; what pcre2_match answers.
int search(const pcre2_code* code, std::string_view text, std::size_t start,
           pcre2_match_data* data) {
  const std::unique_ptr<pcre2_match_context, FreeContext> context(
      pcre2_match_context_create(nullptr));
  pcre2_set_match_limit(context.get(), static_cast<std::uint32_t>(std::min(
                                           (text.size() + 50) * steps_per_byte, most_steps)));
  pcre2_set_heap_limit(context.get(), heap_limit_kib);
  return pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), start, 0, data,
                     context.get());
}

// The start of the character after the one at `at`.
std::size_t next_character(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && (text[at] & 0xc0) == 0x80;) ++at;
  return at;
}

}  // namespace

std::optional<bool> Regex::finds(std::string_view text) const {
  const std::unique_ptr<pcre2_match_data, FreeMatch> data(pcre2_match_data_create(1, nullptr));
  const int found = search(code_->code, text, 0, data.get());
  if (found >= 0) return true;
  return found == PCRE2_ERROR_NOMATCH ? std::optional(false) : std::nullopt;
}

std::optional<std::vector<std::string>> Regex::find_all(std::string_view text,
                                                        std::size_t most) const {
  const std::unique_ptr<pcre2_match_data, FreeMatch> data(pcre2_match_data_create(1, nullptr));
  std::vector<std::string> out;
  std::size_t at = 0;
  while (at <= text.size() && out.size() < most) {
    const int found = search(code_->code, text, at, data.get());
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) return std::nullopt;
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(data.get());
    out.emplace_back(text.substr(ends[0], ends[1] - ends[0]));
    at = ends[1] > ends[0] ? ends[1] : next_character(text, ends[1]);
  }
  return out;
}

}  // namespace meridian::kube
