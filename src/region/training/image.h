// Which program runs for an image: never a secret (the decision is in Describe and in the
// transitions).
//
// In this order:
//   1. the rules of the configuration (first match): `host`, `host:PYTHON`, or an OCI reference
//   2. an OCI image that exists on this machine; ACCOUNT.dkr.ecr.REGION.amazonaws.com/NAME:TAG also
//      matches the local NAME:TAG
//   3. a family that Meridian knows by its repository name (pytorch, tensorflow, xgboost, …): the
//      host's python, after its framework was seen to import
//   4. the reserved image `host`: the given entry point
//   5. nothing: an error that lists these ways
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace meridian::region::training {

// pattern: `*` stands for any characters; the whole image must match.
struct ImageRule {
  std::string pattern, target;
};

// What the decision asks of this machine. All block (seconds): activities only.
struct HostProbe {
  // The name under which the OCI image exists here, or nothing.
  std::function<std::optional<std::string>(const std::string& image)> find_oci_image;
  // Nothing when `python -c "import module"` works; else the last line of what it said.
  std::function<std::optional<std::string>(const std::string& python, const std::string& module)>
      import_error;
  // "3.11.2" first, then the directories that it imports from; empty when it can't be run.
  std::function<std::vector<std::string>(const std::string& python)> search_path;
  // Whether something lies in the local image's /opt/ml/code.
  std::function<bool(const std::string& image)> has_code;
};
HostProbe machine_probe();  // podman, and the interpreter itself

struct Program {
  enum class Kind {
    host,     // the interpreter `python` of the host runs the user's script or entry point
    oci,      // podman runs `image`
    xgboost,  // the built-in algorithm
  } kind = Kind::host;
  std::string python;        // host
  std::string image;         // oci
  std::string explanation;   // for Describe and transitions
  bool brings_code = false;  // oci: something lies in the image's /opt/ml/code, and stays there
};

struct ImageQuestion {
  std::string image;
  bool has_script = false;      // sagemaker_program is given
  bool has_entrypoint = false;  // ContainerEntrypoint is given
  std::string python = "/usr/bin/python3";
};

base::Result<Program, std::string> decide_program(const ImageQuestion& question,
                                                  const std::vector<ImageRule>& rules,
                                                  const HostProbe& probe);

// "pytorch-training" of 763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.1-cpu-py310
std::string repository_name(std::string_view image);
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace meridian::region::training
