// Puts in place what a gang needs before it starts: the program, code, channels, checkpoints and
// config files of each instance. Blocking: the work of an activity. Idempotent.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "region/training/core.h"

namespace meridian::region::training {

// What staging found out, kept in the record.
struct Staged {
  Program program;
  base::JsonObject run_record;
  std::vector<std::string> warnings;
};

// Errors name what was being staged. Codes: see blame_of().
Staged stage_job(Core& core, const JobRecord& record, const s3::OnProgress& progress,
                 std::stop_token stop);

// Whose fault a failed activity is: the request's (client) or ours (lost, worth a retry).
Cause blame_of(const base::Error& error);

base::JsonObject program_json(const Program& program);
Program parse_program(const base::JsonObject& json);

}  // namespace meridian::region::training
