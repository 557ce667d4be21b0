// SPDX-License-Identifier: Apache-2.0
#include "run/gpu.h"

#include <cstdio>
#include <memory>

#include "base/strings.h"
#include "run/capture.h"

namespace meridian::run {
namespace {

constexpr std::size_t kMaxText = 1u << 20;

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields;
  for (const std::string& field : base::split(line, ',')) fields.emplace_back(base::trim(field));
  return fields;
}

// Calls `read` with the fields of each line; its false is an error at that line.
template <class T, class Read>
base::Result<std::vector<T>> parse_lines(std::string_view text, std::size_t width, Read read) {
  std::vector<T> out;
  int number = 0;
  for (const std::string& line : base::split(text.substr(0, kMaxText), '\n')) {
    ++number;
    if (base::trim(line).empty()) continue;
    const auto fields = fields_of(line);
    T item;
    if (fields.size() != width || !read(fields, item)) {
      return base::ParseError{"nvidia-smi said '" + line + "'", 0, number, 1};
    }
    out.push_back(std::move(item));
  }
  return out;
}

std::string ask(const std::string& query) {
  const Captured captured =
      capture({"nvidia-smi", "--query-gpu=" + query, "--format=csv,noheader,nounits"});
  return captured.exit_code == 0 ? captured.output : "";
}

}  // namespace

base::Result<std::vector<Gpu>> parse_gpus(std::string_view text) {
  return parse_lines<Gpu>(text, 4, [](const std::vector<std::string>& fields, Gpu& gpu) {
    const auto index = base::to_int(fields[0]);
    const auto mebibytes = base::to_uint(fields[3]);
    if (!index || *index < 0) return false;
    gpu = {static_cast<int>(*index), fields[1], fields[2], mebibytes.value_or(0) << 20};
    return true;
  });
}

base::Result<std::vector<GpuSample>> parse_gpu_samples(std::string_view text) {
  return parse_lines<GpuSample>(
      text, 4, [](const std::vector<std::string>& fields, GpuSample& sample) {
        const auto index = base::to_int(fields[0]);
        if (!index || *index < 0) return false;
        const auto total = base::to_double(fields[3]), used = base::to_double(fields[2]);
        sample = {static_cast<int>(*index), base::to_double(fields[1]), std::nullopt};
        if (total && used && *total > 0) sample.memory = 100 * *used / *total;
        return true;
      });
}

std::vector<Gpu> find_gpus() {
  auto gpus = parse_gpus(ask("index,uuid,name,memory.total"));
  return gpus ? std::move(*gpus) : std::vector<Gpu>{};
}

std::vector<GpuSample> sample_gpus() {
  auto samples = parse_gpu_samples(ask("index,utilization.gpu,memory.used,memory.total"));
  return samples ? std::move(*samples) : std::vector<GpuSample>{};
}

std::map<std::string, std::string> gpu_environment(const std::vector<int>& devices) {
  std::vector<std::string> inside, outside;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    inside.push_back(std::to_string(i));
    outside.push_back(std::to_string(devices[i]));
  }
  return {{"CUDA_VISIBLE_DEVICES", devices.empty() ? "none" : base::join(inside, ",")},
          {"NVIDIA_VISIBLE_DEVICES", devices.empty() ? "none" : base::join(outside, ",")}};
}

}  // namespace meridian::run
