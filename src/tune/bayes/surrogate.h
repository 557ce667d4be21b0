// Models of what trials measured, made so that equal histories give equal models at a bounded cost.
//
// Kernel parameters are fitted when the number of rows is one of a fixed sequence (each up to 30,
// then by fifteenths), from those first rows only, and used until the next. So they depend on the
// history, never on when somebody asked. A memory of fits saves doing them again.
//
// Rows of other tasks (groups 1, 2, …: warm start with other data) have a coordinate more, the
// task; its length scale learns how much they tell about ours.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include "tune/model/fit.h"
#include "tune/model/gaussian_process.h"
#include "tune/model/warp.h"

namespace meridian::tune {

// What a model is made from: `losses` and `groups` one per row.
struct Sample {
  Layout layout;
  Rows rows;
  std::vector<double> losses;
  std::vector<std::size_t> groups;
};

struct Surrogate {
  GaussianProcess model;  // of warped losses
  Warp warp;              // of group 0
};

// The last number of rows at which parameters are fitted, at most `rows`.
std::size_t fitted_at(std::size_t rows);

class Surrogates {
 public:
  struct Limits {
    std::size_t fit = 160;    // rows that a fit looks at
    std::size_t model = 500;  // rows that a model holds
  };

  explicit Surrogates(const Limits& limits) : limits_(limits) {}

  // At least one row of group 0.
  Surrogate make(const Sample& sample);

 private:
  KernelParameters parameters(const Sample& sample);

  Limits limits_;
  std::map<std::uint64_t, KernelParameters> fits_;  // by digest of what they were fitted to
};

}  // namespace meridian::tune
