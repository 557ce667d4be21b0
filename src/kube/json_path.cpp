// SPDX-License-Identifier: Apache-2.0
#include "kube/json_path.h"

#include <fmt/format.h>

#include <optional>

#include "base/strings.h"
#include "kube/value.h"

namespace meridian::kube {

using base::Json;
using base::JsonArray;

namespace {
constexpr std::size_t longest_text = 1024;
constexpr std::size_t most_steps = 32;
}  // namespace

class JsonPathParser {
 public:
  explicit JsonPathParser(std::string_view text) : text_(text) {}

  base::Result<JsonPath> parse() {
    if (text_.size() > longest_text) fail("longer than 1024 bytes");
    const bool braced = text_.starts_with("{") && text_.ends_with("}");
    const std::size_t end = text_.size() - (braced ? 1 : 0);
    at_ = braced ? 1 : 0;
    text_ = text_.substr(0, end);
    if (at_ < end && text_[at_] == '$') ++at_;
    if (at_ == end) fail("empty");
    while (at_ < end && !error_) {
      step();
      if (out_.steps_.size() > most_steps) fail("more than 32 steps");
    }
    if (error_) return *error_;
    return std::move(out_);
  }

 private:
  using Step = JsonPath::Step;

  void fail(std::string message) {
    if (!error_) error_ = base::ParseError{.message = std::move(message), .offset = at_};
  }
  bool skip(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  void step() {
    if (skip("[")) {
      brackets();
    } else if (skip(".")) {
      if (at_ < text_.size() && text_[at_] == '[') return;
      if (skip("*")) {
        out_.steps_.push_back({.kind = Step::Kind::every});
      } else {
        member();
      }
    } else {
      fail("expected '.' or '['");
    }
  }

  void member() {
    std::string name;
    while (at_ < text_.size() && text_[at_] != '.' && text_[at_] != '[') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      name += text_[at_++];
    }
    if (name.empty()) fail("a name is missing");
    out_.steps_.push_back({.kind = Step::Kind::member, .name = std::move(name)});
  }

  void brackets() {
    if (skip("*]")) {
      out_.steps_.push_back({.kind = Step::Kind::every});
    } else if (skip("?(@.")) {
      where();
    } else if (at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"')) {
      out_.steps_.push_back({.kind = Step::Kind::member, .name = quoted()});
      if (!skip("]")) fail("expected ']'");
    } else {
      index();
    }
  }

  std::string quoted() {
    const std::size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) {
      fail("a quote is not closed");
      return "";
    }
    std::string out(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return out;
  }

  void index() {
    const std::size_t end = std::min(text_.find(']', at_), text_.size());
    const auto number = base::to_int(text_.substr(at_, end - at_));
    if (end == text_.size() || !number) return fail("expected an index and ']'");
    out_.steps_.push_back({.kind = Step::Kind::index, .index = *number});
    at_ = end + 1;
  }

  // "type=="Ready")]" after "?(@.".
  void where() {
    const std::size_t equals = std::min(text_.find("==", at_), text_.size());
    Step out{.kind = Step::Kind::where,
             .name = std::string(base::trim(text_.substr(at_, equals - at_)))};
    if (equals == text_.size() || out.name.empty()) return fail("only NAME==VALUE is supported");
    at_ = equals + 2;
    while (skip(" ")) {
    }
    if (at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"')) {
      out.wanted = quoted();
    } else {
      const std::size_t end = std::min(text_.find(')', at_), text_.size());
      const auto literal = base::parse_json(base::trim(text_.substr(at_, end - at_)));
      if (!literal || literal->is_structured()) return fail("expected a value");
      out.wanted = *literal;
      at_ = end;
    }
    while (skip(" ")) {
    }
    if (!skip(")]")) fail("expected ')]'");
    out_.steps_.push_back(std::move(out));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  JsonPath out_;
  std::optional<base::ParseError> error_;
};

const Json* JsonPath::find(const Json& value) const { return find(value, 0); }

const Json* JsonPath::find(const Json& value, std::size_t at) const {
  if (at == steps_.size()) return value.is_null() ? nullptr : &value;
  const Step& step = steps_[at];
  const auto into = [&](const Json* next) {
    return next == nullptr ? nullptr : find(*next, at + 1);
  };
  if (step.kind == Step::Kind::member) return into(base::find(value, step.name));
  if (step.kind == Step::Kind::every && value.is_object()) {
    for (const auto& member : value.get_object()) {
      if (const Json* found = find(member.value(), at + 1)) return found;
    }
    return nullptr;
  }
  if (!value.is_array()) return nullptr;
  const JsonArray& array = value.get_array();
  if (step.kind == Step::Kind::index) {
    const auto size = static_cast<std::int64_t>(array.size());
    const std::int64_t index = step.index < 0 ? step.index + size : step.index;
    return index < 0 || index >= size ? nullptr : into(&array[static_cast<std::size_t>(index)]);
  }
  for (const Json& item : array) {
    if (step.kind == Step::Kind::where) {
      const Json* tested = base::find_path(item, step.name);
      if (tested == nullptr || !same_value(*tested, step.wanted)) continue;
    }
    if (const Json* found = find(item, at + 1)) return found;
  }
  return nullptr;
}

std::string JsonPath::dotted() const {
  std::string out;
  for (const Step& step : steps_) {
    if (step.kind != Step::Kind::member) return "";
    out += (out.empty() ? "" : ".") + step.name;
  }
  return out;
}

base::Result<JsonPath> parse_json_path(std::string_view text) {
  return JsonPathParser(text).parse();
}

}  // namespace meridian::kube
