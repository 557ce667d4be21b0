// Resources that show a job which no resource made: trials of a tuning job, jobs of other clients.
//
// They carry a label, no finalizer, and the job's description as their spec. Nothing that happens
// to them reaches the job; JobController only copies the job's status into theirs. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "kube/object.h"
#include "operators/kinds.h"
#include "operators/remote.h"

namespace meridian::operators {

inline constexpr std::string_view kMirrorLabel = "meridian.dev/mirror";
inline constexpr std::string_view kTrial = "trial";      // its value: of a tuning job
inline constexpr std::string_view kOfRegion = "region";  // its value: of another client
inline constexpr std::string_view kTuningLabel = "meridian.dev/tuning-job";  // of a trial

bool is_mirror(const base::Json& object);

// The object's name for a job's: in lower case, and with 8 hex digits when that changed it, so that
// "Digits" and "digits" stay two.
std::string mirror_name(std::string_view job);

// `description`: the answer of the kind's Describe.
base::Json mirror_object(const Kind& kind, const Place& place, const base::Json& description,
                         const std::string& ns, std::string_view of);

}  // namespace meridian::operators
