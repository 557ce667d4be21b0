// FailureReason: what a person needs to read to mend a failed job. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "run/instance.h"

namespace meridian::region::training {

struct FailureFacts {
  run::ExitStatus exit;
  std::string host;
  std::string file;                     // /opt/ml/output/failure, "" when absent
  std::vector<std::string> last_lines;  // of the host's log
  std::uint64_t memory_limit_bytes = 0;
};

// "AlgorithmError: <the program's own text, else its last lines>, exit code: 3"; at most 1024
// bytes.
std::string algorithm_error(const FailureFacts& facts);
std::string client_error(const std::string& message);
// `message` says what was asked for and what there is; AWS's words come first.
std::string capacity_error(const std::string& message);
// `message` says what was lost; AWS's words come first, because clients look for them.
std::string internal_error(const std::string& message);

base::JsonObject exit_json(const run::ExitStatus& exit);
run::ExitStatus parse_exit(const base::JsonObject& json);
// For people, kept with the job: Host, Kind, ExitCode, EndTime, CpuSeconds, MemoryBytes.
base::JsonObject exit_facts(const std::string& host, const run::ExitStatus& exit);

}  // namespace meridian::region::training
