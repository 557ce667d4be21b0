// The formats of strings that are checked.
//
// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/strings.h"
#include "kube/cel/duration.h"
#include "kube/labels.h"
#include "kube/object.h"
#include "kube/schema_node.h"

namespace meridian::kube {
namespace {

bool is_date(std::string_view text) {
  return text.size() == 10 && text[4] == '-' && text[7] == '-' && base::parse_iso8601(text).ok();
}

bool is_address(std::string_view text, int family) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return inet_pton(family, std::string(text).c_str(), address.data()) == 1 &&
         text.find('\0') == std::string_view::npos;
}

bool is_cidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const auto bits = base::to_uint(text.substr(slash + 1));
  const std::string_view address = text.substr(0, slash);
  if (is_address(address, AF_INET)) return bits && *bits <= 32;
  return is_address(address, AF_INET6) && bits && *bits <= 128;
}

bool is_uuid(std::string_view text) {
  static constexpr std::string_view form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  return std::equal(text.begin(), text.end(), form.begin(), form.end(), [](char c, char wanted) {
    return wanted == 'x' ? std::isxdigit(static_cast<unsigned char>(c)) != 0 : c == wanted;
  });
}

bool is_email(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos || at == 0 || at + 1 == text.size()) return false;
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) <= ' '; });
}

bool is_uri(std::string_view text) {
  const std::size_t colon = text.find(':');
  const bool absolute = colon != std::string_view::npos && colon > 0 && colon + 1 < text.size();
  if (!absolute && !text.starts_with("/")) return false;
  if (absolute && std::isalpha(static_cast<unsigned char>(text.front())) == 0 && text[0] != '/') {
    return false;
  }
  return std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '<' || c == '>' || c == 0x7f;
  });
}

struct Format {
  std::string_view name;
  bool (*accepts)(std::string_view text);
};
constexpr Format formats[] = {
    {"date", is_date},
    {"date-time", [](std::string_view text) { return parse_time(text).has_value(); }},
    {"datetime", [](std::string_view text) { return parse_time(text).has_value(); }},
    {"duration", [](std::string_view text) { return parse_duration(text).has_value(); }},
    {"byte", [](std::string_view text) { return base::unbase64(text).has_value(); }},
    {"uuid", is_uuid},
    {"ipv4", [](std::string_view text) { return is_address(text, AF_INET); }},
    {"ipv6", [](std::string_view text) { return is_address(text, AF_INET6); }},
    {"cidr", is_cidr},
    {"hostname",
     [](std::string_view text) { return !why_not_subdomain(base::to_lower(text)).has_value(); }},
    {"email", is_email},
    {"uri", is_uri},
};

}  // namespace

bool has_format(std::string_view format, std::string_view text) {
  const auto* found = std::find_if(std::begin(formats), std::end(formats),
                                   [&](const Format& one) { return one.name == format; });
  return found == std::end(formats) || found->accepts(text);
}

}  // namespace meridian::kube
