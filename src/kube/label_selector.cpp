// The grammar of label selectors: requirements joined by commas, values bare or in brackets.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "kube/labels.h"
#include "kube/object.h"
#include "kube/selector.h"

namespace meridian::kube {
namespace {

using Operator = Requirement::Operator;
constexpr std::size_t longest_text = 16 * 1024;
constexpr std::size_t most_requirements = 1'000;

struct Token {
  enum class Kind { word, symbol, end } kind;
  std::string_view text;
  std::size_t offset;
};

bool is_symbol_start(char c) {
  return std::string_view("(),!=<>").find(c) != std::string_view::npos;
}
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }
  const Token& peek() const { return token_; }
  Token take() {
    const Token out = token_;
    advance();
    return out;
  }
  // Takes the token when it is this symbol.
  bool skip(std::string_view symbol) {
    if (token_.kind != Token::Kind::symbol || token_.text != symbol) return false;
    advance();
    return true;
  }

 private:
  void advance() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    const std::size_t start = at_;
    if (start == text_.size()) {
      token_ = {Token::Kind::end, "", start};
      return;
    }
    if (is_symbol_start(text_[at_])) {
      const std::string_view two = text_.substr(at_, 2);
      at_ += two == "==" || two == "!=" ? 2 : 1;
      token_ = {Token::Kind::symbol, text_.substr(start, at_ - start), start};
      return;
    }
    while (at_ < text_.size() && !is_symbol_start(text_[at_]) && !is_blank(text_[at_])) ++at_;
    token_ = {Token::Kind::word, text_.substr(start, at_ - start), start};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Token token_{Token::Kind::end, "", 0};
};

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  base::Result<std::vector<Requirement>> parse() {
    std::vector<Requirement> out;
    if (lexer_.peek().kind == Token::Kind::end) return out;
    for (;;) {
      if (out.size() == most_requirements) {
        fail(fmt::format("more than {} requirements", most_requirements));
      } else {
        requirement(out.emplace_back());
      }
      if (error_) return *error_;
      if (lexer_.peek().kind == Token::Kind::end) return out;
      if (!lexer_.skip(",")) return unexpected("',' or the end");
    }
  }

 private:
  void fail(std::string message) { fail_at(lexer_.peek().offset, std::move(message)); }
  void fail_at(std::size_t offset, std::string message) {
    if (!error_) error_ = base::ParseError{.message = std::move(message), .offset = offset};
  }
  base::ParseError unexpected(std::string_view wanted) {
    const Token& token = lexer_.peek();
    const std::string found =
        token.kind == Token::Kind::end ? "the end" : fmt::format("'{}'", token.text);
    fail(fmt::format("found {}, expected {}", found, wanted));
    return *error_;
  }

  void requirement(Requirement& out) {
    const bool negated = lexer_.skip("!");
    out.key = key();
    if (error_) return;
    if (negated) {
      out.op = Operator::does_not_exist;
      return;
    }
    const Token& next = lexer_.peek();
    if (next.kind == Token::Kind::end || next.text == ",") {
      out.op = Operator::exists;
    } else if (next.kind == Token::Kind::word) {
      set_operator(out);
    } else {
      comparison(out);
    }
  }

  std::string key() {
    if (lexer_.peek().kind != Token::Kind::word) {
      unexpected("a label's key");
      return "";
    }
    const Token token = lexer_.take();
    if (const auto why = why_not_label_key(token.text)) {
      fail_at(token.offset, fmt::format("'{}' is no label key: {}", token.text, *why));
    }
    return std::string(token.text);
  }

  void set_operator(Requirement& out) {
    if (lexer_.peek().text != "in" && lexer_.peek().text != "notin") {
      unexpected("'in', 'notin', '=', '==', '!=', '<', '>', ',' or the end");
      return;
    }
    out.op = lexer_.take().text == "in" ? Operator::in : Operator::not_in;
    if (!lexer_.skip("(")) {
      unexpected("'('");
      return;
    }
    if (lexer_.skip(")")) {
      fail("'in' and 'notin' need at least one value");
      return;
    }
    do {
      out.values.push_back(value());
      if (error_) return;
    } while (lexer_.skip(","));
    if (!lexer_.skip(")")) unexpected("',' or ')'");
  }

  void comparison(Requirement& out) {
    if (lexer_.skip("=") || lexer_.skip("==")) {
      out.op = Operator::in;
    } else if (lexer_.skip("!=")) {
      out.op = Operator::not_in;
    } else if (lexer_.skip(">")) {
      out.op = Operator::greater;
    } else if (lexer_.skip("<")) {
      out.op = Operator::less;
    } else {
      unexpected("an operator");
      return;
    }
    const std::size_t offset = lexer_.peek().offset;
    out.values.push_back(value());
    const bool ordered = out.op == Operator::greater || out.op == Operator::less;
    if (ordered && !base::to_int(out.values.front())) {
      fail_at(offset,
              fmt::format("'{}' is no integer, which '<' and '>' need", out.values.front()));
    }
  }

  // May be empty: "a=", "a in (,)".
  std::string value() {
    if (lexer_.peek().kind != Token::Kind::word) return "";
    const Token token = lexer_.take();
    if (const auto why = why_not_label_value(token.text)) {
      fail_at(token.offset, fmt::format("'{}' is no label value: {}", token.text, *why));
    }
    return std::string(token.text);
  }

  Lexer lexer_;
  std::optional<base::ParseError> error_;
};

bool holds(const Requirement& requirement, const std::optional<std::string>& label) {
  const auto listed = [&] {
    return std::find(requirement.values.begin(), requirement.values.end(), *label) !=
           requirement.values.end();
  };
  const auto compared = [&](auto compare) {
    const auto number = label ? base::to_int(*label) : std::nullopt;
    return number && compare(*number, *base::to_int(requirement.values.front()));
  };
  switch (requirement.op) {
    case Operator::in: return label && listed();
    case Operator::not_in: return !label || !listed();
    case Operator::exists: return label.has_value();
    case Operator::does_not_exist: return !label;
    case Operator::greater: return compared(std::greater<>());
    case Operator::less: return compared(std::less<>());
  }
  std::abort();
}

}  // namespace

bool LabelSelector::matches(const base::Json& object) const {
  return std::all_of(requirements_.begin(), requirements_.end(), [&](const Requirement& one) {
    return holds(one, find_label(object, one.key));
  });
}

base::Result<LabelSelector> parse_label_selector(std::string_view text) {
  if (text.size() > longest_text) {
    return base::ParseError{.message = fmt::format("longer than {} bytes", longest_text)};
  }
  auto requirements = Parser(text).parse();
  if (!requirements) return requirements.error();
  LabelSelector out;
  out.requirements_ = std::move(*requirements);
  return out;
}

}  // namespace meridian::kube
