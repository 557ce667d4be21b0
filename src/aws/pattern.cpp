// SPDX-License-Identifier: Apache-2.0
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "aws/model.h"
#include "base/error.h"
#include "base/strings.h"

namespace meridian::aws {
namespace {

struct FreeCode {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct FreeMatch {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};
struct FreeContext {
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};
using Code = std::unique_ptr<pcre2_code, FreeCode>;

// Java's POSIX classes, as ranges that stand inside brackets.
struct PosixClass {
  std::string_view java, ranges;
};
constexpr PosixClass posix_classes[] = {{"\\p{Print}", "\\x20-\\x7E"},
                                        {"\\p{ASCII}", "\\x00-\\x7F"},
                                        {"\\p{Alnum}", "a-zA-Z0-9"},
                                        {"\\p{Alpha}", "a-zA-Z"}};

// The few constructs of the models that Java's engine has and PCRE2 spells otherwise.
std::string translated(std::string_view java) {
  std::string text =  // pairs of surrogates: everything past U+FFFF
      base::replace_all(java, "\\uD800\\uDC00-\\uDBFF\\uDFFF", "\xF0\x90\x80\x80-\xF4\x8F\xBF\xBF");
  for (const std::string_view repeated : {"${1,128}", "${1,256}"}) {  // one end is as good as many
    if (text.ends_with(repeated)) text.resize(text.size() - repeated.size() + 1);
  }
  std::string out;
  bool in_brackets = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool replaced = false;
    for (const auto& posix : posix_classes) {
      if (std::string_view(text).substr(i, posix.java.size()) != posix.java) continue;
      out += in_brackets ? std::string(posix.ranges) : "[" + std::string(posix.ranges) + "]";
      i += posix.java.size() - 1;
      replaced = true;
    }
    if (replaced) continue;
    out += text[i];
    if (text[i] == '\\' && i + 1 < text.size()) {
      out += text[++i];
    } else if (text[i] == '[') {
      in_brackets = true;
    } else if (text[i] == ']') {
      in_brackets = false;
    }
  }
  return out;
}

Code compile(const std::string& java) {
  const std::string pattern = translated(java);
  int error = 0;
  PCRE2_SIZE offset = 0;
  // ALT_BSUX: \uXXXX as in Java, from whose syntax the patterns of the models come.
  const std::uint32_t options =
      PCRE2_UTF | PCRE2_ALT_BSUX | PCRE2_DOLLAR_ENDONLY | PCRE2_ANCHORED | PCRE2_ENDANCHORED;
  Code code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), options,
                          &error, &offset, nullptr));
  if (code) return code;
  throw base::Error(base::Code::internal, "API model: pattern '" + pattern + "' is not understood");
}

// Compiled once per pattern; the models have a few hundred.
const pcre2_code* compiled(const std::string& pattern) {
  static std::shared_mutex guard;
  static std::map<std::string, Code> cache;
  {
    const std::shared_lock lock(guard);
    if (const auto found = cache.find(pattern); found != cache.end()) return found->second.get();
  }
  Code code = compile(pattern);
  const std::unique_lock lock(guard);
  return cache.try_emplace(pattern, std::move(code)).first->second.get();
}

// What a match needs beside the pattern. No pattern's groups are looked at.
struct Scratch {
  std::unique_ptr<pcre2_match_data, FreeMatch> data{pcre2_match_data_create(1, nullptr)};
  std::unique_ptr<pcre2_match_context, FreeContext> context{pcre2_match_context_create(nullptr)};
  Scratch() {
    pcre2_set_match_limit(context.get(), 1'000'000);
    pcre2_set_heap_limit(context.get(), 20'000);  // KiB
  }
};

}  // namespace

bool matches_pattern(const std::string& pattern, std::string_view text) {
  static thread_local const Scratch scratch;
  return pcre2_match(compiled(pattern), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0,
                     0, scratch.data.get(), scratch.context.get()) >= 0;
}

}  // namespace meridian::aws
