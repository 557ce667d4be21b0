// Feeds the FIFOs of Pipe channels: `<channel>_<epoch>` below /opt/ml/input/data, one epoch after
// the other, as long as the program opens them (contract §3.7).
//
//   1. The FIFO of epoch k+1 is there before the program can see the end of epoch k.
//   2. A program that leaves an epoch early finds the next one; one that never opens a FIFO again
//      costs nothing.
//   3. After a restart feeding goes on with the newest FIFO. What was being read then ends early.
//
// The program may write the directory: FIFOs are opened without following links, and nothing but a
// FIFO is written to.
//
// Blocking, one thread per FIFO series; SIGPIPE is blocked in those threads.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <stop_token>
#include <vector>

#include "region/training/request.h"

namespace meridian::region::training {

struct PipeFeed {
  std::filesystem::path instance;   // what the program can't replace
  std::filesystem::path directory;  // of the FIFOs, below it
  Channel channel;
  std::size_t index = 0, count = 1;  // which host of those that get the channel
};

std::string fifo_name(const std::string& channel, int epoch);
// Idempotent. `directory`: an open directory (beneath.h).
void make_fifo(int directory, const std::string& name);
// The newest FIFO's epoch; 0 when there is none yet.
int newest_epoch(const std::filesystem::path& directory, const std::string& channel);

// Returns when `stop` is requested. An error of one feed (data that vanished) ends all and is
// thrown.
void feed_pipes(s3::Objects& objects, const std::vector<PipeFeed>& feeds, std::stop_token stop);

}  // namespace meridian::region::training
