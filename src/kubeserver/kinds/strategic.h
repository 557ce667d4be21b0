// Strategic merge patch as far as the built-in kinds need it: merge patch, plus lists that merge by
// a key (ownerReferences, secrets, conditions …) or as sets (finalizers), plus the directives
// $patch, $retainKeys, $deleteFromPrimitiveList/… and $setElementOrder/….
//
// Source: Kubernetes "Strategic Merge Patch".
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.h"
#include "base/json.h"

namespace meridian::kubeserver::kinds {

// The message says which directive is wrong.
base::Result<base::Json, std::string> apply_strategic_patch(const base::Json& target,
                                                            const base::Json& patch);

}  // namespace meridian::kubeserver::kinds
