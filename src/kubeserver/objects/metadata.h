// The rules of metadata: what clients may say in it, what the server says.
//
// Source: Kubernetes API conventions, "Object Names and IDs", "Labels and Selectors".
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "kube/status.h"
#include "kubeserver/kinds/kind.h"

namespace meridian::kubeserver::objects {

// Removes members that metadata does not have, nulls and empty collections. The answer: paths of
// the unknown ones. StatusError(400) for a member of another type, as decoding would fail.
std::vector<std::string> clean_metadata(base::Json& object);

// Of a new object: uid, creationTimestamp, generation; takes away what only the server sets. Makes
// the name from generateName when there is none.
void begin_metadata(const kinds::Served& served, base::Json& object, base::Timestamp now,
                    base::Random& random);
// Of a changed one: what only the server sets stays as it was in `old`.
void keep_metadata(base::Json& object, const base::Json& old);

void check_metadata(const kinds::Served& served, const base::Json& object, const base::Json* old,
                    std::vector<kube::Cause>& causes);

}  // namespace meridian::kubeserver::objects
