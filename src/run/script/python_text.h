// How Python prints the values of a JSON document: hyperparameters reach scripts as str() makes
// them, whatever language the script is in.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json_fwd.h"

namespace meridian::run {

std::string python_str(const base::Json& value);   // True, None, 1e-05, [1, 'a'], text as it is
std::string python_repr(const base::Json& value);  // the same, but strings quoted

}  // namespace meridian::run
