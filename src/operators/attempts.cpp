// SPDX-License-Identifier: Apache-2.0
#include "operators/attempts.h"

#include <algorithm>

#include "kube/object.h"

namespace meridian::operators {

base::Duration Attempts::left(const base::Json& object) {
  auto counts = counts_.lock();
  const auto found = counts->find(kube::uid_of(object));
  if (found == counts->end()) return {};
  const Count& count = found->second;
  if (count.generation != kube::generation_of(object)) return {};
  if (count.deleting != kube::is_deleting(object)) return {};
  return std::max(count.due - clock_.ticks(), base::Duration{});
}

base::Duration Attempts::next(const base::Json& object) {
  auto counts = counts_.lock();
  Count& count = (*counts)[kube::uid_of(object)];
  const std::int64_t generation = kube::generation_of(object);
  const bool deleting = kube::is_deleting(object);
  if (count.generation != generation || count.deleting != deleting) count = {generation, deleting};
  const int failures = std::min(count.failures++, 6);
  const base::Duration pause =
      std::min(base::Duration(5'000) * (1 << failures), base::Duration(300'000));
  count.due = clock_.ticks() + pause;
  return pause;
}

void Attempts::forget(const std::string& uid) { counts_.lock()->erase(uid); }

}  // namespace meridian::operators
