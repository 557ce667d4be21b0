// Inputs of CloudWatch Logs operations and their common errors.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aws/service.h"
#include "base/json_fwd.h"
#include "region/telemetry/log_store.h"

namespace meridian::region::telemetry {

std::string input_string(const base::JsonObject& in, std::string_view key);  // "" when absent
std::optional<std::int64_t> input_int(const base::JsonObject& in, std::string_view key);
bool input_bool(const base::JsonObject& in, std::string_view key);  // false when absent

// By logGroupName, logGroupIdentifier (name or ARN); ResourceNotFoundException.
std::string required_group(const LogStore& logs, const base::JsonObject& in);
StreamRecord required_stream(const LogStore& logs, const base::JsonObject& in);

// Events of PutLogEvents within CloudWatch's limits, or the error it gives.
struct PutBatch {
  std::vector<PutEvent> events;
  std::optional<std::int64_t> too_old_end, too_new_start;  // indexes of what was rejected
};
PutBatch parse_put_batch(const base::JsonObject& in, base::Timestamp now);

[[noreturn]] void refuse_token();

// Runs it; a refused token becomes the client's error.
template <class F>
auto with_token_errors(F&& work) {
  try {
    return std::forward<F>(work)();
  } catch (const base::Error& error) {  // only to give it the protocol's name
    if (error.code() == base::Code::invalid_argument) refuse_token();
    throw;
  }
}

}  // namespace meridian::region::telemetry
