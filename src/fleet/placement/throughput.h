// Images per second of a gang: measured before, else by the α–β model of data-parallel training.
//
// The model: every step each of n devices works through its batch (batch / device rate) and then
// the gradients of S bytes are reduced over the n devices of the gang:
//
//   ring                2(n−1)·α + 2(n−1)/n · S/B
//   recursive doubling  log₂n·α + log₂n · S/B         (n rounded up to a power of two)
//
// with α the latency of a message and B the bandwidth between instances; the cheaper one counts.
// Devices of one instance reduce among themselves first, which is taken as free: n counts
// instances, not devices. Computing and reducing do not overlap: the figure errs to the low side.
// (R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in
// MPICH", IJHPCA 19(1), 2005.)
//
// Pure; thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace meridian::fleet::placement {

struct Measured {
  std::string type;
  int instances = 1;
  double images_per_second = 0;  // of the gang
};

struct StepModel {
  double images_per_second = 0;         // of one instance alone
  double batch = 0;                     // images of one instance's step
  double gradient_megabytes = 0;        // S
  double latency_seconds = 5e-5;        // α
  double megabytes_per_second = 1'000;  // B
};

struct Prediction {
  double images_per_second = 0;
  enum class Source { measured, model } source = Source::measured;
};

double allreduce_seconds(int n, const StepModel& model);
double model_rate(int instances, const StepModel& model);

// Measured of the same type and size (the newest, last in the list); else the model, if there is
// one; else nothing.
std::optional<Prediction> predict(const std::vector<Measured>& history, const StepModel* model,
                                  const std::string& type, int instances);

}  // namespace meridian::fleet::placement
