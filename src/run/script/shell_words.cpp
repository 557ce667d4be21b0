// SPDX-License-Identifier: Apache-2.0
#include "run/script/shell_words.h"

#include "base/strings.h"

namespace meridian::run {
namespace {

constexpr std::string_view kSafe =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+@%^";

// Reads one character of a word, quotes removed; at `i` afterwards is the next unread one.
class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  base::Result<std::vector<std::string>> split() {
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if (quote_ == 0 && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
        end_word();
      } else if (c == quote_) {
        quote_ = 0;
      } else if (quote_ == 0 && (c == '\'' || c == '"')) {
        quote_ = c;
        quote_start_ = i;
        in_word_ = true;
      } else if (c == '\\' && quote_ != '\'' && i + 1 < text_.size() && escapes(text_[i + 1])) {
        add(text_[++i]);
      } else {
        add(c);
      }
    }
    if (quote_ != 0) {
      return base::ParseError{std::string("the quote ") + quote_ + " is never closed",
                              quote_start_};
    }
    end_word();
    return std::move(words_);
  }

 private:
  bool escapes(char next) const {
    return quote_ == 0 || std::string_view("$`\"\\\n").find(next) != std::string_view::npos;
  }
  void add(char c) {
    word_ += c;
    in_word_ = true;
  }
  void end_word() {
    if (in_word_) words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  const std::string_view text_;
  std::vector<std::string> words_;
  std::string word_;
  bool in_word_ = false;
  char quote_ = 0;
  std::size_t quote_start_ = 0;
};

}  // namespace

base::Result<std::vector<std::string>> parse_shell_words(std::string_view text) {
  return Splitter(text).split();
}

std::string quote_shell_words(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) {
    if (!word.empty() && word.find_first_not_of(kSafe) == std::string::npos) {
      quoted.push_back(word);
    } else {
      quoted.push_back("'" + base::replace_all(word, "'", "'\\''") + "'");
    }
  }
  return base::join(quoted, " ");
}

}  // namespace meridian::run
