// The JSON value, by name only: for headers that pass it through.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/fwd.hpp>

namespace meridian::base {
using Json = boost::json::value;
using JsonObject = boost::json::object;
using JsonArray = boost::json::array;
}  // namespace meridian::base
