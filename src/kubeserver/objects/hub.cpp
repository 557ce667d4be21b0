// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/objects/hub.h"

#include <pthread.h>

#include <algorithm>

#include "base/log.h"
#include "kube/status.h"

namespace meridian::kubeserver::objects {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostAtOnce = 250;
constexpr milliseconds kPositionRefresh{30'000};
constexpr milliseconds kPause{200};  // after a failure

kube::StatusError too_old(store::Revision position) {
  return kube::expired("too old resource version: " + std::to_string(position));
}

}  // namespace

Hub::Hub(const Storage& storage, HubSettings settings)
    : storage_(storage), settings_(settings), position_(storage.store().revision()) {
  reader_ = std::jthread([this](std::stop_token stop) { run(stop); });
}

Hub::~Hub() { stop(); }

void Hub::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    for (const auto& [name, feed] : feeds_) feed->changed.notify_all();
  }
  reader_.request_stop();
}

bool Hub::stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

std::size_t Hub::watchers() const {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const auto& [name, feed] : feeds_) count += feed->watchers;
  return count;
}

void Hub::run(std::stop_token stop) {
  pthread_setname_np(pthread_self(), "kube-hub");
  while (!stop.stop_requested()) {
    try {
      const auto watch = storage_.store().watch(storage_.prefix(), position_);
      follow(*watch, stop);
    } catch (const base::Error& error) {
      // Behind the change log, or the disk fails: whoever waits reads the store by itself.
      base::log_warn("watches begin again", {{"why", error.what()}});
      restart_at(storage_.store().revision());
      std::unique_lock lock(mutex_);
      std::condition_variable_any().wait_for(lock, stop, kPause, [] { return false; });
    }
  }
}

void Hub::follow(store::Watch& watch, std::stop_token stop) {
  while (!stop.stop_requested()) {
    std::vector<store::Change> changes = watch.wait_next(stop, kPositionRefresh);
    publish(std::move(changes), watch.position());
  }
}

void Hub::publish(std::vector<store::Change> changes, store::Revision position) {
  const std::lock_guard lock(mutex_);
  position_ = std::max(position_, position);
  for (store::Change& change : changes) {
    auto location = storage_.location_of(change.document.key);
    if (!location) continue;
    const auto feed = feeds_.find(location->collection);
    if (feed == feeds_.end()) continue;
    append(*feed->second, std::make_shared<const Event>(std::move(*location), std::move(change)));
    feed->second->changed.notify_all();
  }
}

void Hub::append(Feed& feed, EventPtr event) const {
  feed.bytes += event->bytes();
  feed.recent.push_back(std::move(event));
  while (feed.recent.size() > settings_.most_recent || feed.bytes > settings_.most_recent_bytes) {
    feed.begin = feed.recent.front()->revision();
    feed.bytes -= feed.recent.front()->bytes();
    feed.recent.pop_front();
    if (feed.recent.empty()) return;
  }
}

void Hub::restart_at(store::Revision revision) {
  const std::lock_guard lock(mutex_);
  position_ = std::max(position_, revision);
  for (const auto& [name, feed] : feeds_) {
    feed->recent.clear();
    feed->bytes = 0;
    feed->begin = position_;
    feed->changed.notify_all();
  }
}

std::unique_ptr<Hub::Watcher> Hub::watch(const std::string& collection, store::Revision after) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Feed>& feed = feeds_[collection];
  if (!feed) {
    feed = std::make_shared<Feed>();
    feed->begin = position_;
  }
  ++feed->watchers;
  return std::make_unique<Watcher>(*this, collection, feed, after);
}

Hub::Watcher::Watcher(Hub& hub, std::string collection, std::shared_ptr<Feed> feed,
                      store::Revision after)
    : hub_(hub), collection_(std::move(collection)), feed_(std::move(feed)), position_(after) {}

Hub::Watcher::~Watcher() {
  const std::lock_guard lock(hub_.mutex_);
  if (--feed_->watchers > 0) return;
  const auto own = hub_.feeds_.find(collection_);
  if (own != hub_.feeds_.end() && own->second == feed_) hub_.feeds_.erase(own);
}

std::vector<EventPtr> Hub::Watcher::take_recent() {
  const auto first = std::ranges::upper_bound(feed_->recent, position_, {},
                                              [](const EventPtr& e) { return e->revision(); });
  std::vector<EventPtr> out;
  for (auto it = first; it != feed_->recent.end(); ++it) {
    // A commit's events stay together: the position is a revision.
    if (out.size() >= kMostAtOnce && (*it)->revision() != out.back()->revision()) break;
    out.push_back(*it);
  }
  if (!out.empty()) {
    position_ = out.back()->revision();
  } else {
    position_ = std::max(position_, hub_.position_);
  }
  return out;
}

std::vector<EventPtr> Hub::Watcher::catch_up() {
  std::vector<EventPtr> out;
  try {
    if (!own_) {
      own_ = hub_.storage_.store().watch(hub_.storage_.prefix_of(collection_), position_);
    }
    for (store::Change& change : own_->wait_next({}, milliseconds(0))) {
      auto location = hub_.storage_.location_of(change.document.key);
      if (!location) continue;
      out.push_back(std::make_shared<const Event>(std::move(*location), std::move(change)));
    }
    position_ = std::max(position_, own_->position());
  } catch (const base::Error& error) {
    if (error.code() == base::Code::failed_precondition) throw too_old(position_);
    throw;
  }
  return out;
}

std::vector<EventPtr> Hub::Watcher::wait_next(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(hub_.mutex_);
  while (!hub_.stopped_) {
    std::vector<EventPtr> events;
    if (position_ < feed_->begin) {
      lock.unlock();
      events = catch_up();
      lock.lock();
    } else {
      own_.reset();
      events = take_recent();
    }
    if (!events.empty()) return events;
    if (position_ < feed_->begin) continue;
    if (feed_->changed.wait_until(lock, deadline) == std::cv_status::timeout) break;
  }
  return {};
}

}  // namespace meridian::kubeserver::objects
