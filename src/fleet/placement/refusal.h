// Why a row is not somewhere, in words.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "fleet/placement/schedule.h"

namespace meridian::fleet::placement {

// "needs 8 ml.p3.16xlarge, at most 4 are free there"
std::string text_of(const Model& model, std::size_t row, const Judgement& judgement);

// Of a row without a place in the solution.
std::string why_it_waits(const Model& model, const Solution& solution, std::size_t row);

// "1.5 h", "20 min", "45 s"
std::string hours_text(double hours);
// "12.30 USD", "0.0042 USD"
std::string usd_text(double usd);

}  // namespace meridian::fleet::placement
