// Follows a training job on the console until it ends, or until Ctrl-C detaches.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"

namespace meridian::cli {

// While it lives, Ctrl-C only sets a flag. One at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  bool requested() const;
  // Waits for the time or the interrupt; says whether to go on.
  bool wait(base::Duration time) const;
};

inline constexpr int kDetached = 130;

// Which lines of the log are shown, and how.
struct LogStyle {
  std::string instance;  // only of this one, like algo-1; empty = all
  int tail = -1;         // of what is there at first, only the last so many; -1 = all
  bool timestamps = false, no_prefix = false;
};

// metrics: name and regex, for the live view, from the lines of the style's instance. Exit status:
// 0 Completed, 1 Failed or Stopped, kDetached.
int follow_job(Context& context, const std::string& job,
               const std::vector<std::pair<std::string, std::string>>& metrics,
               const LogStyle& style = {});

// The definitions in the answer of DescribeTrainingJob.
std::vector<std::pair<std::string, std::string>> metric_definitions(const base::Json& answer);

}  // namespace meridian::cli
