// SPDX-License-Identifier: Apache-2.0
#include "control/activity.h"

#include <algorithm>
#include <deque>
#include <list>
#include <system_error>
#include <vector>

namespace meridian::control {
namespace {

// Does the work and says how it ended. The named place that catches what work throws.
ActivityStatus outcome_of(const Work& work, std::stop_token stop) {
  using Phase = ActivityStatus::Phase;
  try {
    work(std::move(stop));
    return {Phase::succeeded, std::nullopt};
  } catch (const base::Error& error) {
    return {Phase::failed, error};
  } catch (const std::exception& error) {
    return {Phase::failed, base::Error(base::Code::internal, error.what())};
  }
}

}  // namespace

// The life of an entry:
//
//   ensure            a worker is free          work ends
//   ------> waiting -----------------> running -----------> ended ---- forget ---> (gone)
//              |                          |
//              +-- cancel ---> ended      +-- forget ---> running, forgotten -- work ends -->
//              (gone)
//              +-- forget ---> (gone)                       | ensure: starts again at the end
struct ThreadActivities::State {
  struct Entry {
    Key key;
    Work work;
    std::stop_source stop;
    ActivityStatus status;
    bool started = false;
    bool forgotten = false;
    std::optional<std::pair<Key, Work>> next;  // asked for while a forgotten one still runs
  };
  struct Data {
    std::map<std::string, Entry> entries;
    std::deque<std::string> waiting;
    std::list<std::jthread> workers;
    std::vector<std::thread::id> ended_workers;  // have returned or are about to
    std::size_t active_workers = 0;
    bool stopping = false;
  };

  State(Runner& the_runner, std::size_t most) : runner(the_runner), at_once(most) {}

  // Joins the workers that ended. They hold no lock any more, so this does not wait for long.
  static void reap(Data& data) {
    for (const std::thread::id id : data.ended_workers) {
      data.workers.remove_if([id](const std::jthread& w) { return w.get_id() == id; });
    }
    data.ended_workers.clear();
  }

  void enqueue(Data& data, const std::string& name, Entry entry) {
    data.entries.insert_or_assign(name, std::move(entry));
    data.waiting.push_back(name);
    if (data.active_workers >= at_once) return;
    try {
      data.workers.emplace_back([this] { run_waiting(); });
      ++data.active_workers;
    } catch (const std::system_error& error) {
      if (data.active_workers > 0) return;  // one of those will come to it
      data.waiting.pop_back();
      data.entries.erase(name);
      throw base::Error(base::Code::resource_exhausted,
                        std::string("cannot start a thread for an activity: ") + error.what());
    }
  }

  // The body of a worker: does what waits, in order, and ends when nothing does.
  void run_waiting() {
    while (true) {
      std::string name;
      Work work;
      std::stop_token stop;
      {
        auto guard = data.lock();
        if (guard->waiting.empty() || guard->stopping) {
          --guard->active_workers;
          guard->ended_workers.push_back(std::this_thread::get_id());
          return;
        }
        name = std::move(guard->waiting.front());
        guard->waiting.pop_front();
        Entry& entry = guard->entries.at(name);
        entry.started = true;
        work = std::move(entry.work);
        stop = entry.stop.get_token();
      }
      ActivityStatus status = outcome_of(work, std::move(stop));
      work = nullptr;  // what it captured is released before anyone hears of the end
      runner.add(record_end(name, std::move(status)));
    }
  }

  Key record_end(const std::string& name, ActivityStatus status) {
    auto guard = data.lock();
    const auto it = guard->entries.find(name);
    Key key = it->second.key;
    if (!it->second.forgotten) {
      it->second.status = std::move(status);
      return key;
    }
    auto next = std::move(it->second.next);
    guard->entries.erase(it);
    if (next && !guard->stopping) {
      enqueue(*guard, name, {.key = std::move(next->first), .work = std::move(next->second)});
    }
    return key;
  }

  Runner& runner;
  const std::size_t at_once;
  base::Sync<Data> data;
};

ThreadActivities::ThreadActivities(Runner& runner, std::size_t at_once)
    : state_(std::make_unique<State>(runner, std::max<std::size_t>(1, at_once))) {}

ThreadActivities::~ThreadActivities() {
  std::list<std::jthread> workers;
  std::vector<std::stop_source> stops;
  {
    auto data = state_->data.lock();
    data->stopping = true;
    data->waiting.clear();
    for (auto& [name, entry] : data->entries) stops.push_back(entry.stop);
    workers.swap(data->workers);
  }
  for (std::stop_source& stop : stops) stop.request_stop();
  workers.clear();  // joins
}

ActivityStatus ThreadActivities::ensure(const std::string& name, const Key& key, Work work) {
  auto data = state_->data.lock();
  State::reap(*data);
  const auto it = data->entries.find(name);
  if (it == data->entries.end()) {
    state_->enqueue(*data, name, {.key = key, .work = std::move(work)});
    return {};
  }
  if (!it->second.forgotten) return it->second.status;
  if (!it->second.next) it->second.next.emplace(key, std::move(work));
  return {};
}

std::optional<ActivityStatus> ThreadActivities::find(const std::string& name) const {
  auto data = state_->data.lock();
  const auto it = data->entries.find(name);
  if (it == data->entries.end()) return std::nullopt;
  if (!it->second.forgotten) return it->second.status;
  return it->second.next ? std::optional(ActivityStatus{}) : std::nullopt;
}

void ThreadActivities::cancel(const std::string& name) {
  std::optional<Key> ended;
  std::stop_source stop(std::nostopstate);  // requested without the lock: it may run callbacks
  {
    auto data = state_->data.lock();
    const auto it = data->entries.find(name);
    if (it == data->entries.end()) return;
    State::Entry& entry = it->second;
    if (entry.started) {
      entry.next.reset();
      stop = entry.stop;
    } else if (std::erase(data->waiting, name) > 0) {
      entry.work = nullptr;
      entry.status = {ActivityStatus::Phase::failed,
                      base::Error(base::Code::cancelled, "cancelled before it started")};
      ended = entry.key;
    }
  }
  stop.request_stop();
  if (ended) state_->runner.add(*ended);
}

void ThreadActivities::forget(const std::string& name) {
  std::stop_source stop(std::nostopstate);
  {
    auto data = state_->data.lock();
    const auto it = data->entries.find(name);
    if (it == data->entries.end()) return;
    State::Entry& entry = it->second;
    if (entry.started && entry.status.phase == ActivityStatus::Phase::running) {
      entry.forgotten = true;
      entry.next.reset();
      stop = entry.stop;
    } else {
      std::erase(data->waiting, name);
      data->entries.erase(it);
    }
  }
  stop.request_stop();
}

ActivityStatus InlineActivities::ensure(const std::string& name, const Key& key, Work work) {
  if (const auto it = known_.find(name); it != known_.end()) return it->second;
  const ActivityStatus status = outcome_of(work, std::stop_token());
  known_.insert_or_assign(name, status);
  runner_.add(key);
  return status;
}

std::optional<ActivityStatus> InlineActivities::find(const std::string& name) const {
  const auto it = known_.find(name);
  return it == known_.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace meridian::control
