// The dated list prices that Meridian ships, and the pools of its own regions, as the catalog and
// plans want them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/json.h"
#include "fleet/catalog.h"
#include "fleet/placement/problem.h"

namespace meridian {

// Into a catalog that has no offer yet; with year and source, and without capacity.
void seed_offers(fleet::Catalog& catalog);

// Of the answer of the call `capacity`.
std::vector<fleet::placement::Pool> pools_of(const base::Json& capacity);

}  // namespace meridian
