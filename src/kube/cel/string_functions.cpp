// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "kube/cel/functions.h"
#include "kube/cel/list_search.h"
#include "kube/cel/regex.h"
#include "kube/cel/utf8.h"

namespace meridian::kube::cel {
namespace {

using Arguments = std::span<const Value>;

// Whether all arguments are texts; what reading them costs is spent.
bool all_text(Arguments arguments, Meter& meter) {
  return std::all_of(arguments.begin(), arguments.end(), [&](const Value& value) {
    const auto* text = value.as<std::string>();
    if (text != nullptr) meter.spend_on(*text);
    return text != nullptr;
  });
}

const std::string& text(const Value& value) { return *value.as<std::string>(); }

// A function from texts, as most are.
template <auto work>
Value of_texts(Arguments arguments, Meter& meter) {
  if (!all_text(arguments, meter)) return no_overload("a function of strings", arguments[0]);
  return work(arguments);
}

constexpr auto starts_with = [](Arguments a) { return Value{text(a[0]).starts_with(text(a[1]))}; };
constexpr auto ends_with = [](Arguments a) { return Value{text(a[0]).ends_with(text(a[1]))}; };
constexpr auto contains = [](Arguments a) {
  return Value{text(a[0]).find(text(a[1])) != std::string::npos};
};
constexpr auto lower = [](Arguments a) { return make_text(base::to_lower(text(a[0]))); };
constexpr auto upper = [](Arguments a) { return make_text(base::to_upper(text(a[0]))); };

// Unicode's white space.
bool is_space(char32_t c) {
  return (c >= 9 && c <= 13) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

constexpr auto trim = [](Arguments a) {
  const std::u32string points = to_code_points(text(a[0]));
  const auto first = std::find_if_not(points.begin(), points.end(), is_space);
  const auto last = std::find_if_not(points.rbegin(), points.rend(), is_space).base();
  return make_text(first < last ? to_utf8({first, last}) : "");
};

Value matches(Arguments arguments, Meter& meter) {
  if (!all_text(arguments, meter)) return no_overload("matches", arguments[0], arguments[1]);
  if (!meter.spend(100 + text(arguments[0]).size())) return fail("");
  const auto regex = parse_regex(text(arguments[1]));
  if (!regex) return fail("the pattern is none: " + regex.error().text());
  const auto found = regex->finds(text(arguments[0]));
  return found ? Value{*found} : fail("the pattern takes too long");
}

// find(text, pattern): the first match, or "".
Value find(Arguments arguments, Meter& meter) {
  if (!all_text(arguments, meter)) return no_overload("find", arguments[0], arguments[1]);
  if (!meter.spend(100 + text(arguments[0]).size())) return fail("");
  const auto regex = parse_regex(text(arguments[1]));
  if (!regex) return fail("the pattern is none: " + regex.error().text());
  const auto all = regex->find_all(text(arguments[0]), 1);
  if (!all) return fail("the pattern takes too long");
  return make_text(all->empty() ? "" : all->front());
}

// findAll(text, pattern[, limit]): all matches, or the first ones.
Value find_all(Arguments arguments, Meter& meter) {
  const auto* limit = arguments.size() > 2 ? arguments[2].as<std::int64_t>() : nullptr;
  if (!all_text(arguments.first(2), meter) || (arguments.size() > 2 && limit == nullptr)) {
    return no_overload("findAll", arguments[0], arguments[1]);
  }
  const std::string& whole = text(arguments[0]);
  if (!meter.spend(100 + whole.size())) return fail("");
  const auto regex = parse_regex(text(arguments[1]));
  if (!regex) return fail("the pattern is none: " + regex.error().text());
  const bool all = limit == nullptr || *limit < 0;
  auto found = regex->find_all(whole, all ? whole.size() + 1 : static_cast<std::size_t>(*limit));
  if (!found || !meter.spend(found->size())) return fail("the pattern takes too long");
  std::vector<Value> out;
  for (auto& one : *found) out.push_back(make_text(std::move(one)));
  return make_list(std::move(out));
}

// split(text, separator[, limit]).
Value split(Arguments arguments, Meter& meter) {
  const auto* limit = arguments.size() > 2 ? arguments[2].as<std::int64_t>() : nullptr;
  if (!all_text(arguments.first(2), meter) || (arguments.size() > 2 && limit == nullptr)) {
    return no_overload("split", arguments[0], arguments[1]);
  }
  const std::int64_t most = limit == nullptr ? -1 : *limit;
  const std::string& whole = text(arguments[0]);
  const std::string& separator = text(arguments[1]);
  if (!meter.spend(whole.size())) return fail("");
  std::vector<Value> out;
  if (most == 0) return make_list(std::move(out));
  const auto full = [&] { return most > 0 && static_cast<std::int64_t>(out.size()) + 1 >= most; };
  std::string_view rest = whole;
  if (separator.empty()) {
    const std::u32string points = to_code_points(whole);
    std::size_t at = 0;
    for (; at < points.size() && !full(); ++at) out.push_back(make_text(to_utf8({&points[at], 1})));
    if (at < points.size())
      out.push_back(make_text(to_utf8(std::u32string_view(points).substr(at))));
    return make_list(std::move(out));
  }
  for (std::size_t at = rest.find(separator); at != std::string_view::npos && !full();
       at = rest.find(separator)) {
    out.push_back(make_text(std::string(rest.substr(0, at))));
    rest.remove_prefix(at + separator.size());
  }
  out.push_back(make_text(std::string(rest)));
  return make_list(std::move(out));
}

// replace(text, from, to[, limit]).
Value replace(Arguments arguments, Meter& meter) {
  const auto* limit = arguments.size() > 3 ? arguments[3].as<std::int64_t>() : nullptr;
  if (!all_text(arguments.first(3), meter) || (arguments.size() > 3 && limit == nullptr)) {
    return no_overload("replace", arguments[0], arguments[1]);
  }
  std::int64_t left = limit == nullptr ? -1 : *limit;
  const std::string& from = text(arguments[1]);
  const std::string& to = text(arguments[2]);
  std::string_view rest = text(arguments[0]);
  std::string out;
  while (left != 0) {
    const std::size_t at =
        from.empty() ? (rest.empty() ? std::string_view::npos : 0) : rest.find(from);
    if (at == std::string_view::npos || !meter.spend(1 + to.size() / 16)) break;
    out += rest.substr(0, at);
    out += to;
    rest.remove_prefix(at + from.size());
    if (from.empty()) {  // before each character
      const std::size_t length = std::max<std::size_t>(base::utf8_prefix(rest, 1).size(), 1);
      std::size_t whole = length;
      while (whole < rest.size() && (rest[whole] & 0xc0) == 0x80) ++whole;
      out += rest.substr(0, whole);
      rest.remove_prefix(whole);
    }
    if (left > 0) --left;
  }
  if (from.empty() && rest.empty() && left != 0) out += to;
  return make_text(out + std::string(rest));
}

// A position among code points; nothing when it is outside.
std::optional<std::size_t> position(const Value& value, std::size_t most) {
  const auto* integer = value.as<std::int64_t>();
  if (integer == nullptr || *integer < 0 || static_cast<std::uint64_t>(*integer) > most) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(*integer);
}

Value out_of_range(const Value& value) {
  const auto* integer = value.as<std::int64_t>();
  return integer == nullptr ? no_overload("a position", value)
                            : fail(fmt::format("index out of range: {}", *integer));
}

// substring(text, start[, end]).
Value substring(Arguments arguments, Meter& meter) {
  if (!all_text(arguments.first(1), meter)) return no_overload("substring", arguments[0]);
  const std::u32string points = to_code_points(text(arguments[0]));
  const auto start = position(arguments[1], points.size());
  if (!start) return out_of_range(arguments[1]);
  const auto end =
      arguments.size() > 2 ? position(arguments[2], points.size()) : std::optional(points.size());
  if (!end || *end < *start) return out_of_range(arguments[2]);
  return make_text(to_utf8(std::u32string_view(points).substr(*start, *end - *start)));
}

Value char_at(Arguments arguments, Meter& meter) {
  if (!all_text(arguments.first(1), meter)) return no_overload("charAt", arguments[0]);
  const std::u32string points = to_code_points(text(arguments[0]));
  const auto at = position(arguments[1], points.size());
  if (!at) return out_of_range(arguments[1]);
  return make_text(*at == points.size() ? "" : to_utf8({&points[*at], 1}));
}

enum class Direction { forwards, backwards };

// indexOf and lastIndexOf of texts and of lists.
template <Direction direction>
Value index_of(Arguments arguments, Meter& meter) {
  if (is_list(arguments[0]) && arguments.size() == 2) {
    return direction == Direction::forwards ? first_index(arguments[0], arguments[1], meter)
                                            : last_index(arguments[0], arguments[1], meter);
  }
  if (!all_text(arguments.first(2), meter))
    return no_overload("indexOf", arguments[0], arguments[1]);
  const std::u32string points = to_code_points(text(arguments[0]));
  const std::u32string wanted = to_code_points(text(arguments[1]));
  if (!meter.spend(points.size() * (1 + wanted.size() / 16))) return fail("");
  const std::size_t usual = direction == Direction::forwards ? 0 : points.size();
  const auto from =
      arguments.size() > 2 ? position(arguments[2], points.size()) : std::optional(usual);
  if (!from) return out_of_range(arguments[2]);
  const std::size_t at =
      direction == Direction::forwards ? points.find(wanted, *from) : points.rfind(wanted, *from);
  return {at == std::u32string::npos ? std::int64_t{-1} : static_cast<std::int64_t>(at)};
}

// join(list[, separator]).
Value join(Arguments arguments, Meter& meter) {
  if (!is_list(arguments[0]) || !all_text(arguments.subspan(1), meter)) {
    return no_overload("join", arguments[0]);
  }
  const std::string separator = arguments.size() > 1 ? text(arguments[1]) : "";
  std::string out;
  for (std::size_t i = 0; i < size_of(arguments[0]); ++i) {
    const Value item = item_at(arguments[0], i);
    const auto* piece = item.as<std::string>();
    if (piece == nullptr) return no_overload("join", item);
    if (!meter.spend(1 + (piece->size() + separator.size()) / 16)) return fail("");
    if (i > 0) out += separator;
    out += *piece;
  }
  return make_text(std::move(out));
}

constexpr Function table[] = {
    {"startsWith", Form::method, 2, 2, of_texts<starts_with>},
    {"endsWith", Form::method, 2, 2, of_texts<ends_with>},
    {"contains", Form::method, 2, 2, of_texts<contains>},
    {"matches", Form::method, 2, 2, matches},
    {"matches", Form::global, 2, 2, matches},
    {"find", Form::method, 2, 2, find},
    {"findAll", Form::method, 2, 3, find_all},
    {"lowerAscii", Form::method, 1, 1, of_texts<lower>},
    {"upperAscii", Form::method, 1, 1, of_texts<upper>},
    {"trim", Form::method, 1, 1, of_texts<trim>},
    {"split", Form::method, 2, 3, split},
    {"join", Form::method, 1, 2, join},
    {"replace", Form::method, 3, 4, replace},
    {"substring", Form::method, 2, 3, substring},
    {"charAt", Form::method, 2, 2, char_at},
    {"indexOf", Form::method, 2, 3, index_of<Direction::forwards>},
    {"lastIndexOf", Form::method, 2, 3, index_of<Direction::backwards>},
};

}  // namespace

std::span<const Function> string_functions() { return table; }

}  // namespace meridian::kube::cel
