// SPDX-License-Identifier: Apache-2.0
#include "region/training/spot_policy.h"

#include <cmath>

#include "base/digest.h"
#include "base/json.h"
#include "base/strings.h"

namespace meridian::region::training {
namespace {

constexpr double kMsPerHour = 3'600'000;

// In (0, 1], from the text alone.
double fraction_of(const std::string& text) {
  std::uint64_t bits = 0;
  for (const char digit : base::sha256_hex(text).substr(0, 13))
    bits = bits * 16 + static_cast<std::uint64_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
  return static_cast<double>(bits + 1) / static_cast<double>(1ull << 52);
}

}  // namespace

int SpotTrace::available_at(base::Duration since_creation) const {
  const auto index = static_cast<std::size_t>(since_creation.count() / tick.count());
  return available.at(index % available.size());
}

base::Duration SpotTrace::until_next_tick(base::Duration since_creation) const {
  return base::Duration(tick.count() - since_creation.count() % tick.count());
}

base::Result<SpotTrace> parse_spot_trace(std::string_view json) {
  auto parsed = base::parse_json(json);
  if (!parsed) return parsed.error();
  SpotTrace trace;
  const base::Json* gap = base::find_path(*parsed, "metadata.gap_seconds");
  if (gap == nullptr || !gap->is_number() || gap->to_number<double>() < 0.001)
    return base::ParseError{"metadata.gap_seconds must be a number above 0"};
  trace.tick = base::Duration(static_cast<std::int64_t>(gap->to_number<double>() * 1000));
  const base::Json* data = base::find(*parsed, "data");
  if (data == nullptr || !data->is_array() || data->as_array().empty())
    return base::ParseError{"data must be a list of numbers of instances"};
  for (const base::Json& each : data->as_array()) {
    if (!each.is_number()) return base::ParseError{"data must be a list of numbers of instances"};
    trace.available.push_back(static_cast<int>(each.to_number<double>()));
  }
  return trace;
}

std::optional<base::Duration> SpotPolicy::next_reclaim(const std::string& job_uid,
                                                       int reclaims) const {
  if (at_most && reclaims >= *at_most) return std::nullopt;
  std::optional<base::Duration> next;
  if (const auto index = static_cast<std::size_t>(reclaims); index < reclaim_after.size())
    next = reclaim_after[index];
  if (reclaims_per_hour > 0) {
    const double hours =
        -std::log(fraction_of(job_uid + "/" + std::to_string(reclaims))) / reclaims_per_hour;
    const base::Duration drawn(static_cast<std::int64_t>(std::min(hours * kMsPerHour, 1e15)));
    if (!next || drawn < *next) next = drawn;
  }
  return next;
}

}  // namespace meridian::region::training
