// The verbs that only look: get, list, watch.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/random.h"
#include "kubeserver/call.h"
#include "kubeserver/objects/hub.h"
#include "kubeserver/objects/objects.h"

namespace meridian::kubeserver {

void serve_get(Call& call, const objects::Objects& objects, base::Timestamp now);
void serve_list(Call& call, const objects::Objects& objects, base::Timestamp now);

struct WatchParts {
  const objects::Objects& objects;
  objects::Hub& hub;
  const base::Clock& clock;
  base::Random& random;
  std::size_t most_watches;
};
// Returns when the client leaves, the time is up, or the server stops.
void serve_watch(Call& call, const WatchParts& parts);

}  // namespace meridian::kubeserver
