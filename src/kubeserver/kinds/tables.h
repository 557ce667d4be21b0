// Objects as rows: what `kubectl get` prints.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kubeserver/kinds/kind.h"

namespace meridian::kubeserver::kinds {

// meta.k8s.io/v1 Table of objects in the served version.
base::Json make_table(const Served& served, const std::vector<base::Json>& objects,
                      base::Timestamp now, kube::RowObject row_object);
// The object with its metadata only.
base::Json metadata_only(const base::Json& object);

}  // namespace meridian::kubeserver::kinds
