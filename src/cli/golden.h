// Golden files for tests: src/cli/golden/NAME must equal the text. With MERIDIAN_UPDATE_GOLDEN=1 it
// is written instead.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/file.h"

namespace meridian::cli {

inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string file = std::string(MERIDIAN_SOURCE_DIR) + "/src/cli/golden/" + name;
  if (std::getenv("MERIDIAN_UPDATE_GOLDEN") != nullptr) {
    base::write_file(file, text);
    return;
  }
  EXPECT_EQ(base::read_file_if_exists(file), text) << file;
}

}  // namespace meridian::cli
