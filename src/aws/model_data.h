// The texts of api/*.json, as the build embeds them. Internal to aws.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace meridian::aws {

struct ModelText {
  std::string_view service;
  std::string_view json;
};

const std::vector<ModelText>& model_texts();

}  // namespace meridian::aws
