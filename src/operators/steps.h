// What every controller's step does around its own work.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "control/runner.h"
#include "kube/object.h"
#include "kube/status.h"

namespace meridian::operators {

// "<plural>/NAMESPACE/NAME" → the resource.
inline kube::ObjectKey object_of(const control::Key& key) {
  const std::size_t first = key.find('/'), second = key.find('/', first + 1);
  return {key.substr(first + 1, second - first - 1), key.substr(second + 1)};
}

// Runs `work`, which returns an Outcome. A resource that was deleted meanwhile ends the step; what
// else the Kubernetes API refuses is the runner's to try again; a region's error goes to
// `after_error`.
template <class Work, class AfterError>
control::Outcome run_step(Work work, AfterError after_error) {
  try {
    return work();
  } catch (const kube::StatusError& error) {
    if (error.reason() == "NotFound") return control::Outcome::done();
    throw;
  } catch (const base::Error& error) {
    return after_error(error);
  }
}

}  // namespace meridian::operators
