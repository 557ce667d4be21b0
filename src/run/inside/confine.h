// Takes from the calling process everything that a training has no use for.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "run/inside/id_map.h"

namespace meridian::run {

// Becomes `who` (real root only changes identity), without capabilities, for good.
void drop_privileges(Identity who);
// Refuses system calls that change mounts, namespaces, keys or the kernel. Inherited.
void deny_system_calls();

}  // namespace meridian::run
