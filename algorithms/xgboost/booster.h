// libxgboost's C API with owners and errors: a matrix, a booster, the group of workers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "xgboost/data.h"

namespace meridian::xgboost {

// Rows as the library holds them. In a group of workers, all must make theirs in the same order.
class Matrix {
 public:
  explicit Matrix(const Rows& rows);
  ~Matrix();
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  void* handle() const { return handle_; }

 private:
  void* handle_ = nullptr;
};

struct NamedMatrix {
  std::string name;
  const Matrix* matrix;
};

// Not thread-safe.
class Booster {
 public:
  explicit Booster(const std::vector<NamedMatrix>& cache = {});
  ~Booster();
  Booster(const Booster&) = delete;
  Booster& operator=(const Booster&) = delete;

  void set(const std::string& name, const std::string& value);
  void update(int round, const Matrix& matrix);
  // "[3]\ttrain-rmse:0.5\tvalidation-rmse:0.6"
  std::string evaluate(int round, const std::vector<NamedMatrix>& matrices);
  int rounds() const;
  std::size_t width() const;  // features it was trained on

  std::string model() const;     // the model alone, UBJSON
  std::string snapshot() const;  // model and training state, to go on from
  void load_model(std::string_view bytes);
  void restore(std::string_view snapshot);
  // One row of answers per row of the matrix; `per_row` answers each.
  struct Predictions {
    std::vector<float> values;
    std::size_t per_row = 1;
  };
  Predictions predict(const Matrix& matrix) const;

 private:
  void* handle_ = nullptr;
};

// Membership in a group of workers that train one model together; leaves it with its owner.
class Group {
 public:
  Group(const std::string& tracker_host, int tracker_port, int rank, int workers);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  int rank() const;
  bool any(bool here) const;                        // whether it holds anywhere
  std::string from_first(std::string bytes) const;  // what rank 0 gave
};

}  // namespace meridian::xgboost
