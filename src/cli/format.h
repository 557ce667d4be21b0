// Values as people read them, and as shells do.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json_fwd.h"

namespace meridian::cli {

std::string format_age(base::Duration age);  // "5s", "12m", "3h", "4d"
std::string format_number(double value);     // "0.9889", "5716.8", "3.2e-05", "1437"
std::string format_money(double dollars);    // "$0.0005", "$12.40"
// A time of an AWS answer: epoch seconds as a number. Nothing when absent.
std::optional<base::Timestamp> find_time(const base::Json& object, std::string_view member);
// As one word for a POSIX shell.
std::string shell_quote(std::string_view text);
// "1 instance", "2 instances".
std::string count_of(std::int64_t count, std::string_view noun);

}  // namespace meridian::cli
