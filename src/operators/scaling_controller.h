// Carries HostingAutoscalingPolicy: for each variant that it names, a scalable target and a policy.
//
//   removed from the list ──▶ DeleteScalingPolicy, DeregisterScalableTarget
//   in the list ──▶ RegisterScalableTarget, PutScalingPolicy (both also change what is there)
//   endpoint not in service ──▶ tried again later, and status says when
//
// What stands in status.resourceIDList may exist in the region; it is written before the calls, so
// that a crash leaves nothing behind. An endpoint that was made anew has lost its targets: they are
// looked for every ten minutes and made again. Missing ones do not hold up a deletion.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operators/job_controller.h"

namespace meridian::operators {

class ScalingController {
 public:
  ScalingController(Resources& policies, const ControllerParts& parts, ControllerSettings settings);
  control::Outcome step(const control::Key& key);

  static constexpr base::Duration kLook{600'000};  // at targets that may have gone

 private:
  control::Outcome carry(base::Json& object);
  void put(base::Json& object);
  bool is_complete(const base::Json& object);
  void remove(const base::Json& object, const std::string& policy, const std::string& resource);
  control::Outcome release(base::Json& object);
  control::Outcome after_error(base::Json& object, const base::Error& error);
  base::Json call(const base::Json& object, std::string_view operation,
                  const base::JsonObject& input);

  Resources& policies_;
  ControllerParts parts_;
  ControllerSettings settings_;
  Attempts attempts_;
};

// "endpoint/E/variant/V" of each entry of spec.resourceId.
std::vector<std::string> scaling_resources(const base::Json& policy);
// Inputs of the two calls for one of them. Pure.
base::JsonObject target_input(const base::Json& policy, const std::string& resource);
base::JsonObject policy_input(const base::Json& policy, const std::string& resource);

}  // namespace meridian::operators
