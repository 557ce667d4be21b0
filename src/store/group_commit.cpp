// SPDX-License-Identifier: Apache-2.0
#include "store/group_commit.h"

namespace meridian::store {

CommitResult GroupCommit::commit(std::vector<Write> writes) {
  Waiting mine;
  mine.pending.writes = std::move(writes);
  std::unique_lock lock(mutex_);
  waiting_.push_back(&mine);
  while (!mine.done) {
    if (busy_) {
      ended_.wait(lock);
    } else {
      work(lock);
    }
  }
  if (mine.error) throw base::Error(*mine.error);
  return *mine.pending.result;
}

void GroupCommit::work(std::unique_lock<std::mutex>& lock) {
  constexpr std::size_t most = 256;
  std::vector<Waiting*> group;
  std::vector<Pending*> commits;
  while (!waiting_.empty() && group.size() < most) {
    group.push_back(waiting_.front());
    commits.push_back(&waiting_.front()->pending);
    waiting_.pop_front();
  }
  busy_ = true;
  lock.unlock();
  std::optional<base::Error> error;
  try {
    apply_(commits);
  } catch (const base::Error& e) {
    error = e;
  } catch (const std::exception& e) {
    error = base::Error(base::Code::internal, std::string("cannot commit: ") + e.what());
  }
  lock.lock();
  busy_ = false;
  for (Waiting* each : group) {
    each->error = error;
    each->done = true;
  }
  ended_.notify_all();
}

}  // namespace meridian::store
