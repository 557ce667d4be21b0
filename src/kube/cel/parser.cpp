// SPDX-License-Identifier: Apache-2.0
#include "kube/cel/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "kube/cel/token.h"

namespace meridian::kube::cel {
namespace {

using Kind = Node::Kind;
using NodePtr = std::shared_ptr<const Node>;

constexpr std::size_t longest_text = 10 * 1024;
constexpr int deepest = 64;

constexpr std::array<std::string_view, 19> reserved = {
    "as", "break", "const", "continue",  "else", "false",   "for",    "function", "if", "import",
    "in", "let",   "loop",  "namespace", "null", "package", "return", "true",     "var"};
constexpr std::array<std::string_view, 10> type_names = {
    "bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"};

template <class Names>
bool holds(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_reserved(std::string_view name) {
  return holds(reserved, name) || name == "void" || name == "while";
}

struct SyntaxError {
  base::ParseError error;
};

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Parsed run() {
    NodePtr root = expression();
    if (peek().kind != Token::Kind::end) unexpected();
    return {std::move(root), std::move(free_)};
  }

 private:
  // Counts how deep the parser itself is, so that no text exhausts the stack.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser_.level_ > deepest) parser_.fail(parser_.peek().offset, "nested too deep");
    }
    ~Level() { --parser_.level_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  Token take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool at(std::string_view symbol) const {
    return peek().kind == Token::Kind::symbol && peek().text == symbol;
  }
  bool skip(std::string_view symbol) {
    if (!at(symbol)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view symbol) {
    if (!skip(symbol)) unexpected(fmt::format(", '{}' is missing", symbol));
  }
  [[noreturn]] static void fail(std::size_t offset, std::string message) {
    throw SyntaxError{{.message = std::move(message), .offset = offset}};
  }
  [[noreturn]] void unexpected(std::string_view more = "") const {
    const bool is_end = peek().kind == Token::Kind::end;
    fail(peek().offset, is_end ? fmt::format("the expression ends too early{}", more)
                               : fmt::format("'{}' is not expected here{}", peek().text, more));
  }

  NodePtr finish(Node node) {
    for (const NodePtr& part : node.parts) node.depth = std::max(node.depth, part->depth + 1);
    if (node.depth > deepest) fail(node.offset, "nested too deep");
    return std::make_shared<const Node>(std::move(node));
  }
  NodePtr literal(std::size_t offset, Value value) {
    return finish({.kind = Kind::literal, .offset = offset, .literal = std::move(value)});
  }

  NodePtr expression() {
    const Level level(*this);
    NodePtr condition = joined(Kind::either, "||", &Parser::conjunction);
    const std::size_t offset = peek().offset;
    if (!skip("?")) return condition;
    NodePtr yes = joined(Kind::either, "||", &Parser::conjunction);
    expect(":");
    NodePtr no = expression();
    return finish({.kind = Kind::conditional, .offset = offset, .parts = {condition, yes, no}});
  }

  NodePtr conjunction() { return joined(Kind::both, "&&", &Parser::relation); }

  NodePtr joined(Kind kind, std::string_view symbol, NodePtr (Parser::*operand)()) {
    const std::size_t offset = peek().offset;
    NodePtr first = (this->*operand)();
    if (!at(symbol)) return first;
    Node out{.kind = kind, .offset = offset, .parts = {std::move(first)}};
    while (skip(symbol)) out.parts.push_back((this->*operand)());
    return finish(std::move(out));
  }

  NodePtr relation() {
    NodePtr left = chain("+-", &Parser::product);
    for (;;) {
      const bool is_in = peek().kind == Token::Kind::identifier && peek().text == "in";
      const bool compares =
          peek().kind == Token::Kind::symbol &&
          holds(std::array<std::string_view, 6>{"<", "<=", ">", ">=", "==", "!="}, peek().text);
      if (!is_in && !compares) return left;
      const Token symbol = take();
      NodePtr right = chain("+-", &Parser::product);
      left = finish({.kind = Kind::relation,
                     .offset = symbol.offset,
                     .name = symbol.text,
                     .parts = {std::move(left), std::move(right)}});
    }
  }

  NodePtr product() { return chain("*/%", &Parser::unary); }

  NodePtr chain(std::string_view symbols, NodePtr (Parser::*operand)()) {
    Node out{.kind = Kind::chain, .offset = peek().offset};
    out.parts.push_back((this->*operand)());
    while (peek().kind == Token::Kind::symbol && peek().text.size() == 1 &&
           symbols.find(peek().text) != std::string_view::npos) {
      out.operators += take().text;
      out.parts.push_back((this->*operand)());
    }
    return out.parts.size() == 1 ? out.parts[0] : finish(std::move(out));
  }

  NodePtr unary() {
    const std::size_t offset = peek().offset;
    if (at("!") || at("-")) {
      const std::string symbol = peek().text;
      std::size_t count = 0;
      while (skip(symbol)) ++count;
      // The sign of a number belongs to it: -9223372036854775808 has no positive counterpart.
      const bool number = peek().kind == Token::Kind::integer || peek().kind == Token::Kind::number;
      const bool negative = symbol == "-" && number;
      NodePtr out = member(negative ? Sign::negative : Sign::none);
      const Kind kind = symbol == "!" ? Kind::logical_not : Kind::negation;
      const std::size_t rest = count - (negative ? 1 : 0);
      // Pairs cancel out, but still say what type they expect.
      for (std::size_t i = 0; i < (rest > 2 ? 2 - rest % 2 : rest); ++i) {
        out = finish({.kind = kind, .offset = offset, .parts = {std::move(out)}});
      }
      return out;
    }
    return member(Sign::none);
  }

  enum class Sign { none, negative };

  NodePtr member(Sign sign) {
    NodePtr out = primary(sign);
    for (;;) {
      const std::size_t offset = peek().offset;
      if (skip("[")) {
        NodePtr key = expression();
        expect("]");
        out = finish(
            {.kind = Kind::index, .offset = offset, .parts = {std::move(out), std::move(key)}});
      } else if (skip(".")) {
        out = selected(std::move(out));
      } else {
        return out;
      }
    }
  }

  std::string identifier(std::string_view what) {
    if (peek().kind != Token::Kind::identifier) unexpected(fmt::format(", {} is missing", what));
    return take().text;
  }

  // After the dot: a member, a macro or a method.
  NodePtr selected(NodePtr of) {
    const std::size_t offset = peek().offset;
    const std::string name = identifier("a member's name");
    if (!at("(")) {
      if (is_reserved(name)) fail(offset, fmt::format("'{0}' is reserved; write __{0}__", name));
      return finish(
          {.kind = Kind::select, .offset = offset, .name = name, .parts = {std::move(of)}});
    }
    static constexpr std::array<std::string_view, 5> macros = {"all", "exists", "exists_one",
                                                               "filter", "map"};
    if (holds(macros, name)) return comprehension(offset, name, std::move(of));
    expect("(");
    std::vector<NodePtr> arguments{std::move(of)};
    list_until(")", arguments);
    return call(offset, name, Form::method, std::move(arguments));
  }

  NodePtr comprehension(std::size_t offset, const std::string& name, NodePtr range) {
    expect("(");
    const std::size_t variable_at = peek().offset;
    Node out{
        .kind = Kind::comprehension, .offset = offset, .name = name, .parts = {std::move(range)}};
    out.variable = identifier("a variable");
    if (is_reserved(out.variable)) fail(variable_at, fmt::format("'{}' is reserved", out.variable));
    expect(",");
    bound_.push_back(out.variable);
    out.parts.push_back(expression());
    if (name == "map" && skip(",")) out.parts.push_back(expression());
    bound_.pop_back();
    expect(")");
    return finish(std::move(out));
  }

  // Expressions up to the closing symbol, a last comma allowed where CEL allows it.
  void list_until(std::string_view close, std::vector<NodePtr>& out) {
    while (!skip(close)) {
      out.push_back(expression());
      if (skip(",")) {
        if (at(")")) unexpected();
        continue;
      }
      expect(close);
      return;
    }
  }

  NodePtr call(std::size_t offset, const std::string& name, Form form,
               std::vector<NodePtr> arguments) {
    const Function* function = find_function(name, form);
    if (function == nullptr) fail(offset, fmt::format("there is no function '{}'", name));
    if (arguments.size() < function->fewest || arguments.size() > function->most) {
      fail(offset, fmt::format("'{}' does not take {} arguments", name,
                               arguments.size() - (form == Form::method ? 1 : 0)));
    }
    Node out{.kind = Kind::call, .offset = offset, .name = name, .parts = std::move(arguments)};
    out.function = function;
    if (name == "matches" && out.parts[1]->kind == Kind::literal) compile_pattern(out);
    return finish(std::move(out));
  }

  static void compile_pattern(Node& node) {
    const Node& pattern = *node.parts[1];
    const auto* text = pattern.literal.as<std::string>();
    if (text == nullptr) return;
    auto regex = parse_regex(*text);
    if (!regex) fail(pattern.offset, "the pattern is none: " + regex.error().text());
    node.regex = std::move(*regex);
  }

  NodePtr primary(Sign sign) {
    const std::size_t offset = peek().offset;
    switch (peek().kind) {
      case Token::Kind::integer: return integer(take(), sign);
      case Token::Kind::unsigned_integer: return literal(offset, {take().integer});
      case Token::Kind::number: {
        const double number = take().number;
        return literal(offset, {sign == Sign::negative ? -number : number});
      }
      case Token::Kind::text: return literal(offset, make_text(take().text));
      case Token::Kind::bytes: return literal(offset, {Bytes{take().text}});
      case Token::Kind::identifier: return named();
      default: break;
    }
    if (skip("(")) {
      NodePtr out = expression();
      expect(")");
      return out;
    }
    if (skip("[")) {
      Node out{.kind = Kind::list, .offset = offset};
      list_until("]", out.parts);
      return finish(std::move(out));
    }
    if (skip("{")) return map(offset);
    if (skip(".")) return named();  // from the root of names, as all ours are
    unexpected();
  }

  NodePtr integer(const Token& token, Sign sign) {
    constexpr std::uint64_t largest = INT64_MAX;
    const bool negative = sign == Sign::negative;
    if (token.integer > largest + (negative ? 1 : 0)) {
      fail(token.offset, fmt::format("{} is no 64 bit integer", token.text));
    }
    const std::uint64_t bits = negative ? std::uint64_t{0} - token.integer : token.integer;
    return literal(token.offset, {static_cast<std::int64_t>(bits)});
  }

  NodePtr map(std::size_t offset) {
    Node out{.kind = Kind::map, .offset = offset};
    while (!skip("}")) {
      out.parts.push_back(expression());
      expect(":");
      out.parts.push_back(expression());
      if (skip(",")) continue;
      expect("}");
      break;
    }
    return finish(std::move(out));
  }

  NodePtr named() {
    const std::size_t offset = peek().offset;
    const std::string name = identifier("a name");
    if (name == "true" || name == "false") return literal(offset, {name == "true"});
    if (name == "null") return literal(offset, {Null{}});
    if (is_reserved(name)) fail(offset, fmt::format("'{}' is reserved", name));
    if (skip("(")) {
      if (name == "has") return presence(offset);
      std::vector<NodePtr> arguments;
      list_until(")", arguments);
      return call(offset, name, Form::global, std::move(arguments));
    }
    if (at("{")) fail(peek().offset, "messages cannot be made here");
    const bool bound = std::find(bound_.begin(), bound_.end(), name) != bound_.end();
    if (!bound) {
      const auto* type = std::find(type_names.begin(), type_names.end(), name);
      if (type != type_names.end()) return literal(offset, {TypeName{*type}});
      free_.insert(name);
    }
    return finish({.kind = Kind::variable, .offset = offset, .name = name});
  }

  NodePtr presence(std::size_t offset) {
    const NodePtr asked = expression();
    expect(")");
    if (asked->kind != Kind::select) fail(offset, "has() asks for a member: has(a.b)");
    Node out = *asked;
    out.kind = Kind::has;
    return finish(std::move(out));
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int level_ = 0;
  std::vector<std::string> bound_;
  std::set<std::string, std::less<>> free_;
};

}  // namespace

base::Result<Parsed> parse(std::string_view text) {
  if (text.size() > longest_text) {
    return base::ParseError{.message = fmt::format("longer than {} bytes", longest_text)};
  }
  if (!base::is_valid_utf8(text)) return base::ParseError{.message = "the text is no UTF-8"};
  auto tokens = tokenize(text);
  if (!tokens) return tokens.error();
  try {
    return Parser(std::move(*tokens)).run();
  } catch (SyntaxError& failure) {
    return std::move(failure.error);
  }
}

}  // namespace meridian::kube::cel
