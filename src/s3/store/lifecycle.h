// Life cycle rules of a bucket: which objects, old versions and unfinished uploads go, and when.
//
// Days are counted as S3 counts them: from the object's (or the newer version's) time, rounded up
// to the next midnight UTC. Transitions are accepted and change nothing: every storage class is
// stored alike.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "s3/store/object_store.h"

namespace meridian::s3 {

struct LifecycleRule {
  std::string id;
  bool enabled = false;

  // Which objects; all of it must fit.
  std::string prefix;
  Fields tags;
  std::optional<std::uint64_t> larger_than, smaller_than;

  // What becomes of them.
  std::optional<int> expire_days;
  std::optional<base::Timestamp> expire_date;
  bool expire_lone_markers = false;
  std::optional<int> noncurrent_days;
  std::size_t newer_noncurrent = 0;  // so many old versions stay whatever their age
  std::optional<int> abort_days;     // of unfinished uploads
};

// A LifecycleConfiguration. Anything that is not understood is an error, never left out: a filter
// that is overlooked would remove too much.
base::Result<std::vector<LifecycleRule>> parse_lifecycle(std::string_view xml);

struct LifecycleCounts {
  std::size_t expired = 0, old_versions = 0, markers = 0, uploads = 0;
  bool any() const { return expired + old_versions + markers + uploads > 0; }
};

// Removes what is due at `now`. An object that was replaced since it was looked at stays.
LifecycleCounts apply_lifecycle(ObjectStore& store, const std::string& bucket,
                                const std::vector<LifecycleRule>& rules, base::Timestamp now,
                                std::stop_token stop = {});

}  // namespace meridian::s3
