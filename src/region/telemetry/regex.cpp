// SPDX-License-Identifier: Apache-2.0
#define PCRE2_CODE_UNIT_WIDTH 8
#include "region/telemetry/regex.h"

#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace meridian::region::telemetry {
namespace {

constexpr std::uint32_t match_limit = 1'000'000;
constexpr std::uint32_t depth_limit = 10'000;
constexpr std::uint32_t heap_limit_kib = 16 * 1024;
constexpr std::size_t jit_stack_most = 1u << 20;
constexpr std::size_t longest_pattern = 4096;

struct FreeCode {
  void operator()(pcre2_code* p) const { pcre2_code_free(p); }
};
struct FreeData {
  void operator()(pcre2_match_data* p) const { pcre2_match_data_free(p); }
};
struct FreeContext {
  void operator()(pcre2_match_context* p) const { pcre2_match_context_free(p); }
};
struct FreeStack {
  void operator()(pcre2_jit_stack* p) const { pcre2_jit_stack_free(p); }
};

std::string error_text(int code) {
  std::array<PCRE2_UCHAR, 256> buffer{};
  pcre2_get_error_message(code, buffer.data(), buffer.size());
  return reinterpret_cast<const char*>(buffer.data());
}

// The stack of matches that run on this thread. Small until a match needs more.
pcre2_jit_stack* thread_stack() {
  thread_local const std::unique_ptr<pcre2_jit_stack, FreeStack> stack(
      pcre2_jit_stack_create(32 * 1024, jit_stack_most, nullptr));
  return stack.get();
}

bool all_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// An escape that starts at pattern[at] == '\\': appends its PCRE2 form, returns its length.
std::size_t translate_escape(std::string_view pattern, std::size_t at, std::string& out) {
  if (at + 1 >= pattern.size()) {
    out += '\\';
    return 1;
  }
  const char kind = pattern[at + 1];
  const std::size_t digits = kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
  if (digits > 0 && at + 2 + digits <= pattern.size() && all_hex(pattern.substr(at + 2, digits))) {
    out += "\\x{" + std::string(pattern.substr(at + 2, digits)) + "}";
    return 2 + digits;
  }
  out += '\\';
  out += kind == 'Z' ? 'z' : kind;
  return 2;
}

// Flags after "(?": copies them without Python's a, L and u, returns their length.
std::size_t translate_flags(std::string_view pattern, std::size_t at, std::string& out) {
  std::size_t end = at;
  while (end < pattern.size() &&
         (std::isalpha(static_cast<unsigned char>(pattern[end])) != 0 || pattern[end] == '-'))
    ++end;
  if (end == at || end >= pattern.size() || (pattern[end] != ')' && pattern[end] != ':')) return 0;
  for (const char c : pattern.substr(at, end - at))
    if (c != 'a' && c != 'L' && c != 'u') out += c;
  return end - at;
}

}  // namespace

std::string from_python_notation(std::string_view pattern) {
  std::string out;
  bool in_class = false;
  std::size_t class_start = 0;
  for (std::size_t at = 0; at < pattern.size();) {
    const char c = pattern[at];
    if (c == '\\') {
      at += translate_escape(pattern, at, out);
      continue;
    }
    out += c;
    ++at;
    if (in_class) {
      if (c == ']' && at - 1 > class_start) in_class = false;
    } else if (c == '[') {
      in_class = true;
      class_start = at < pattern.size() && pattern[at] == '^' ? at + 1 : at;
    } else if (c == '{' && at < pattern.size() && pattern[at] == ',') {
      out += '0';
    } else if (c == '(' && at < pattern.size() && pattern[at] == '?') {
      out += '?';
      ++at;
      at += translate_flags(pattern, at, out);
    }
  }
  return out;
}

struct Regex::State {
  std::unique_ptr<pcre2_code, FreeCode> code;
  std::unique_ptr<pcre2_match_data, FreeData> data;
  std::unique_ptr<pcre2_match_context, FreeContext> context;
  std::uint32_t groups = 0;
  std::vector<GroupSpan> spans;
};

Regex::Regex() : state_(std::make_unique<State>()) {}
Regex::~Regex() = default;
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;

base::Result<Regex> Regex::compile(std::string_view pattern, RegexOption option) {
  if (pattern.size() > longest_pattern)
    return base::ParseError{"longer than " + std::to_string(longest_pattern) + " bytes"};
  const std::string translated = from_python_notation(pattern);
  std::uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C;
  if (option == RegexOption::ignore_case) options |= PCRE2_CASELESS;
  int code = 0;
  PCRE2_SIZE offset = 0;
  Regex regex;
  regex.state_->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()),
                                         translated.size(), options, &code, &offset, nullptr));
  if (!regex.state_->code) return base::ParseError{error_text(code), offset};
  State& state = *regex.state_;
  pcre2_jit_compile(state.code.get(), PCRE2_JIT_COMPLETE);  // refused: interpreted, same result
  state.data.reset(pcre2_match_data_create_from_pattern(state.code.get(), nullptr));
  state.context.reset(pcre2_match_context_create(nullptr));
  pcre2_set_match_limit(state.context.get(), match_limit);
  pcre2_set_depth_limit(state.context.get(), depth_limit);
  pcre2_set_heap_limit(state.context.get(), heap_limit_kib);
  pcre2_pattern_info(state.code.get(), PCRE2_INFO_CAPTURECOUNT, &state.groups);
  return regex;
}

Regex::Outcome Regex::search(std::string_view subject, std::size_t start) {
  State& state = *state_;
  pcre2_jit_stack_assign(state.context.get(), nullptr, thread_stack());
  const int count = pcre2_match(state.code.get(), reinterpret_cast<PCRE2_SPTR>(subject.data()),
                                subject.size(), start, 0, state.data.get(), state.context.get());
  if (count == PCRE2_ERROR_NOMATCH || count == PCRE2_ERROR_BADUTFOFFSET) return Outcome::no_match;
  if (count < 0) return Outcome::too_expensive;
  const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(state.data.get());
  state.spans.assign(state.groups + 1, std::nullopt);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count) && i < state.spans.size(); ++i) {
    const PCRE2_SIZE from = ends[2 * i], to = ends[2 * i + 1];
    // \K in a look-around can put the start behind the end: such a group is not usable.
    if (from == PCRE2_UNSET || to == PCRE2_UNSET || from > to) continue;
    state.spans[i] = std::pair<std::size_t, std::size_t>(from, to);
  }
  return state.spans[0] ? Outcome::match : Outcome::no_match;
}

const std::vector<GroupSpan>& Regex::groups() const { return state_->spans; }
std::size_t Regex::group_count() const { return state_->groups; }

std::optional<std::size_t> Regex::group_named(const std::string& name) const {
  const int number = pcre2_substring_number_from_name(state_->code.get(),
                                                      reinterpret_cast<PCRE2_SPTR>(name.c_str()));
  if (number <= 0) return std::nullopt;
  return static_cast<std::size_t>(number);
}

}  // namespace meridian::region::telemetry
