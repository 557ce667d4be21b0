// Whether a failed attempt is made again, by evaluateOnExit. Pure.
//
// Every condition of a rule must hold; the first rule whose do decides; when none does, the attempt
// is made again. A pattern's trailing '*' stands for any rest; case does not matter in reasons.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "region/batch/jobs/records.h"
#include "region/batch/jobs/spec.h"

namespace meridian::region::batch {

bool reason_matches(std::string_view pattern, std::string_view reason);
// `ended`: of the attempt that was the job's `number`th.
bool is_retried(const JobSpec& spec, const Attempt& ended, int number);

}  // namespace meridian::region::batch
