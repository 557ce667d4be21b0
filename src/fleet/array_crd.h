// The CustomResourceDefinition of TrainingArray (meridian.dev/v1alpha1).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"

namespace meridian::fleet {

base::Json training_array_crd();

}  // namespace meridian::fleet
