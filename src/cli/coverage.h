// Whether an operator acts on the resources of a namespace.
//
// A resource in a namespace that no operator covers is stored and nothing else happens. Operators
// hold a Lease in the namespaces they cover (operators/heartbeat.h), and what they act on gets a
// status.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "cli/cluster.h"

namespace meridian::cli {

// Whether the Lease is held. Pure.
bool is_held(const base::Json& lease, base::Timestamp now);

// The warning, or "" when an operator covers the namespace, or when that cannot be known. Looks at
// the object and the Lease again until `patience` is over: a first status takes a moment.
std::string uncovered(Context& context, Cluster& cluster, const Served& served,
                      const kube::ObjectKey& key, base::Duration patience);

}  // namespace meridian::cli
