// `meridian-xgboost train|serve`: XGBoost with SageMaker's container contract.
//
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "xgboost/serve.h"
#include "xgboost/train.h"

namespace {

using meridian::xgboost::Paths;

// The platform shows the text as the job's FailureReason.
int fail(const Paths& paths, const char* what) {
  std::fprintf(stderr, "meridian-xgboost: %s\n", what);
  try {
    meridian::base::make_directories(paths.failure().parent_path());
    meridian::base::write_file(paths.failure(), what);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "meridian-xgboost: %s\n", error.what());
  }
  return 1;
}

std::uint16_t serving_port() {
  const char* text = std::getenv("SAGEMAKER_BIND_TO_PORT");
  const auto port = text != nullptr ? meridian::base::to_uint(text) : std::nullopt;
  return port && *port < 65536 ? static_cast<std::uint16_t>(*port) : 8080;
}

// Threads that wait for each other by spinning starve each other where several instances share the
// machine's cores. libgomp reads its settings before main(), so the program starts itself anew.
void wait_passively(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  execv("/proc/self/exe", argv);  // where that fails, training is only slower
}

int usage() {
  std::fprintf(stderr,
               "usage: meridian-xgboost train|serve [--root DIR]\n"
               "Reads DIR/input and writes DIR/model and DIR/output; DIR is /opt/ml.\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  wait_passively(argv);
  Paths paths;
  if (argc == 4 && std::strcmp(argv[2], "--root") == 0)
    paths.root = argv[3];
  else if (argc != 2)
    return usage();
  const std::string verb = argv[1];
  if (verb != "train" && verb != "serve") return usage();
  try {
    if (verb == "train")
      meridian::xgboost::train(paths);
    else
      meridian::xgboost::serve(paths, "0.0.0.0", serving_port());
    return 0;
  } catch (const std::exception& error) {
    return fail(paths, error.what());
  }
}
