// The namespaces an instance gets before it has processes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "run/instance.h"

namespace meridian::run {

// Puts the calling process (one thread) into a user namespace of its own, in which it has every
// capability and the same user and group ids. Error(failed_precondition) names the setting that
// forbids it.
void enter_user_namespace();

// Puts the calling process into its gang's network namespace (and, without root, user namespace).
// The descriptor keeps the gang alive: hold it as long as the instance. Invalid: host network.
base::UniqueFd join_network(const InstanceSpec& spec, std::vector<std::string>& notes);

}  // namespace meridian::run
