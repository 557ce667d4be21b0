// SPDX-License-Identifier: Apache-2.0
#include "xgboost/booster.h"

#include <xgboost/c_api.h>

#include <limits>

#include "base/error.h"
#include "base/json.h"

namespace meridian::xgboost {
namespace {

void check(int status) {
  if (status != 0) throw base::Error(base::Code::internal, XGBGetLastError());
}

std::string to_string(const char* bytes, bst_ulong size) { return {bytes, size}; }

std::pair<std::vector<DMatrixHandle>, std::vector<const char*>> split(
    const std::vector<NamedMatrix>& matrices) {
  std::pair<std::vector<DMatrixHandle>, std::vector<const char*>> parts;
  for (const auto& each : matrices) {
    parts.first.push_back(each.matrix->handle());
    parts.second.push_back(each.name.c_str());
  }
  return parts;
}

}  // namespace

Matrix::Matrix(const Rows& rows) {
  // The library takes pointers even where nothing is behind them.
  static const unsigned no_column = 0;
  static const float no_value = 0;
  check(XGDMatrixCreateFromCSREx(rows.starts.data(),
                                 rows.columns.empty() ? &no_column : rows.columns.data(),
                                 rows.values.empty() ? &no_value : rows.values.data(),
                                 rows.starts.size(), rows.values.size(), rows.width, &handle_));
  if (!rows.labels.empty())
    check(XGDMatrixSetFloatInfo(handle_, "label", rows.labels.data(), rows.labels.size()));
  if (!rows.weights.empty())
    check(XGDMatrixSetFloatInfo(handle_, "weight", rows.weights.data(), rows.weights.size()));
}

Matrix::~Matrix() { XGDMatrixFree(handle_); }

Booster::Booster(const std::vector<NamedMatrix>& cache) {
  const auto parts = split(cache);
  check(XGBoosterCreate(parts.first.data(), parts.first.size(), &handle_));
}

Booster::~Booster() { XGBoosterFree(handle_); }

void Booster::set(const std::string& name, const std::string& value) {
  check(XGBoosterSetParam(handle_, name.c_str(), value.c_str()));
}

void Booster::update(int round, const Matrix& matrix) {
  check(XGBoosterUpdateOneIter(handle_, round, matrix.handle()));
}

std::string Booster::evaluate(int round, const std::vector<NamedMatrix>& matrices) {
  auto parts = split(matrices);
  const char* text = nullptr;
  check(XGBoosterEvalOneIter(handle_, round, parts.first.data(), parts.second.data(),
                             parts.first.size(), &text));
  return text;
}

int Booster::rounds() const {
  int count = 0;
  check(XGBoosterBoostedRounds(handle_, &count));
  return count;
}

std::size_t Booster::width() const {
  bst_ulong count = 0;
  check(XGBoosterGetNumFeature(handle_, &count));
  return count;
}

std::string Booster::model() const {
  bst_ulong size = 0;
  const char* bytes = nullptr;
  check(XGBoosterSaveModelToBuffer(handle_, R"({"format":"ubj"})", &size, &bytes));
  return to_string(bytes, size);
}

std::string Booster::snapshot() const {
  bst_ulong size = 0;
  const char* bytes = nullptr;
  check(XGBoosterSerializeToBuffer(handle_, &size, &bytes));
  return to_string(bytes, size);
}

void Booster::load_model(std::string_view bytes) {
  check(XGBoosterLoadModelFromBuffer(handle_, bytes.data(), bytes.size()));
}

void Booster::restore(std::string_view snapshot) {
  check(XGBoosterUnserializeFromBuffer(handle_, snapshot.data(), snapshot.size()));
}

Booster::Predictions Booster::predict(const Matrix& matrix) const {
  constexpr char how[] =
      R"({"type":0,"training":false,"iteration_begin":0,"iteration_end":0,"strict_shape":true})";
  const bst_ulong* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* values = nullptr;
  check(XGBoosterPredictFromDMatrix(handle_, matrix.handle(), how, &shape, &dimensions, &values));
  std::size_t total = 1;
  for (bst_ulong at = 0; at < dimensions; ++at) total *= shape[at];
  const std::size_t rows = dimensions > 0 ? shape[0] : 0;
  return {{values, values + total}, rows > 0 ? total / rows : 1};
}

Group::Group(const std::string& tracker_host, int tracker_port, int rank, int workers) {
  const base::JsonObject settings{{"xgboost_communicator", "rabit"},
                                  {"DMLC_TRACKER_URI", tracker_host},
                                  {"DMLC_TRACKER_PORT", std::to_string(tracker_port)},
                                  {"DMLC_TASK_ID", std::to_string(rank)},
                                  {"DMLC_NUM_WORKER", std::to_string(workers)},
                                  {"DMLC_WORKER_CONNECT_RETRY", "20"}};
  check(XGCommunicatorInit(base::to_text(settings).c_str()));
  if (XGCommunicatorGetWorldSize() != workers)
    throw base::Error(base::Code::internal,
                      "this libxgboost cannot train over several instances: " +
                          std::to_string(XGCommunicatorGetWorldSize()) + " of " +
                          std::to_string(workers) + " workers joined");
}

Group::~Group() { XGCommunicatorFinalize(); }

int Group::rank() const { return XGCommunicatorGetRank(); }

bool Group::any(bool here) const {
  constexpr int int32_type = 2, maximum = 0;  // of the library's enumerations
  std::int32_t flag = here ? 1 : 0;
  check(XGCommunicatorAllreduce(&flag, 1, int32_type, maximum));
  return flag != 0;
}

std::string Group::from_first(std::string bytes) const {
  std::uint64_t size = bytes.size();
  check(XGCommunicatorBroadcast(&size, sizeof size, 0));
  bytes.resize(size);
  if (size > 0) check(XGCommunicatorBroadcast(bytes.data(), bytes.size(), 0));
  return bytes;
}

}  // namespace meridian::xgboost
