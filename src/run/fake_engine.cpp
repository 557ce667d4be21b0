// SPDX-License-Identifier: Apache-2.0
#include "run/fake_engine.h"

#include <csignal>

#include "base/error.h"

namespace meridian::run {
using Phase = InstanceStatus::Phase;

void FakeEngine::start(const InstanceSpec& spec) {
  {
    auto state = state_.lock();
    if (!state->refusal.empty()) {
      throw base::Error(base::Code::unavailable, state->refusal);
    }
    if (state->instances.contains(spec.id)) return;
    Instance& instance = state->instances[spec.id];
    instance.spec = spec;
    instance.status.phase = state->hold_starts ? Phase::starting : Phase::running;
    if (!state->hold_starts) instance.status.started = clock_.now();
  }
  tell(spec.id);
}

InstanceStatus FakeEngine::adopt(const std::filesystem::path& directory) {
  auto state = state_.lock();
  for (const auto& [id, instance] : state->instances) {
    if (instance.spec.directory == directory) return instance.status;
  }
  InstanceStatus status;
  status.phase = Phase::ended;
  status.exit = lost();
  status.exit->at = clock_.now();
  return status;
}

InstanceStatus FakeEngine::observe(const std::string& id) {
  auto state = state_.lock();
  const auto it = state->instances.find(id);
  return it == state->instances.end() ? InstanceStatus{} : it->second.status;
}

void FakeEngine::stop(const std::string& id) {
  {
    auto state = state_.lock();
    const auto it = state->instances.find(id);
    if (it == state->instances.end()) return;
    it->second.stop_requested = true;
    if (state->ignore_stops) return;
  }
  end(id, signalled(SIGTERM));
}

void FakeEngine::kill(const std::string& id) {
  {
    auto state = state_.lock();
    const auto it = state->instances.find(id);
    if (it == state->instances.end()) return;
    it->second.stop_requested = true;
  }
  end(id, signalled(SIGKILL));
}

Usage FakeEngine::usage(const std::string& id) {
  auto state = state_.lock();
  const auto it = state->instances.find(id);
  return it == state->instances.end() ? Usage{} : it->second.usage;
}

void FakeEngine::forget(const std::string& id) {
  auto state = state_.lock();
  if (state->instances.erase(id) > 0) state->forgotten.insert(id);
}

std::optional<std::string> FakeEngine::find_obstacle_to_files(Runtime) {
  if (state_.lock()->files) return std::nullopt;
  return "instances in memory have no file systems";
}

void FakeEngine::allow_files() { state_.lock()->files = true; }

std::vector<GpuSample> FakeEngine::sample_gpus() { return state_.lock()->gpus; }

void FakeEngine::set_gpus(std::vector<GpuSample> samples) {
  state_.lock()->gpus = std::move(samples);
}

void FakeEngine::on_change(OnChange callback) { state_.lock()->on_change = std::move(callback); }

void FakeEngine::hold_starts() { state_.lock()->hold_starts = true; }
void FakeEngine::refuse_starts(std::string message) { state_.lock()->refusal = std::move(message); }
void FakeEngine::ignore_stops() { state_.lock()->ignore_stops = true; }

void FakeEngine::run(const std::string& id) {
  {
    auto state = state_.lock();
    const auto it = state->instances.find(id);
    if (it == state->instances.end() || it->second.status.phase != Phase::starting) return;
    it->second.status.phase = Phase::running;
    it->second.status.started = clock_.now();
  }
  tell(id);
}

void FakeEngine::end(const std::string& id, ExitStatus status) {
  {
    auto state = state_.lock();
    const auto it = state->instances.find(id);
    if (it == state->instances.end() || it->second.status.phase == Phase::ended) return;
    status.stopped = it->second.stop_requested;
    status.at = clock_.now();
    it->second.status.phase = Phase::ended;
    it->second.status.exit = std::move(status);
  }
  tell(id);
}

void FakeEngine::set_usage(const std::string& id, Usage usage) {
  state_.lock()->instances[id].usage = usage;
}

std::vector<std::string> FakeEngine::ids() const {
  std::vector<std::string> out;
  auto state = state_.lock();
  for (const auto& [id, instance] : state->instances) out.push_back(id);
  return out;
}

InstanceSpec FakeEngine::spec(const std::string& id) const {
  auto state = state_.lock();
  const auto it = state->instances.find(id);
  if (it == state->instances.end()) {
    throw base::Error(base::Code::not_found, "no instance '" + id + "' was started");
  }
  return it->second.spec;
}

bool FakeEngine::stop_requested(const std::string& id) const {
  auto state = state_.lock();
  const auto it = state->instances.find(id);
  return it != state->instances.end() && it->second.stop_requested;
}

bool FakeEngine::forgotten(const std::string& id) const {
  return state_.lock()->forgotten.contains(id);
}

void FakeEngine::tell(const std::string& id) {
  OnChange callback;
  callback = state_.lock()->on_change;
  if (callback) callback(id);
}

}  // namespace meridian::run
