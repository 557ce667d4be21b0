// SPDX-License-Identifier: Apache-2.0
#include "base/yaml.h"

#include <fmt/format.h>
#include <yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>

#include "base/strings.h"

namespace meridian::base {
namespace {

constexpr int kMostDepth = 64;
constexpr std::size_t kMostNodes = 100'000;
constexpr std::size_t kMostBytes = 16u << 20;
// A long key above many nodes would be repeated in each of their paths.
constexpr std::size_t kMostPathBytes = 16u << 20;

ParseError at(const yaml_mark_t& mark, std::string message) {
  return {std::move(message), mark.index, static_cast<int>(mark.line) + 1,
          static_cast<int>(mark.column) + 1};
}

// One event, freed with its scope.
class Event {
 public:
  ~Event() { yaml_event_delete(&raw_); }
  Event() = default;
  Event(const Event&) = delete;
  yaml_event_t* operator->() { return &raw_; }
  const yaml_event_t* operator->() const { return &raw_; }
  yaml_event_t* raw() { return &raw_; }

 private:
  yaml_event_t raw_{};
};

std::string_view text_of(const yaml_char_t* text) {
  return text == nullptr ? "" : reinterpret_cast<const char*>(text);
}

bool all_digits(std::string_view text, std::string_view digits) {
  return !text.empty() && text.find_first_not_of(digits) == text.npos;
}

std::optional<Json> number_in_base(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (ec != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (value <= INT64_MAX) return Json(static_cast<std::int64_t>(value));
  return Json(value);
}

std::optional<Json> plain_int(std::string_view text) {
  if (text.starts_with("0x") && all_digits(text.substr(2), "0123456789abcdefABCDEF")) {
    return number_in_base(text.substr(2), 16);
  }
  if (text.starts_with("0o") && all_digits(text.substr(2), "01234567")) {
    return number_in_base(text.substr(2), 8);
  }
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (!all_digits(text, "0123456789")) return std::nullopt;
  if (!negative) {
    if (auto value = number_in_base(text, 10)) return value;
  } else if (const auto value = to_int("-" + std::string(text))) {
    return Json(*value);
  }
  return std::nullopt;  // too large: plain_float takes it
}

// [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
std::optional<Json> plain_float(std::string_view text) {
  std::string_view rest = text;
  const auto take_digits = [&rest] {
    std::size_t n = 0;
    while (n < rest.size() && rest[n] >= '0' && rest[n] <= '9') ++n;
    rest.remove_prefix(n);
    return n;
  };
  if (rest.starts_with('-') || rest.starts_with('+')) rest.remove_prefix(1);
  std::size_t digits = take_digits();
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    digits += take_digits();
  }
  if (digits == 0) return std::nullopt;
  if (rest.starts_with('e') || rest.starts_with('E')) {
    rest.remove_prefix(1);
    if (rest.starts_with('-') || rest.starts_with('+')) rest.remove_prefix(1);
    if (take_digits() == 0) return std::nullopt;
  }
  if (!rest.empty()) return std::nullopt;
  return Json(std::strtod(std::string(text).c_str(), nullptr));  // infinite when too large
}

bool is_any_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

std::optional<Json> plain_bool(std::string_view text) {
  if (is_any_of(text, {"true", "True", "TRUE"})) return Json(true);
  if (is_any_of(text, {"false", "False", "FALSE"})) return Json(false);
  return std::nullopt;
}

bool is_null(std::string_view text) { return is_any_of(text, {"", "~", "null", "Null", "NULL"}); }

bool is_not_a_json_number(std::string_view text) {
  if (is_any_of(text, {".nan", ".NaN", ".NAN"})) return true;
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return is_any_of(text, {".inf", ".Inf", ".INF"});
}

// Throws ParseError, caught in parse_yaml: the way out of the recursion.
Json scalar(const yaml_event_t& event) {
  const std::string_view text(reinterpret_cast<const char*>(event.data.scalar.value),
                              event.data.scalar.length);
  std::string_view tag = text_of(event.data.scalar.tag);
  const bool plain = event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
  if (tag.empty() && !plain) tag = YAML_STR_TAG;
  if (tag == "!" || tag == YAML_STR_TAG) return Json(text);
  const auto refuse = [&](std::string_view wanted) {
    return at(event.start_mark, fmt::format("'{}' is not {}", utf8_prefix(text, 60), wanted));
  };
  if (tag == YAML_NULL_TAG) return is_null(text) ? Json() : throw refuse("null");
  if (tag == YAML_BOOL_TAG) {
    if (auto v = plain_bool(text)) return *v;
    throw refuse("true or false");
  }
  if (tag == YAML_INT_TAG) {
    if (auto v = plain_int(text)) return *v;
    throw refuse("an integer");
  }
  if (!tag.empty() && tag != YAML_FLOAT_TAG) {
    throw at(event.start_mark, fmt::format("the tag '{}' is not supported", tag));
  }
  if (is_not_a_json_number(text)) throw refuse("a number that JSON can hold");
  if (tag.empty()) {
    if (is_null(text)) return Json();
    if (auto v = plain_bool(text)) return *v;
    if (auto v = plain_int(text)) return *v;
  }
  if (auto v = plain_float(text)) {
    if (!std::isfinite(v->get_double())) throw refuse("a number that JSON can hold");
    return *v;
  }
  if (tag == YAML_FLOAT_TAG) throw refuse("a number");
  return Json(text);
}

// Builds the values of one stream from libyaml's events.
class Composer {
 public:
  explicit Composer(std::string_view text) {
    if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    // libyaml asserts that the pointer is not null, which an empty view may hold.
    const char* data = text.empty() ? "" : text.data();
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(data),
                                 text.size());
  }
  ~Composer() { yaml_parser_delete(&parser_); }
  Composer(const Composer&) = delete;

  std::vector<YamlDocument> stream() {
    std::vector<YamlDocument> documents;
    while (true) {
      Event event;
      next(event);
      if (event->type == YAML_STREAM_END_EVENT) return documents;
      if (event->type != YAML_DOCUMENT_START_EVENT) continue;
      document_ = YamlDocument{};
      anchors_.clear();
      path_.clear();
      Event root;
      next(root);
      Measured value = node(root, 1);
      document_.value = std::move(value.json);
      documents.push_back(std::move(document_));
    }
  }

 private:
  // A value with what a copy of it costs.
  struct Measured {
    Json json;
    std::size_t nodes = 1, bytes = 0;
    int depth = 1;
  };

  void next(Event& event) {
    if (yaml_parser_parse(&parser_, event.raw()) != 0) return;
    std::string message(parser_.problem == nullptr ? "not valid YAML" : parser_.problem);
    if (parser_.context != nullptr) message = fmt::format("{} {}", parser_.context, message);
    if (parser_.error == YAML_READER_ERROR) throw ParseError{message, parser_.problem_offset};
    throw at(parser_.problem_mark, message);
  }

  Measured node(Event& event, int depth) {
    if (depth > kMostDepth) throw at(event->start_mark, "nested too deeply (at most 64 levels)");
    if (++nodes_ > kMostNodes) throw at(event->start_mark, "too many nodes (at most 100000)");
    remember_position(event->start_mark);
    if (event->type == YAML_ALIAS_EVENT) return alias(event, depth);
    std::string anchor;
    Measured out;
    if (event->type == YAML_SCALAR_EVENT) {
      anchor = text_of(event->data.scalar.anchor);
      out.json = scalar(*event.raw());
      out.bytes = event->data.scalar.length;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
      anchor = text_of(event->data.sequence_start.anchor);
      expect_tag(event, text_of(event->data.sequence_start.tag), YAML_SEQ_TAG);
      out = sequence(depth);
    } else {
      anchor = text_of(event->data.mapping_start.anchor);
      expect_tag(event, text_of(event->data.mapping_start.tag), YAML_MAP_TAG);
      out = mapping(depth);
    }
    if (!anchor.empty()) anchors_[anchor] = copied(out, event->start_mark);
    return out;
  }

  // Every copy is charged: a page of text could otherwise unfold into more than memory holds.
  const Measured& copied(const Measured& value, const yaml_mark_t& mark) {
    copied_nodes_ += value.nodes;
    copied_bytes_ += value.bytes;
    if (copied_nodes_ > kMostNodes || copied_bytes_ > kMostBytes) {
      throw at(mark, "anchors and aliases expand to too much");
    }
    return value;
  }

  static void expect_tag(const Event& event, std::string_view tag, std::string_view wanted) {
    if (tag.empty() || tag == "!" || tag == wanted) return;
    throw at(event->start_mark, fmt::format("the tag '{}' is not supported here", tag));
  }

  Measured alias(const Event& event, int depth) {
    const std::string name(text_of(event->data.alias.anchor));
    const auto it = anchors_.find(name);
    if (it == anchors_.end()) {
      throw at(event->start_mark, fmt::format("no anchor '{}' stands before this alias", name));
    }
    if (depth - 1 + it->second.depth > kMostDepth) {
      throw at(event->start_mark, "nested too deeply (at most 64 levels)");
    }
    return copied(it->second, event->start_mark);
  }

  static void add(Measured& whole, const Measured& part) {
    whole.nodes += part.nodes;
    whole.bytes += part.bytes;
    whole.depth = std::max(whole.depth, part.depth + 1);
  }

  Measured sequence(int depth) {
    Measured out;
    JsonArray& array = out.json.emplace_array();
    const std::size_t parent = path_.size();
    while (true) {
      Event event;
      next(event);
      if (event->type == YAML_SEQUENCE_END_EVENT) return out;
      path_ += fmt::format("[{}]", array.size());
      Measured item = node(event, depth + 1);
      path_.resize(parent);
      add(out, item);
      array.push_back(std::move(item.json));
    }
  }

  Measured mapping(int depth) {
    Measured out;
    JsonObject& object = out.json.emplace_object();
    const std::size_t parent = path_.size();
    while (true) {
      Event event;
      next(event);
      if (event->type == YAML_MAPPING_END_EVENT) return out;
      const std::string name = key(event, object);
      if (parent > 0) path_ += '.';
      path_ += name;
      Event value_event;
      next(value_event);
      Measured value = node(value_event, depth + 1);
      path_.resize(parent);
      add(out, value);
      out.bytes += name.size();
      object.emplace(name, std::move(value.json));
    }
  }

  std::string key(Event& event, const JsonObject& object) {
    if (++nodes_ > kMostNodes) throw at(event->start_mark, "too many nodes (at most 100000)");
    if (event->type != YAML_SCALAR_EVENT) {
      throw at(event->start_mark, "a key must be a string, not an alias, list or map");
    }
    const Json value = scalar(*event.raw());
    if (!value.is_string()) {
      throw at(event->start_mark,
               fmt::format("the key {} is not a string: put it in quotes", to_text(value)));
    }
    std::string name(view(value.get_string()));
    if (name == "<<" && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
      throw at(event->start_mark, "merge keys ('<<') are not part of YAML 1.2");
    }
    if (object.contains(name)) {
      throw at(event->start_mark,
               fmt::format("the key '{}' appears twice in this map", utf8_prefix(name, 60)));
    }
    if (!text_of(event->data.scalar.anchor).empty()) {
      anchors_[std::string(text_of(event->data.scalar.anchor))] = {.json = value,
                                                                   .bytes = name.size()};
    }
    return name;
  }

  void remember_position(const yaml_mark_t& mark) {
    path_bytes_ += path_.size();
    if (path_bytes_ > kMostPathBytes) return;  // position_of then answers with an ancestor
    document_.positions[path_] = {static_cast<int>(mark.line) + 1,
                                  static_cast<int>(mark.column) + 1};
  }

  yaml_parser_t parser_{};
  YamlDocument document_;
  std::map<std::string, Measured> anchors_;
  std::string path_;
  std::size_t nodes_ = 0, path_bytes_ = 0, copied_nodes_ = 0, copied_bytes_ = 0;
};

}  // namespace

Position YamlDocument::position_of(std::string_view path) const {
  while (true) {
    if (const auto it = positions.find(path); it != positions.end()) return it->second;
    if (path.empty()) return {};
    const auto cut = path.find_last_of(".[");
    path = cut == path.npos ? std::string_view() : path.substr(0, cut);
  }
}

Result<std::vector<YamlDocument>> parse_yaml(std::string_view text) {
  if (text.size() > kMostBytes) {
    return ParseError{
        fmt::format("YAML of {} bytes; at most {} are allowed", text.size(), kMostBytes)};
  }
  try {
    return Composer(text).stream();
  } catch (ParseError& e) {
    return std::move(e);
  }
}

}  // namespace meridian::base
