// SPDX-License-Identifier: Apache-2.0
#include "tune/bayes/surrogate.h"

#include <algorithm>
#include <bit>

#include "tune/numeric/stream.h"
#include "tune/search/observations.h"

namespace meridian::tune {

namespace {

// The warped losses, each group by itself.
std::vector<double> warped(const Sample& sample) {
  std::vector<double> out(sample.losses.size());
  const std::size_t groups = 1 + std::ranges::max(sample.groups);
  for (std::size_t g = 0; g < groups; ++g) {
    std::vector<double> losses;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (sample.groups[i] == g) losses.push_back(sample.losses[i]);
    }
    if (losses.empty()) continue;
    const Warp warp(losses);
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (sample.groups[i] == g) out[i] = warp(sample.losses[i]);
    }
  }
  return out;
}

// At most `limit` rows: the most telling of our own, then of the other tasks while there is room.
Sample chosen(const Sample& sample, std::size_t limit) {
  if (sample.losses.size() <= limit) return sample;
  std::vector<std::size_t> kept;
  for (const bool own : {true, false}) {
    std::vector<std::size_t> rows;
    std::vector<double> losses;
    for (std::size_t i = 0; i < sample.losses.size(); ++i) {
      if ((sample.groups[i] == 0) != own) continue;
      rows.push_back(i);
      losses.push_back(sample.losses[i]);
    }
    for (const std::size_t i : most_telling(losses, limit - kept.size())) kept.push_back(rows[i]);
  }
  std::ranges::sort(kept);
  Sample out{sample.layout, {sample.rows.width, {}}, {}, {}};
  for (const std::size_t i : kept) {
    out.rows.add(sample.rows.row(i));
    out.losses.push_back(sample.losses[i]);
    out.groups.push_back(sample.groups[i]);
  }
  return out;
}

// With the task as last coordinate, where there is more than one.
Sample with_tasks(const Sample& sample) {
  if (std::ranges::max(sample.groups) == 0) return sample;
  Sample out = sample;
  out.layout.push_back(Coordinate::category);
  out.rows = {out.layout.size(), {}};
  for (std::size_t i = 0; i < sample.rows.size(); ++i) {
    out.rows.add(sample.rows.row(i));
    out.rows.values.push_back(static_cast<double>(sample.groups[i]));
  }
  return out;
}

std::uint64_t digest(const Sample& sample) {
  std::uint64_t hash = mix(sample.rows.width);
  for (const double v : sample.rows.values) hash = mix(hash + std::bit_cast<std::uint64_t>(v));
  for (const double v : sample.losses) hash = mix(hash + std::bit_cast<std::uint64_t>(v));
  return hash;
}

}  // namespace

std::size_t fitted_at(std::size_t rows) {
  std::size_t at = std::min<std::size_t>(rows, 30);
  while (at + std::max<std::size_t>(1, at / 15) <= rows) at += std::max<std::size_t>(1, at / 15);
  return at;
}

KernelParameters Surrogates::parameters(const Sample& sample) {
  Sample prefix = sample;
  const std::size_t count = fitted_at(sample.losses.size());
  prefix.rows.values.resize(count * prefix.rows.width);
  prefix.losses.resize(count);
  prefix.groups.resize(count);
  prefix = chosen(prefix, limits_.fit);
  const std::uint64_t key = digest(prefix);
  if (const auto known = fits_.find(key); known != fits_.end()) return known->second;
  if (fits_.size() > 64) fits_.clear();
  return fits_[key] = fit(prefix.layout, prefix.rows, warped(prefix));
}

Surrogate Surrogates::make(const Sample& sample) {
  const Sample with = with_tasks(sample);
  const KernelParameters fitted = parameters(with);
  const Sample kept = chosen(with, limits_.model);
  std::vector<double> own;
  for (std::size_t i = 0; i < kept.losses.size(); ++i) {
    if (kept.groups[i] == 0) own.push_back(kept.losses[i]);
  }
  return {GaussianProcess(kept.layout, fitted, kept.rows, warped(kept)), Warp(own)};
}

}  // namespace meridian::tune
