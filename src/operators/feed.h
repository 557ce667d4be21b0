// Learns which records changed in the regions, without asking for each.
//
// Per place and kind that is in use, one step lists what was modified since the last listing and
// adds the key of every record that is followed and changed. So watching costs one listing per
// interval and one description per change, however many jobs there are. Listings overlap by a
// second, and what was seen already is left out; a region that fails is asked less and less often.
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/sync.h"
#include "control/runner.h"
#include "operators/kinds.h"
#include "operators/remote.h"

namespace meridian::operators {

struct Record {
  Place place;
  const Kind* kind = nullptr;
  std::string name;  // in the region
};

class Feed {
 public:
  Feed(Remotes& remotes, control::Runner& runner, const base::Clock& clock);

  // Follows a record for `key`. The first time it counts as changed.
  void follow(const Record& record, const control::Key& key);
  void forget(const Record& record);
  // True until the record was described as new as the last listing shows it.
  bool changed(const Record& record) const;
  // A description as of this LastModifiedTime (epoch seconds) was taken.
  void described(const Record& record, double modified);

  // What a listing shows that no resource follows, in the order of the listing; called from step(),
  // without a lock. It must be quick.
  using Stranger = std::function<void(const base::Json& summary)>;
  // Lists this kind from `since` on for as long as this lives, whatever is followed.
  void observe(const Place& place, const Kind& kind, base::Timestamp since, Stranger stranger);

  static constexpr std::string_view kStep = "feed";
  control::Outcome step(const control::Key& key);

 private:
  struct Followed {
    control::Key key;
    double listed = 0;      // LastModifiedTime of the last summary
    double described = -1;  // of the last description
  };
  struct Source {
    Place place;
    const Kind* kind = nullptr;
    std::map<std::string, Followed> records;
    Stranger stranger;
    double since = 0;  // epoch seconds
    int failures = 0;
    base::Ticks sweep{};  // when every record is due again
    bool scheduled = false;
  };
  using Sources = std::map<control::Key, Source>;

  static control::Key key_of(const Place& place, const Kind& kind);
  Source& source(Sources& sources, const Place& place, const Kind& kind) const;
  void schedule(const control::Key& key, Source& source);
  void sweep(Source& source);
  void list_pages(const control::Key& key, const Source& source);
  void take_summary(const control::Key& key, const base::Json& summary);

  Remotes& remotes_;
  control::Runner& runner_;
  const base::Clock& clock_;
  base::Sync<Sources> sources_;
};

}  // namespace meridian::operators
