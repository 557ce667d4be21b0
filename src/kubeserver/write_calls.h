// The verbs that change something: create, update, patch, delete, deletecollection.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kubeserver/call.h"
#include "kubeserver/objects/objects.h"

namespace meridian::kubeserver {

void serve_write(Call& call, objects::Objects& objects);

}  // namespace meridian::kubeserver
