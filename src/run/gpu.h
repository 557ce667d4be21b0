// The machine's GPUs, as nvidia-smi lists them, and what an instance is shown of its own.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace meridian::run {

struct Gpu {
  int index = 0;
  std::string uuid, name;
  std::uint64_t memory_bytes = 0;
};

struct GpuSample {
  int index = 0;
  std::optional<double> utilization, memory;  // percent; nothing where the driver says "[N/A]"
};

// No GPU, or no nvidia-smi: empty. Blocks for as long as nvidia-smi takes (about a second).
std::vector<Gpu> find_gpus();
std::vector<GpuSample> sample_gpus();

// `nvidia-smi --query-gpu=index,uuid,name,memory.total --format=csv,noheader,nounits`
base::Result<std::vector<Gpu>> parse_gpus(std::string_view text);
// `nvidia-smi --query-gpu=index,utilization.gpu,memory.used,memory.total …` in the same form
base::Result<std::vector<GpuSample>> parse_gpu_samples(std::string_view text);

// CUDA numbers the devices it can open from 0; NVIDIA_VISIBLE_DEVICES holds the machine's numbers.
// Without devices both say "none", so that nothing is found through another door.
std::map<std::string, std::string> gpu_environment(const std::vector<int>& devices);

}  // namespace meridian::run
