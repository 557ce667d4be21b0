// SPDX-License-Identifier: Apache-2.0
#include "region/training/match.h"

#include <algorithm>

#include "aws/service.h"
#include "base/clock.h"
#include "base/strings.h"

namespace meridian::region::training {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr int kDeepest = 10;

void collect(const Json& value, std::string_view path, std::vector<Json>& found) {
  if (value.is_array()) {
    for (const Json& each : value.get_array()) collect(each, path, found);
    return;
  }
  if (path.empty()) {
    found.push_back(value);
    return;
  }
  if (!value.is_object()) return;
  // Keys of maps may hold dots: the whole rest is tried before its first part.
  if (const Json* whole = base::find(value, path)) return collect(*whole, "", found);
  auto dot = path.find('.');
  if (dot == std::string_view::npos) return;
  if (const Json* part = base::find(value, path.substr(0, dot)))
    collect(*part, path.substr(dot + 1), found);
}

// Lists of {name, value} pairs that are addressed by name.
void collect_pair(const Json& job, std::string_view list, const char* key, const char* value,
                  std::string_view name, std::vector<Json>& found) {
  const Json* pairs = base::find(job, list);
  if (!pairs || !pairs->is_array()) return;
  for (const Json& pair : pairs->get_array())
    if (base::string_or(pair, key) == name)
      if (const Json* member = base::find(pair, value)) found.push_back(*member);
}

std::string text_of(const Json& value) {
  if (value.is_string()) return std::string(base::view(value.get_string()));
  return base::to_text(value);
}

std::optional<double> number_of(const Json& value) {
  if (value.is_number()) return value.to_number<double>();
  if (value.is_string()) return base::to_double(base::view(value.get_string()));
  return std::nullopt;
}

// A filter's value where the property is a number: a number, or a time.
std::optional<double> wanted_number(const std::string& value) {
  if (auto number = base::to_double(value)) return number;
  if (auto time = base::parse_iso8601(value)) return time->seconds();
  return std::nullopt;
}

// Negative, zero, positive; by number when both are.
int compare(const Json& value, const std::string& wanted) {
  auto a = number_of(value), b = wanted_number(wanted);
  if (a && b) return *a < *b ? -1 : *a > *b ? 1 : 0;
  return text_of(value).compare(wanted);
}

bool holds(const Json& value, const std::string& op, const std::string& wanted) {
  if (op == "Equals") return compare(value, wanted) == 0;
  if (op == "Contains") return text_of(value).find(wanted) != std::string::npos;
  if (op == "GreaterThan") return compare(value, wanted) > 0;
  if (op == "GreaterThanOrEqualTo") return compare(value, wanted) >= 0;
  if (op == "LessThan") return compare(value, wanted) < 0;
  if (op == "LessThanOrEqualTo") return compare(value, wanted) <= 0;
  if (op == "In") {
    auto choices = base::split(wanted, ',');
    return std::any_of(choices.begin(), choices.end(), [&](const std::string& choice) {
      return compare(value, std::string(base::trim(choice))) == 0;
    });
  }
  throw aws::ApiError("ValidationException", "Search does not know the operator " + op);
}

bool matches_filter(const Json& job, const Json& filter, std::string_view prefix = "") {
  std::string property = std::string(prefix) + base::string_or(filter, "Name");
  std::string op = base::string_or(filter, "Operator", "Equals");
  std::string wanted = base::string_or(filter, "Value");
  auto values = property_values(job, property);
  auto any = [&](const std::string& the_op) {
    return std::any_of(values.begin(), values.end(),
                       [&](const Json& value) { return holds(value, the_op, wanted); });
  };
  if (op == "Exists") return !values.empty();
  if (op == "NotExists") return values.empty();
  if (op == "NotEquals") return !any("Equals");
  return any(op);
}

// All filters have to hold for the same element of the list.
bool matches_nested(const Json& job, const Json& nested) {
  const std::string list = base::string_or(nested, "NestedPropertyName");
  const Json* elements = base::find_path(job, list);
  const Json* filters = base::find(nested, "Filters");
  if (!elements || !elements->is_array() || !filters) return false;
  return std::any_of(elements->get_array().begin(), elements->get_array().end(),
                     [&](const Json& element) {
                       return std::all_of(filters->as_array().begin(), filters->as_array().end(),
                                          [&](const Json& filter) {
                                            Json relative = filter;
                                            std::string name = base::string_or(filter, "Name");
                                            if (name.starts_with(list + "."))
                                              name.erase(0, list.size() + 1);
                                            relative.as_object()["Name"] = name;
                                            return matches_filter(element, relative);
                                          });
                     });
}

}  // namespace

std::vector<Json> property_values(const Json& job, std::string_view property) {
  std::vector<Json> found;
  constexpr std::string_view kTags = "Tags.", kMetrics = "Metrics.";
  if (property.starts_with(kTags))
    collect_pair(job, "Tags", "Key", "Value", property.substr(kTags.size()), found);
  else if (property.starts_with(kMetrics))
    collect_pair(job, "FinalMetricDataList", "MetricName", "Value",
                 property.substr(kMetrics.size()), found);
  else
    collect(job, property, found);
  return found;
}

bool matches_expression(const Json& job, const Json& expression, int depth) {
  if (depth > kDeepest)
    throw aws::ApiError("ValidationException", "SearchExpression is nested too deeply");
  bool any = base::string_or(expression, "Operator", "And") == "Or";
  bool all_hold = true, one_holds = false, empty = true;
  auto check = [&](std::string_view member, auto holds_for) {
    const Json* list = base::find(expression, member);
    if (!list || !list->is_array()) return;
    for (const Json& each : list->get_array()) {
      bool held = holds_for(each);
      all_hold = all_hold && held;
      one_holds = one_holds || held;
      empty = false;
    }
  };
  check("Filters", [&](const Json& each) { return matches_filter(job, each); });
  check("NestedFilters", [&](const Json& each) { return matches_nested(job, each); });
  check("SubExpressions",
        [&](const Json& each) { return matches_expression(job, each, depth + 1); });
  return empty || (any ? one_holds : all_hold);
}

bool property_less(const Json& a, const Json& b, std::string_view property) {
  auto left = property_values(a, property), right = property_values(b, property);
  if (left.empty() || right.empty()) return !left.empty() && right.empty();
  auto x = number_of(left.front()), y = number_of(right.front());
  if (x && y) return *x < *y;
  return text_of(left.front()) < text_of(right.front());
}

}  // namespace meridian::region::training
