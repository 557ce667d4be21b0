// The directories of the container contract, below a root that tests may move.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace meridian::xgboost {

struct Paths {
  std::filesystem::path root = "/opt/ml";

  std::filesystem::path config(std::string_view name) const {
    return root / "input/config" / (std::string(name) + ".json");
  }
  std::filesystem::path channel(const std::string& name) const {
    return root / "input/data" / name;
  }
  std::filesystem::path model() const { return root / "model/xgboost-model"; }
  std::filesystem::path checkpoints() const { return root / "checkpoints"; }
  std::filesystem::path failure() const { return root / "output/failure"; }
};

}  // namespace meridian::xgboost
