// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <optional>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/strings.h"
#include "region/telemetry/filter_pattern.h"

namespace meridian::region::telemetry {
namespace {

using Parsed = base::Result<std::shared_ptr<const MessageFilter>>;
using Step = std::variant<std::string, std::size_t>;  // member or element

const base::Json* follow(const base::Json& from, const std::vector<Step>& path) {
  const base::Json* at = &from;
  for (const Step& step : path) {
    if (const auto* name = std::get_if<std::string>(&step)) {
      const auto* object = at->if_object();
      at = object ? object->if_contains(*name) : nullptr;
    } else {
      const auto* array = at->if_array();
      const std::size_t index = std::get<std::size_t>(step);
      at = array && index < array->size() ? &(*array)[index] : nullptr;
    }
    if (!at) return nullptr;
  }
  return at;
}

// '*' stands for any text.
bool like(std::string_view text, std::string_view pattern) {
  std::size_t t = 0, p = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

struct Node {
  enum class Kind {
    both,
    either,
    equal,
    unequal,
    less,
    at_most,
    more,
    at_least,
    null,
    yes,
    no,
    absent
  };
  Kind kind = Kind::both;
  std::vector<Node> parts;  // of both, either
  std::vector<Step> path;
  std::string text;
  std::optional<double> number;

  bool holds(const base::Json& message) const;
  bool compares(const base::Json& value) const;
};

bool Node::compares(const base::Json& value) const {
  if (number && value.is_number()) {
    const auto have = value.to_number<double>();
    switch (kind) {
      case Kind::equal: return have == *number;
      case Kind::unequal: return have != *number;
      case Kind::less: return have < *number;
      case Kind::at_most: return have <= *number;
      case Kind::more: return have > *number;
      default: return have >= *number;
    }
  }
  if (kind != Kind::equal && kind != Kind::unequal) return false;
  const bool same = value.is_string() && like(base::view(value.as_string()), text);
  return same == (kind == Kind::equal);
}

bool Node::holds(const base::Json& message) const {
  if (kind == Kind::both || kind == Kind::either) {
    for (const Node& part : parts)
      if (part.holds(message) == (kind == Kind::either)) return kind == Kind::either;
    return kind == Kind::both;
  }
  const base::Json* value = follow(message, path);
  if (kind == Kind::absent) return value == nullptr;
  if (!value) return false;
  if (kind == Kind::null) return value->is_null();
  if (kind == Kind::yes || kind == Kind::no)
    return value->is_bool() && value->as_bool() == (kind == Kind::yes);
  return compares(*value);
}

class JsonFilter final : public MessageFilter {
 public:
  explicit JsonFilter(Node root) : root_(std::move(root)) {}
  bool matches(std::string_view message) const override {
    if (!base::trim(message).starts_with('{')) return false;
    const auto json = base::parse_json(message);
    return json.ok() && root_.holds(*json);
  }

 private:
  Node root_;
};

// Recursive descent over the text between the braces.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Parsed parse() {
    Node root = either(0);
    skip();
    if (error_.empty() && at_ < text_.size()) fail("something is left over");
    if (!error_.empty()) return base::ParseError{error_, at_ + 1};
    return std::shared_ptr<const MessageFilter>(std::make_shared<JsonFilter>(std::move(root)));
  }

 private:
  static constexpr int deepest = 16;

  void fail(const std::string& why) {
    if (error_.empty()) error_ = why;
  }
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(std::string_view word) {
    skip();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  Node either(int depth) { return chain(depth, Node::Kind::either, "||"); }
  Node chain(int depth, Node::Kind kind, std::string_view joint) {
    Node node{.kind = kind};
    do {
      node.parts.push_back(kind == Node::Kind::either ? chain(depth, Node::Kind::both, "&&")
                                                      : condition(depth));
    } while (error_.empty() && take(joint));
    return node;
  }
  Node condition(int depth) {
    if (!take("(")) return comparison();
    if (depth == deepest) {
      fail("too many parentheses");
      return {};
    }
    Node inner = either(depth + 1);
    if (!take(")")) fail("a ')' is missing");
    return inner;
  }
  Node comparison() {
    Node node;
    if (!take("$")) {
      fail("a field like $.name is missing");
      return node;
    }
    path(node.path);
    if (!take_word_test(node)) take_operator(node);
    return node;
  }
  void path(std::vector<Step>& out) {
    while (at_ < text_.size()) {
      if (text_[at_] == '.') {
        ++at_;
        const std::size_t start = at_;
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                      text_[at_] == '_' || text_[at_] == '-'))
          ++at_;
        if (at_ == start) return fail("a name is missing after '.'");
        out.emplace_back(std::string(text_.substr(start, at_ - start)));
      } else if (text_[at_] == '[') {
        const std::size_t end = text_.find(']', at_);
        const auto index = end == std::string_view::npos
                               ? std::nullopt
                               : base::to_uint(text_.substr(at_ + 1, end - at_ - 1));
        if (!index) return fail("[ must hold a number and end with ]");
        out.emplace_back(static_cast<std::size_t>(*index));
        at_ = end + 1;
      } else {
        return;
      }
    }
  }
  bool take_word_test(Node& node) {
    if (take("IS")) {
      if (take("NULL")) {
        node.kind = Node::Kind::null;
      } else if (take("TRUE")) {
        node.kind = Node::Kind::yes;
      } else if (take("FALSE")) {
        node.kind = Node::Kind::no;
      } else {
        fail("IS is followed by NULL, TRUE or FALSE");
      }
      return true;
    }
    if (!take("NOT")) return false;
    if (!take("EXISTS")) fail("NOT is followed by EXISTS");
    node.kind = Node::Kind::absent;
    return true;
  }
  void take_operator(Node& node) {
    using Kind = Node::Kind;
    static constexpr std::pair<std::string_view, Kind> operators[] = {
        {"!=", Kind::unequal}, {"<=", Kind::at_most}, {">=", Kind::at_least},
        {"=", Kind::equal},    {"<", Kind::less},     {">", Kind::more}};
    for (const auto& [sign, kind] : operators)
      if (take(sign)) {
        node.kind = kind;
        return value(node);
      }
    fail("one of = != < <= > >= IS NOT is missing");
  }
  void value(Node& node) {
    skip();
    if (at_ < text_.size() && text_[at_] == '"') {
      for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
        if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
        node.text += text_[at_];
      }
      if (at_ == text_.size()) return fail("the quote does not end");
      ++at_;
      return;
    }
    while (at_ < text_.size() && !std::isspace(static_cast<unsigned char>(text_[at_])) &&
           std::string_view(")&|").find(text_[at_]) == std::string_view::npos)
      node.text += text_[at_++];
    if (node.text.empty()) return fail("a value is missing");
    node.number = base::to_double(node.text);
    const bool ordered = node.kind != Node::Kind::equal && node.kind != Node::Kind::unequal;
    if (ordered && !node.number) fail("'" + node.text + "' is not a number");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string error_;
};

}  // namespace

Parsed parse_json_filter(std::string_view pattern) {
  if (pattern.size() < 2 || pattern.front() != '{' || pattern.back() != '}')
    return base::ParseError{"a '}' is missing"};
  return Parser(pattern.substr(1, pattern.size() - 2)).parse();
}

}  // namespace meridian::region::telemetry
