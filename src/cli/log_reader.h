// The log lines of a training job as they come, over all its instances.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "aws/client.h"
#include "base/clock.h"

namespace meridian::cli {

struct LogLine {
  base::Timestamp at{};
  std::string host;  // algo-1
  std::string text;
};

// "algo-1" of "job/algo-1-1700000000".
std::string host_of_stream(std::string_view stream);

// Where the last `tail` of so many lines begin; a negative tail is all of them.
std::size_t first_shown(std::size_t lines, int tail);

class LogReader {
 public:
  // `host`: only this instance's; empty = all.
  LogReader(aws::ServiceClient& logs, std::string job, std::string host = "");
  // Another client from now on; what was read stays read.
  void use(aws::ServiceClient& logs) { logs_ = &logs; }
  // What came since the last call, by time. Streams that a restarted instance opened are found too.
  std::vector<LogLine> poll();

 private:
  void find_streams();
  void read(const std::string& stream, std::string& token, std::vector<LogLine>& lines);

  aws::ServiceClient* logs_;
  std::string job_, host_;
  std::map<std::string, std::string> tokens_;  // stream → where to go on
};

}  // namespace meridian::cli
