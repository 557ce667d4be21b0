// SPDX-License-Identifier: Apache-2.0
#include "s3/server/cors.h"

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "base/xml.h"

namespace meridian::s3 {
namespace {

// `pattern` holds at most one '*'.
bool matches(std::string_view pattern, std::string_view text) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  const auto head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  return text.size() >= head.size() + tail.size() && text.starts_with(head) && text.ends_with(tail);
}

bool any_matches(const std::vector<std::string>& patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const auto& pattern) { return matches(pattern, text); });
}

bool allows_headers(const CorsRule& rule, std::string_view asked) {
  if (asked.empty()) return true;
  for (const auto& name : base::split(asked, ',')) {
    if (!any_matches(rule.headers, base::to_lower(base::trim(name)))) return false;
  }
  return true;
}

}  // namespace

base::Result<std::vector<CorsRule>> parse_cors(std::string_view text) {
  const auto xml = base::parse_xml(text);
  if (!xml) return xml.error();
  if (xml->name != "CORSConfiguration")
    return base::ParseError{"<CORSConfiguration> expected, not <" + xml->name + ">"};
  std::vector<CorsRule> rules;
  for (const auto& child : xml->children) {
    if (child.name != "CORSRule") continue;
    CorsRule rule;
    for (const auto& item : child.children) {
      if (item.name == "AllowedOrigin") rule.origins.push_back(item.text);
      if (item.name == "AllowedMethod") rule.methods.push_back(item.text);
      if (item.name == "AllowedHeader") rule.headers.push_back(base::to_lower(item.text));
      if (item.name == "ExposeHeader") rule.exposed.push_back(item.text);
      if (item.name == "MaxAgeSeconds") rule.max_age = item.text;
    }
    for (const auto& method : rule.methods) {
      constexpr std::array<std::string_view, 5> known{"GET", "PUT", "HEAD", "POST", "DELETE"};
      if (std::find(known.begin(), known.end(), method) == known.end())
        return base::ParseError{"unsupported AllowedMethod '" + method + "'"};
    }
    if (rule.origins.empty() || rule.methods.empty())
      return base::ParseError{"a CORSRule needs AllowedOrigin and AllowedMethod"};
    rules.push_back(std::move(rule));
  }
  if (rules.empty() || rules.size() > 100) return base::ParseError{"1 to 100 CORSRule are allowed"};
  return rules;
}

const CorsRule* match_cors(const std::vector<CorsRule>& rules, std::string_view origin,
                           std::string_view method, std::string_view asked) {
  for (const auto& rule : rules) {
    const bool allowed =
        std::find(rule.methods.begin(), rule.methods.end(), method) != rule.methods.end();
    if (allowed && any_matches(rule.origins, origin) && allows_headers(rule, asked)) return &rule;
  }
  return nullptr;
}

void add_cors(net::Headers& headers, const CorsRule& rule, std::string_view origin) {
  const bool any = std::find(rule.origins.begin(), rule.origins.end(), "*") != rule.origins.end();
  headers.set("Access-Control-Allow-Origin", any ? "*" : std::string(origin));
  headers.set("Access-Control-Allow-Methods", base::join(rule.methods, ", "));
  if (!rule.exposed.empty())
    headers.set("Access-Control-Expose-Headers", base::join(rule.exposed, ", "));
  if (!rule.max_age.empty()) headers.set("Access-Control-Max-Age", rule.max_age);
  if (!any) headers.set("Access-Control-Allow-Credentials", "true");
  headers.set("Vary", "Origin, Access-Control-Request-Headers, Access-Control-Request-Method");
}

}  // namespace meridian::s3
