// How the processes of a distributed TensorFlow training find each other: the variable TF_CONFIG
// (https://www.tensorflow.org/guide/distributed_training), as TensorFlow's training images set it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace meridian::run {

enum class TensorFlowStrategy {
  parameter_server,  // the first host is the master, the others are workers, all hold parameters
  mirrored,          // every host is a worker
};

// JSON. `current` is one of the hosts; the first one is the master.
std::string tf_config(TensorFlowStrategy strategy, const std::vector<std::string>& hosts,
                      const std::string& current);

// Runs until it is killed: the parameter server of the host whose TF_CONFIG it finds. It leaves
// the GPUs to the script.
std::vector<std::string> parameter_server_command(const std::string& python);

}  // namespace meridian::run
