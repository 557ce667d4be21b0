// SPDX-License-Identifier: Apache-2.0
#include "store/hub.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace meridian::store {

class WatchHub::LogWatch final : public Watch {
 public:
  LogWatch(WatchHub& hub, std::list<Slot>::iterator slot, Revision after, ReadChanges read)
      : hub_(hub), slot_(slot), position_(after), read_(std::move(read)) {}

  ~LogWatch() override {
    std::lock_guard lock(hub_.mutex_);
    hub_.slots_.erase(slot_);
  }

  Revision position() const override { return position_; }

  std::vector<Change> wait_next(std::stop_token stop, std::chrono::milliseconds timeout) override {
    // Bounded, because a time point past the clock's range would wrap around.
    const auto deadline = std::chrono::steady_clock::now() +
                          std::min<std::chrono::milliseconds>(timeout, std::chrono::hours(8760));
    while (wait_unread(stop, deadline)) {
      Batch batch = read_or_stay_unread();
      position_ = std::max(position_, batch.through);
      if (!batch.complete) mark_unread(position_ + 1);
      if (!batch.changes.empty()) return std::move(batch.changes);
    }
    return {};
  }

 private:
  template <class TimePoint>
  bool wait_unread(std::stop_token& stop, TimePoint deadline) {
    std::unique_lock lock(hub_.mutex_);
    const bool any = slot_->woken.wait_until(lock, stop, deadline,
                                             [&] { return slot_->first_unread.has_value(); });
    if (stop.stop_requested()) return false;
    if (!any) {
      // Nothing of this prefix so far: a quiet watch does not grow old.
      position_ = std::max(position_, hub_.revision_);
      return false;
    }
    position_ = std::max(position_, *slot_->first_unread - 1);
    slot_->first_unread.reset();
    return true;
  }

  Batch read_or_stay_unread() {
    try {
      return read_(slot_->prefix, position_);
    } catch (...) {
      mark_unread(position_ + 1);  // the next call meets the same Error, or goes on
      throw;
    }
  }

  void mark_unread(Revision revision) {
    std::lock_guard lock(hub_.mutex_);
    slot_->first_unread = std::min(slot_->first_unread.value_or(revision), revision);
  }

  WatchHub& hub_;
  std::list<Slot>::iterator slot_;
  Revision position_;
  ReadChanges read_;
};

WatchHub::~WatchHub() { assert(slots_.empty() && "a watch outlives its store"); }

Revision WatchHub::revision() const {
  std::lock_guard lock(mutex_);
  return revision_;
}

void WatchHub::publish(Revision revision, const std::vector<std::string>& keys) {
  std::lock_guard lock(mutex_);
  revision_ = revision;
  for (Slot& slot : slots_) {
    if (slot.first_unread) continue;
    if (std::ranges::any_of(keys, [&](const auto& k) { return k.starts_with(slot.prefix); })) {
      slot.first_unread = revision;
      slot.woken.notify_all();
    }
  }
}

std::unique_ptr<Watch> WatchHub::watch(std::string prefix, Revision after, Revision last,
                                       ReadChanges read) {
  if (after > last) {
    throw base::Error(base::Code::failed_precondition,
                      fmt::format("expired: a watch from revision {}, but the last one here is {}; "
                                  "list again",
                                  after, last));
  }
  std::lock_guard lock(mutex_);
  slots_.emplace_back().prefix = std::move(prefix);
  const auto slot = std::prev(slots_.end());
  if (after < revision_) slot->first_unread = after + 1;
  return std::make_unique<LogWatch>(*this, slot, after, std::move(read));
}

}  // namespace meridian::store
