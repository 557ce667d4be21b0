// Watches: one reader follows the store for all of them.
//
// What happens lately to a collection that somebody watches is kept as a bounded list of events,
// shared by its watchers. A watcher that begins further back, or fell behind, reads the store's
// change log by itself until it is there again; past the end of the log it gets StatusError(410).
// So a slow watcher costs no memory, and history is as long as the store's change log.
//
// Thread-safe; a watcher is used by one thread at a time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kubeserver/objects/event.h"

namespace meridian::kubeserver::objects {

struct HubSettings {
  // Events kept for each collection that is watched, whichever is less.
  std::size_t most_recent = 1'000;
  std::size_t most_recent_bytes = 2u << 20;
};

class Hub {
 public:
  explicit Hub(const Storage& storage, HubSettings settings = {});
  ~Hub();  // no watcher may be left

  class Watcher;
  // Events of the collection after that revision.
  std::unique_ptr<Watcher> watch(const std::string& collection, store::Revision after);
  // Ends all watches, those to come included.
  void stop();
  bool stopped() const;
  std::size_t watchers() const;

 private:
  struct Feed {
    std::deque<EventPtr> recent;
    std::size_t bytes = 0;
    store::Revision begin = 0;  // every event after this revision is in `recent`
    std::size_t watchers = 0;
    std::condition_variable_any changed;
  };

  void run(std::stop_token stop);
  void follow(store::Watch& watch, std::stop_token stop);
  void publish(std::vector<store::Change> changes, store::Revision position);
  void restart_at(store::Revision revision);
  void append(Feed& feed, EventPtr event) const;

  const Storage& storage_;
  const HubSettings settings_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Feed>> feeds_;
  store::Revision position_;  // everything up to here is with the feeds
  bool stopped_ = false;
  std::jthread reader_;
};

class Hub::Watcher {
 public:
  Watcher(Hub& hub, std::string collection, std::shared_ptr<Feed> feed, store::Revision after);
  ~Watcher();

  // The next events in order, or none at the deadline or once the hub is stopped.
  // StatusError(410): the history does not reach back so far; list again.
  std::vector<EventPtr> wait_next(std::chrono::steady_clock::time_point deadline);
  // Every event up to this revision has been returned.
  store::Revision position() const { return position_; }

 private:
  std::vector<EventPtr> take_recent();  // under the lock
  std::vector<EventPtr> catch_up();

  Hub& hub_;
  const std::string collection_;
  const std::shared_ptr<Feed> feed_;
  store::Revision position_;
  std::unique_ptr<store::Watch> own_;  // while it catches up
};

}  // namespace meridian::kubeserver::objects
