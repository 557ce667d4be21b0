// Wakes watches after commits, the same for every back end. Private to this folder.
//
// A commit wakes only the watches whose prefix it touches, so thousands of idle watches cost a
// commit one comparison each. A watch then reads the back end's change log by itself: nothing is
// queued for it, so a slow reader costs no memory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "store/store.h"

namespace meridian::store {

// What a watch reads at once.
struct Batch {
  std::vector<Change> changes;  // whole commits
  Revision through = 0;         // all changes up to this revision are in it
  bool complete = true;         // nothing further was there to read
};
inline constexpr std::size_t kBatchChanges = 1000;
inline constexpr std::size_t kBatchBytes = 8u << 20;

using ReadChanges = std::function<Batch(const std::string& prefix, Revision after)>;

class WatchHub {
 public:
  explicit WatchHub(Revision last) : revision_(last) {}
  ~WatchHub();

  Revision revision() const;
  // After the commit `revision` is durable and readable; revisions come in order.
  void publish(Revision revision, const std::vector<std::string>& keys);
  // `last`: what readers of the store can see already, which may be ahead of the hub.
  std::unique_ptr<Watch> watch(std::string prefix, Revision after, Revision last, ReadChanges read);

 private:
  struct Slot {
    std::string prefix;
    std::optional<Revision> first_unread;  // the earliest commit that touches the prefix
    std::condition_variable_any woken;
  };
  class LogWatch;

  mutable std::mutex mutex_;
  Revision revision_;
  std::list<Slot> slots_;
};

}  // namespace meridian::store
