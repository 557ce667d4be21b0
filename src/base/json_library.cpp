// Boost.JSON, compiled once here instead of linked: Debian ships it in a package of its own.
//
// SPDX-License-Identifier: Apache-2.0
#include <boost/json/src.hpp>
