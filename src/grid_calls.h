// Calls of the Meridian service about the catalog and arrays: catalog-tables, catalog-query,
// catalog-import, arrays-preview, arrays-plan. For administrators: a query sees the whole campaign
// database.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>

#include "aws/service.h"
#include "fleet/arrays.h"
#include "identity/identity.h"

namespace meridian {

// `arrays` is asked at each call; it may throw while they are not there yet.
std::map<std::string, aws::OperationHandler> grid_calls(identity::Identity& identity,
                                                        fleet::Catalog& catalog,
                                                        std::function<fleet::Arrays&()> arrays);

}  // namespace meridian
