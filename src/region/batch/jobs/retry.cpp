// SPDX-License-Identifier: Apache-2.0
#include "region/batch/jobs/retry.h"

#include "base/strings.h"

namespace meridian::region::batch {

bool reason_matches(std::string_view pattern, std::string_view reason) {
  if (!pattern.ends_with('*')) return base::equals_ignoring_case(pattern, reason);
  pattern.remove_suffix(1);
  return reason.size() >= pattern.size() &&
         base::equals_ignoring_case(pattern, reason.substr(0, pattern.size()));
}

bool is_retried(const JobSpec& spec, const Attempt& ended, int number) {
  if (number >= spec.attempts) return false;
  const std::string code = ended.exit_code ? std::to_string(*ended.exit_code) : "";
  for (const ExitRule& rule : spec.exit_rules) {
    if (rule.status_reason && !reason_matches(*rule.status_reason, ended.status_reason)) continue;
    if (rule.reason && !reason_matches(*rule.reason, ended.reason)) continue;
    if (rule.exit_code && (!ended.exit_code || !reason_matches(*rule.exit_code, code))) continue;
    return rule.retry;
  }
  return true;
}

}  // namespace meridian::region::batch
