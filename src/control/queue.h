// The keys that a controller still has to look at.
//
// Three promises, and nothing else:
//   1. A key is with at most one worker. Added again meanwhile, it runs once more afterwards.
//   2. A key waits at most once. Added twice, it runs at the earlier of the two times.
//   3. A key whose step failed comes back, later each time, until a step succeeds.
//
// Keys carry no payload on purpose: a step reads the state of the world when it runs, so that late,
// repeated and lost events all end in the same place.
//
// Thread-safe. Holds its lock only for its own bookkeeping and never calls out under it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/sync.h"

namespace meridian::control {

using Key = std::string;

struct Backoff {
  base::Duration first{200};
  base::Duration most{60'000};
  base::Duration after(int failures) const;  // doubles
};

class WorkQueue {
 public:
  explicit WorkQueue(const base::Clock& clock, Backoff backoff = {});

  void add(const Key& key) { add_after(key, base::Duration(0)); }
  void add_after(const Key& key, base::Duration delay);

  // A key that is due, or nothing: for virtual time. The key is then with the caller.
  std::optional<Key> try_take();
  // Waits for one (real time). Nothing once `stop` is requested, and only then.
  std::optional<Key> wait_take(std::stop_token stop);

  // The caller's verdict on a key that it took.
  void succeeded(const Key& key);                       // forgets failures
  void again_in(const Key& key, base::Duration delay);  // succeeded, and due again
  void failed(const Key& key);                          // due again after back-off

  // When the next key is due; nothing when none waits.
  std::optional<base::Ticks> next_due() const;
  std::size_t size() const;  // waiting and taken

 private:
  struct State {
    std::map<Key, base::Ticks> waiting;
    std::set<std::pair<base::Ticks, Key>> by_time;
    std::map<Key, std::optional<base::Ticks>> taken;  // value: due again after the verdict
    std::map<Key, int> failures;
  };
  static void schedule(State& state, const Key& key, base::Ticks at);
  void finish(const Key& key, std::optional<base::Ticks> again);

  const base::Clock& clock_;
  Backoff backoff_;
  base::Sync<State> state_;
};

}  // namespace meridian::control
