// The first process inside an instance: builds its view, starts the program and what the
// supervisor asks for, reaps everything, and takes the rest down when the program has ended.
//
// It runs as the program's user without capabilities once the view stands. Its own death, and the
// supervisor's, end every process of the instance (the kernel sees to it: PID namespace, parent
// death signal).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "run/inside/file_server.h"
#include "run/instance.h"

namespace meridian::run {

struct Pid1 {
  const InstanceSpec& spec;
  std::string init_program;
  bool real_root = false;
  int channel = -1;  // to the supervisor: run/message.h packets
  int standard_output = -1, standard_error = -1;
  std::map<std::size_t, FileServer>& files;  // by index of the spec's mounts
};

// Never returns. On the channel: "ready" {notes}, then after "go" "started", "exec_ended"
// {exec, status}, at last "ended" {status}; or "failed" {message}. Statuses are those of wait(2).
[[noreturn]] void run_pid1(const Pid1& settings);

}  // namespace meridian::run
