// Many callers' commits in one transaction, so that they share its fsync. Private.
//
// There is no thread for it: the first caller works for all that wait at that moment, itself
// included; those that come meanwhile are the next group, with one of them as its worker.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "base/error.h"
#include "store/store.h"

namespace meridian::store {

// One caller's commit on its way.
struct Pending {
  std::vector<Write> writes;
  std::optional<CommitResult> result;
  std::vector<std::string> changed;  // keys
};

class GroupCommit {
 public:
  // Gives every commit of the group a result, durably, in order. What it throws, all get.
  using Apply = std::function<void(const std::vector<Pending*>&)>;

  explicit GroupCommit(Apply apply) : apply_(std::move(apply)) {}
  CommitResult commit(std::vector<Write> writes);

 private:
  struct Waiting {
    Pending pending;
    std::optional<base::Error> error;  // each caller's own copy: callers add notes to it
    bool done = false;
  };
  void work(std::unique_lock<std::mutex>& lock);

  Apply apply_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::deque<Waiting*> waiting_;
  bool busy_ = false;
};

}  // namespace meridian::store
