// Instances that exist only in memory: for tests of what stands above, and for the simulator.
//
//   FakeEngine engine(clock);
//   engine.start(spec);                       // running at once, unless hold_starts() was called
//   engine.end("…/algo-1", exited(1));        // observe() says so, on_change was called
//   EXPECT_EQ(engine.spec("…/algo-1").argv, …);
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/sync.h"
#include "run/engine.h"

namespace meridian::run {

class FakeEngine final : public Engine {
 public:
  explicit FakeEngine(const base::Clock& clock) : clock_(clock) {}

  void start(const InstanceSpec& spec) override;
  InstanceStatus adopt(const std::filesystem::path& directory) override;
  InstanceStatus observe(const std::string& id) override;
  // Ends it as `stopped` with SIGTERM at once, unless ignore_stops() was called: then it waits for
  // end() or kill().
  void stop(const std::string& id) override;
  void kill(const std::string& id) override;
  Usage usage(const std::string& id) override;
  void forget(const std::string& id) override;
  std::optional<std::string> find_obstacle_to_files(Runtime runtime) override;
  std::vector<GpuSample> sample_gpus() override;
  void on_change(OnChange callback) override;

  // The script.
  void hold_starts();                       // new instances stay `starting` until run()
  void refuse_starts(std::string message);  // start() throws Error(unavailable)
  void ignore_stops();
  void run(const std::string& id);
  void end(const std::string& id, ExitStatus status);
  void set_usage(const std::string& id, Usage usage);
  void allow_files();  // mounts on demand
  void set_gpus(std::vector<GpuSample> samples);

  // What was asked.
  std::vector<std::string> ids() const;            // known instances, in order of their ids
  InstanceSpec spec(const std::string& id) const;  // Error(not_found) when never started
  bool stop_requested(const std::string& id) const;
  bool forgotten(const std::string& id) const;

 private:
  struct Instance {
    InstanceSpec spec;
    InstanceStatus status;
    Usage usage;
    bool stop_requested = false;
  };
  struct State {
    std::map<std::string, Instance> instances;
    std::set<std::string> forgotten;
    OnChange on_change;
    bool hold_starts = false, ignore_stops = false, files = false;
    std::string refusal;
    std::vector<GpuSample> gpus;
  };
  void tell(const std::string& id);

  const base::Clock& clock_;
  base::Sync<State> state_;
};

inline ExitStatus exited(int code) {
  ExitStatus status;
  status.code = code;
  return status;
}
inline ExitStatus signalled(int number) {
  ExitStatus status;
  status.kind = ExitStatus::Kind::signalled;
  status.code = number;
  return status;
}
inline ExitStatus lost() {
  ExitStatus status;
  status.kind = ExitStatus::Kind::lost;
  status.message = "the supervisor died without a word";
  return status;
}

}  // namespace meridian::run
