// Strategies by name.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "tune/search/strategy.h"

namespace meridian::tune {

// SageMaker's names, and ours for what it does not have.
std::vector<std::string_view> strategy_names();

// With its settings at their defaults. Throws Error(invalid_argument) that lists the names.
std::unique_ptr<Strategy> make_strategy(std::string_view name);

}  // namespace meridian::tune
