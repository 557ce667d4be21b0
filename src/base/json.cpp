// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace meridian::base {
namespace {

void write_string(std::string& out, std::string_view s) {
  out += '"';
  for (const char c : s) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

class Writer {
 public:
  Writer(std::string& out, JsonStyle style) : out_(out), style_(style) {}

  void write(const Json& v) {
    switch (v.kind()) {
      case boost::json::kind::null: out_ += "null"; break;
      case boost::json::kind::bool_: out_ += v.get_bool() ? "true" : "false"; break;
      case boost::json::kind::int64: out_ += std::to_string(v.get_int64()); break;
      case boost::json::kind::uint64: out_ += std::to_string(v.get_uint64()); break;
      case boost::json::kind::double_: out_ += number_text(v.get_double()); break;
      case boost::json::kind::string: write_string(out_, view(v.get_string())); break;
      case boost::json::kind::array: write_array(v.get_array()); break;
      case boost::json::kind::object: write_object(v.get_object()); break;
    }
  }

 private:
  void newline() {
    if (style_ != JsonStyle::pretty) return;
    out_ += '\n';
    out_.append(2 * depth_, ' ');
  }

  void write_array(const JsonArray& array) {
    out_ += '[';
    ++depth_;
    bool first = true;
    for (const Json& v : array) {
      if (!first) out_ += ',';
      first = false;
      newline();
      write(v);
    }
    --depth_;
    if (!array.empty()) newline();
    out_ += ']';
  }

  void write_member(std::string_view key, const Json& v, bool first) {
    if (!first) out_ += ',';
    newline();
    write_string(out_, key);
    out_ += style_ == JsonStyle::pretty ? ": " : ":";
    write(v);
  }

  void write_object(const JsonObject& object) {
    out_ += '{';
    ++depth_;
    bool first = true;
    if (style_ == JsonStyle::sorted) {
      std::vector<const JsonObject::value_type*> members;
      for (const auto& m : object) members.push_back(&m);
      std::sort(members.begin(), members.end(),
                [](auto* a, auto* b) { return a->key() < b->key(); });
      for (const auto* m : members) {
        write_member(m->key(), m->value(), first);
        first = false;
      }
    } else {
      for (const auto& m : object) {
        write_member(m.key(), m.value(), first);
        first = false;
      }
    }
    --depth_;
    if (!object.empty()) newline();
    out_ += '}';
  }

  std::string& out_;
  JsonStyle style_;
  std::size_t depth_ = 0;
};

}  // namespace

Json parse_stored_json(std::string_view text, std::string_view what) {
  auto parsed = parse_json(text, {.depth = 256, .bytes = 1u << 30});
  if (!parsed) {
    throw Error(Code::data_loss, fmt::format("{} is damaged: {}", what, parsed.error().text()));
  }
  return std::move(*parsed);
}

std::string to_text(const Json& value, JsonStyle style) {
  std::string out;
  Writer(out, style).write(value);
  return out;
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return "null";
  std::string text = fmt::format("{}", value);
  // Without point and exponent it would be read back as an integer.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

const Json* find(const JsonObject& object, std::string_view key) {
  const Json* v = object.if_contains(key);
  return v == nullptr || v->is_null() ? nullptr : v;
}

const Json* find(const Json& object, std::string_view key) {
  return object.is_object() ? find(object.get_object(), key) : nullptr;
}

const Json* find_path(const Json& value, std::string_view path) {
  const Json* v = &value;
  while (v != nullptr && !path.empty()) {
    const auto dot = path.find('.');
    v = find(*v, path.substr(0, dot));
    path = dot == std::string_view::npos ? "" : path.substr(dot + 1);
  }
  return v;
}

std::string string_or(const Json& object, std::string_view key, std::string_view fallback) {
  const Json* v = find(object, key);
  return std::string(v && v->is_string() ? view(v->get_string()) : fallback);
}

std::int64_t int_or(const Json& object, std::string_view key, std::int64_t fallback) {
  const Json* v = find(object, key);
  if (v == nullptr || !v->is_number()) return fallback;
  if (v->is_int64()) return v->get_int64();
  if (v->is_uint64()) return fallback;  // the parser keeps what fits as int64
  const double d = v->get_double();
  // 2^63 itself does not fit, and casting what does not fit is undefined.
  return d >= -0x1p63 && d < 0x1p63 ? static_cast<std::int64_t>(d) : fallback;
}

double double_or(const Json& object, std::string_view key, double fallback) {
  const Json* v = find(object, key);
  return v && v->is_number() ? v->to_number<double>() : fallback;
}

bool bool_or(const Json& object, std::string_view key, bool fallback) {
  const Json* v = find(object, key);
  return v && v->is_bool() ? v->get_bool() : fallback;
}

std::optional<std::string> find_string(const Json& object, std::string_view key) {
  const Json* v = find(object, key);
  if (v == nullptr || !v->is_string()) return std::nullopt;
  return std::string(view(v->get_string()));
}

}  // namespace meridian::base
