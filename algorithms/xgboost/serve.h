// The verb `serve`: predictions of /opt/ml/model/xgboost-model over HTTP.
//
//   GET /ping                  200 once the model is loaded
//   POST /invocations          text/csv or text/libsvm rows without labels → one answer per row
//   GET /execution-parameters  for batch transforms
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/http.h"
#include "xgboost/paths.h"

namespace meridian::xgboost {

class Service {
 public:
  // Error when there is no model, or it can't be read.
  explicit Service(const Paths& paths);
  ~Service();
  // `batch`: answers are lines, as batch transforms join them; else values separated by commas.
  enum class Style { online, batch };
  net::Response answer(const net::Request& request, std::string body, Style style);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Serves until SIGTERM.
void serve(const Paths& paths, const std::string& host, std::uint16_t port);

}  // namespace meridian::xgboost
