// What may be a name, a label's key and a label's value.
//
// Each why_not_x says in Kubernetes' terms why `text` is none; nothing when it is one.
//
// Source: Kubernetes "Object Names and IDs", "Labels and Selectors"; RFC 1123, RFC 1035.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace meridian::kube {

std::optional<std::string> why_not_label_key(std::string_view text);    // "example.com/name"
std::optional<std::string> why_not_label_value(std::string_view text);  // at most 63, may be empty
std::optional<std::string> why_not_dns_label(std::string_view text);    // RFC 1123, at most 63
std::optional<std::string> why_not_dns_1035_label(std::string_view text);  // starts with a letter
std::optional<std::string> why_not_subdomain(std::string_view text);       // at most 253
// A segment of a URL path: neither "." nor "..", without '/' and '%'.
std::optional<std::string> why_not_path_segment(std::string_view text);

}  // namespace meridian::kube
