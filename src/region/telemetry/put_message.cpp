// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/put_message.h"

#include "base/strings.h"

namespace meridian::region::telemetry {

std::string encode_put_message(const PutMessage& message) {
  std::string out = std::to_string(message.ingested.ms) + ' ';
  for (const char c : message.message) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\\') {
      out += "\\\\";
    } else {
      out += c;
    }
  }
  return out;
}

PutMessage decode_put_message(std::string_view stored) {
  PutMessage out;
  const std::size_t space = stored.find(' ');
  if (space != std::string_view::npos)
    if (const auto ms = base::to_int(stored.substr(0, space))) {
      out.ingested.ms = *ms;
      stored.remove_prefix(space + 1);
    }
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const bool escape = stored[i] == '\\' && i + 1 < stored.size();
    if (!escape) {
      out.message += stored[i];
      continue;
    }
    ++i;
    out.message += stored[i] == 'n' ? '\n' : stored[i] == 'r' ? '\r' : stored[i];
  }
  return out;
}

}  // namespace meridian::region::telemetry
