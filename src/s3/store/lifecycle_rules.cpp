// Reads a LifecycleConfiguration.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/strings.h"
#include "base/xml.h"
#include "s3/store/lifecycle.h"

namespace meridian::s3 {
namespace {

using base::ParseError;
using base::XmlElement;
using Failure = std::optional<ParseError>;  // nothing: it went well

constexpr std::uint64_t most_days = 36'500;
constexpr std::size_t most_rules = 1000;

ParseError unknown(const XmlElement& child, std::string_view parent) {
  return ParseError{"<" + child.name + "> is not known inside <" + std::string(parent) + ">"};
}

Failure read_days(const XmlElement& element, std::optional<int>& days, std::uint64_t least = 1) {
  const auto value = base::to_uint(base::trim(element.text));
  if (!value || *value < least || *value > most_days)
    return ParseError{"'" + element.name + "' must be a number of days, at least " +
                      std::to_string(least)};
  days = static_cast<int>(*value);
  return {};
}

Failure read_size(const XmlElement& element, std::optional<std::uint64_t>& size) {
  size = base::to_uint(base::trim(element.text));
  if (!size) return ParseError{"'" + element.name + "' must be a number of bytes"};
  return {};
}

// The contents of <Filter> and of the <And> inside it.
Failure read_filter(const XmlElement& filter, LifecycleRule& rule) {
  for (const auto& child : filter.children) {
    Failure failure;
    if (child.name == "Prefix")
      rule.prefix = child.text;
    else if (child.name == "Tag")
      rule.tags[child.text_of("Key")] = child.text_of("Value");
    else if (child.name == "ObjectSizeGreaterThan")
      failure = read_size(child, rule.larger_than);
    else if (child.name == "ObjectSizeLessThan")
      failure = read_size(child, rule.smaller_than);
    else if (child.name == "And" && filter.name == "Filter")
      failure = read_filter(child, rule);
    else
      failure = unknown(child, filter.name);
    if (failure) return failure;
  }
  return {};
}

Failure read_expiration(const XmlElement& expiration, LifecycleRule& rule) {
  if (expiration.children.size() != 1)
    return ParseError{"Expiration holds one of Days, Date and ExpiredObjectDeleteMarker"};
  const auto& child = expiration.children.front();
  if (child.name == "Days") return read_days(child, rule.expire_days);
  if (child.name == "ExpiredObjectDeleteMarker") {
    rule.expire_lone_markers = base::trim(child.text) == "true";
    return {};
  }
  if (child.name != "Date") return unknown(child, expiration.name);
  const auto date = base::parse_iso8601(base::trim(child.text));
  if (!date) return ParseError{"'Date' must be in ISO 8601 format"};
  rule.expire_date = *date;
  return {};
}

Failure read_noncurrent(const XmlElement& expiration, LifecycleRule& rule) {
  for (const auto& child : expiration.children) {
    if (child.name == "NoncurrentDays") {
      if (auto failure = read_days(child, rule.noncurrent_days)) return failure;
    } else if (child.name == "NewerNoncurrentVersions") {
      const auto count = base::to_uint(base::trim(child.text));
      if (!count || *count < 1 || *count > 100)
        return ParseError{"'NewerNoncurrentVersions' must be between 1 and 100"};
      rule.newer_noncurrent = static_cast<std::size_t>(*count);
    } else {
      return unknown(child, expiration.name);
    }
  }
  if (!rule.noncurrent_days) return ParseError{"NoncurrentVersionExpiration needs NoncurrentDays"};
  return {};
}

Failure read_abort(const XmlElement& abort, LifecycleRule& rule) {
  for (const auto& child : abort.children) {
    if (child.name != "DaysAfterInitiation") return unknown(child, abort.name);
    if (auto failure = read_days(child, rule.abort_days)) return failure;
  }
  if (!rule.abort_days)
    return ParseError{"AbortIncompleteMultipartUpload needs DaysAfterInitiation"};
  return {};
}

struct RuleShape {
  bool filter = false, action = false;
};

Failure read_rule_child(const XmlElement& child, LifecycleRule& rule, RuleShape& shape) {
  const auto& name = child.name;
  if (name == "ID") {
    rule.id = child.text;
    return {};
  }
  if (name == "Status") {
    rule.enabled = child.text == "Enabled";
    if (rule.enabled || child.text == "Disabled") return {};
    return ParseError{"'Status' is Enabled or Disabled, not '" + child.text + "'"};
  }
  if (name == "Prefix" || name == "Filter") {
    if (shape.filter) return ParseError{"a Rule has one Filter or one Prefix"};
    shape.filter = true;
    if (name == "Filter") return read_filter(child, rule);
    rule.prefix = child.text;
    return {};
  }
  shape.action = true;
  if (name == "Expiration") return read_expiration(child, rule);
  if (name == "NoncurrentVersionExpiration") return read_noncurrent(child, rule);
  if (name == "AbortIncompleteMultipartUpload") return read_abort(child, rule);
  if (name == "Transition" || name == "NoncurrentVersionTransition") return {};
  return unknown(child, "Rule");
}

Failure read_rule(const XmlElement& element, LifecycleRule& rule) {
  RuleShape shape;
  for (const auto& child : element.children) {
    if (auto failure = read_rule_child(child, rule, shape)) return failure;
  }
  if (rule.id.size() > 255) return ParseError{"an ID has at most 255 characters"};
  if (!element.find("Status")) return ParseError{"a Rule needs a Status"};
  if (!shape.filter) return ParseError{"a Rule needs a Filter (an empty one means every object)"};
  if (!shape.action) return ParseError{"a Rule needs an action, for example Expiration"};
  if (rule.abort_days && (!rule.tags.empty() || rule.larger_than || rule.smaller_than))
    return ParseError{"AbortIncompleteMultipartUpload takes no filter by tag or size"};
  return {};
}

}  // namespace

base::Result<std::vector<LifecycleRule>> parse_lifecycle(std::string_view text) {
  const auto xml = base::parse_xml(text);
  if (!xml) return xml.error();
  if (xml->name != "LifecycleConfiguration")
    return ParseError{"<LifecycleConfiguration> expected, not <" + xml->name + ">"};
  std::vector<LifecycleRule> rules;
  for (const auto& child : xml->children) {
    if (child.name != "Rule") return unknown(child, xml->name);
    LifecycleRule rule;
    if (auto failure = read_rule(child, rule)) return *failure;
    rules.push_back(std::move(rule));
  }
  if (rules.empty() || rules.size() > most_rules)
    return ParseError{"1 to 1000 Rule elements are allowed"};
  return rules;
}

}  // namespace meridian::s3
