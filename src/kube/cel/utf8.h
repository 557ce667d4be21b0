// Texts as code points: what CEL counts and cuts by.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace meridian::kube::cel {

// Bytes that are no UTF-8 count as U+FFFD each.
std::u32string to_code_points(std::string_view text);
std::string to_utf8(std::u32string_view points);
void append_utf8(std::string& out, char32_t point);

}  // namespace meridian::kube::cel
