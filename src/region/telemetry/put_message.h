// Messages of put streams in their file: `<ingestion ms> <message>`, where `\n` stands for a
// newline, `\r` for a carriage return and `\\` for a backslash, because a record is one line.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"

namespace meridian::region::telemetry {

struct PutMessage {
  base::Timestamp ingested{};
  std::string message;
};

std::string encode_put_message(const PutMessage& message);
PutMessage decode_put_message(std::string_view stored);  // total: damage shows as it is

}  // namespace meridian::region::telemetry
