// Training jobs that other clients made in a region, as read-only resources of the namespace
// "region-<name>".
//
// The feed's listing tells of jobs that no resource follows; those without an owner tag get a
// mirror (mirror_object.h), whose status JobController copies. Promises, each with a test:
//   1. Only jobs without our tag are shown, whoever's installation tagged them.
//   2. The newest `most` are shown, and none older than `age`; a job that is deleted in the region
//      goes from here too.
//   3. A mirror that a user deletes comes back when its job changes again; the job is not touched.
//   4. A burst of jobs costs `batch` of them per second, so that it cannot starve anything else.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/sync.h"
#include "control/runner.h"
#include "operators/feed.h"
#include "operators/remote.h"
#include "operators/resources.h"

namespace meridian::operators {

struct MirrorLimits {
  std::size_t most = 1'000;
  base::Duration age{7LL * 24 * 3'600'000};
  std::size_t batch = 25;
};

std::string namespace_of_region(const std::string& region);  // "region-us-west-2"

// Mirrors of a region that are to go, by the time when their jobs were made. Pure.
std::vector<base::Json> outdated(std::vector<base::Json> mirrors, base::Timestamp now,
                                 const MirrorLimits& limits);

class RegionMirrors {
 public:
  RegionMirrors(Resources& jobs, Remotes& remotes, Feed& feed, control::Runner& runner,
                const base::Clock& clock, MirrorLimits limits = {});

  // From now on; the step must be known to the runner.
  void start(const std::vector<std::string>& regions);

  static constexpr std::string_view kStep = "mirrors";
  control::Outcome step(const control::Key& key);  // "mirrors/REGION"

 private:
  struct Region {
    std::map<std::string, base::Json> waiting;  // summaries by name
    std::map<std::string, double> done;         // LastModifiedTime of what was looked at, by name
    base::Ticks prune{}, compare{};             // when next
    bool has_namespace = false;
  };

  void seen(const std::string& region, const base::Json& summary);
  std::vector<base::Json> take(Region& region) const;
  void show(const std::string& region, const base::Json& summary);
  bool is_tagged(const std::string& region, const base::Json& summary);
  // Not looked at again until it is modified after `until` (epoch seconds).
  void remember(const std::string& region, const base::Json& summary, double until);
  void ensure_namespace(const std::string& region);
  void prune(const std::string& region);
  void compare(const std::string& region);
  std::vector<base::Json> mirrors(const std::string& region) const;
  std::vector<std::string> names_since(const std::string& region, base::Timestamp since);

  Resources& jobs_;
  Remotes& remotes_;
  Feed& feed_;
  control::Runner& runner_;
  const base::Clock& clock_;
  const MirrorLimits limits_;
  base::Sync<std::map<std::string, Region>> regions_;
};

}  // namespace meridian::operators
