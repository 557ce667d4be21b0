// Brings the workers of a distributed training together: the rendezvous service of libxgboost's
// rabit collectives (protocol of releases 1.x).
//
// Each worker connects and says who it is; once all have come, each gets its rank, its neighbours
// in a binary tree and in a ring, and the addresses of those that listen already; it connects to
// them and tells the port on which it listens for the rest. Ranks follow the task ids in order, so
// that algo-1 is rank 0.
//
//   Tracker tracker(0, 2);                     // any free port, two workers
//   connect workers to tracker.port() …
//
// One thread; the destructor ends it. A connection that breaks the protocol is dropped and logged.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace meridian::xgboost {

class Tracker {
 public:
  // Error when the port is taken.
  Tracker(std::uint16_t port, int workers);
  ~Tracker();
  std::uint16_t port() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The neighbours of a rank.
struct Links {
  int parent = -1;               // in the tree; -1 for rank 0
  std::vector<int> tree;         // parent and children
  int previous = -1, next = -1;  // in the ring
};
Links links_of(int rank, int workers);

}  // namespace meridian::xgboost
