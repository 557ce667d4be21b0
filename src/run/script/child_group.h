// The processes that a launcher starts together: they end together.
//
// The first one that fails decides the outcome and takes the others with it. Nobody waits for a
// helper: it ends with the last of the others. SIGTERM to this process is passed on to all of them.
// Their standard error passes through here, so that its last lines can be told.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"

namespace meridian::run {

class ChildGroup {
 public:
  using Rewrite = std::function<std::string(std::string_view line)>;

  ChildGroup();
  ~ChildGroup();

  // Both streams of children started afterwards pass through here by whole lines, so that lines of
  // several children never mix; each as `rewrite` returns it.
  void rewrite_lines(Rewrite rewrite) { rewrite_ = std::move(rewrite); }
  void keep_lines_whole() {
    rewrite_lines([](std::string_view line) { return std::string(line); });
  }

  void start(const std::vector<std::string>& argv,
             const std::map<std::string, std::string>& extra_environment,
             const std::string& working_directory);
  void start_helper(const std::vector<std::string>& argv,
                    const std::map<std::string, std::string>& extra_environment,
                    const std::string& working_directory);

  struct Outcome {
    int code = 0;             // 128 + signal for a killed child
    std::string last_errors;  // end of the standard error of all
  };
  Outcome wait();  // once, after the last start

 private:
  struct Pipe;
  pid_t launch(const std::vector<std::string>& argv,
               const std::map<std::string, std::string>& extra_environment,
               const std::string& working_directory);
  void take_signals();
  void reap();
  bool open_pipes() const;
  void pump(int timeout_ms);
  void take_output(Pipe& pipe);
  void signal_all(int number) const;

  base::UniqueFd signals_;
  Rewrite rewrite_;
  std::vector<pid_t> running_, helpers_;
  std::vector<std::unique_ptr<Pipe>> pipes_;
  Outcome outcome_;
  bool decided_ = false;
};

}  // namespace meridian::run
