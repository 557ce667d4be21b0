// Where instances run (design D9): local now; slurm and kubernetes later.
//
// An engine starts supervisors and watches them; it is not their parent in any sense that matters.
// What it knows is on disk, so a restarted daemon finds every instance again by adopt().
//
// Non-blocking (usable from steps) except where said. Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/gpu.h"
#include "run/instance.h"

namespace meridian::run {

class Engine {
 public:
  using OnChange = std::function<void(const std::string& instance_id)>;  // must not block
  virtual ~Engine() = default;

  // Starts it unless it was started before (spec.json + run.json exist): idempotent by directory.
  // Returns once the supervisor runs (a few ms); the program's start shows in observe().
  virtual void start(const InstanceSpec& spec) = 0;
  // Takes an instance of an earlier daemon back under watch. Says how it stands.
  virtual InstanceStatus adopt(const std::filesystem::path& directory) = 0;
  virtual InstanceStatus observe(const std::string& id) = 0;
  virtual void stop(const std::string& id) = 0;  // SIGTERM, SIGKILL after the spec's grace
  virtual void kill(const std::string& id) = 0;  // everything in it, now
  virtual Usage usage(const std::string& id) = 0;
  virtual void forget(const std::string& id) = 0;  // ended and cleaned up
  // Why instances can't have mounts on demand here ("cannot open /dev/fuse: Permission denied");
  // nothing: they can. Blocks for some milliseconds: for activities.
  enum class Runtime { host, image };
  virtual std::optional<std::string> find_obstacle_to_files(Runtime runtime) = 0;
  virtual std::vector<GpuSample> sample_gpus() = 0;  // of the machine; blocks as run/gpu.h says
  virtual void on_change(OnChange callback) = 0;
};

struct LocalEngineSettings {
  std::filesystem::path init_program;          // meridian-init
  std::filesystem::path state_directory;       // gangs' namespaces, sockets
  uint32_t user_id = 65534, group_id = 65534;  // run programs as this user when the daemon is root
};
std::unique_ptr<Engine> make_local_engine(const base::Clock& clock, LocalEngineSettings settings);

// Instances that exist only in memory, with scripted ends: for tests and the simulator.
class FakeEngine;  // run/fake_engine.h

}  // namespace meridian::run
