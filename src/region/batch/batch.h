// AWS Batch of one region: queues, job definitions, jobs and arrays of them, and the step that runs
// them.
//
// A job's documents are the promise (jobs/records.h): SubmitJob writes them, one step per region
// carries all jobs on, with as few commits as it can, and a restarted daemon goes on from them. A
// child leases vCPUs from the region's capacity like everybody else; its program runs through
// run::Engine, where the image leads to (region/training/image.h).
//
//   BatchRegion batch({store, clock, random, identity, engine, telemetry, capacity, runner,
//                      activities, training.service()}, settings);
//   batch.register_steps(table);
//   front.add_region(name, {batch.service(), …});
//   batch.resume();   // makes the compute environment and the queue `default` at first
//
// Thread-safe. Operations and the step block for the store only; what takes longer is an activity.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "aws/service.h"
#include "base/clock.h"
#include "base/random.h"
#include "control/activity.h"
#include "control/runner.h"
#include "identity/identity.h"
#include "region/capacity/capacity.h"
#include "region/telemetry/telemetry.h"
#include "region/training/image.h"
#include "run/engine.h"
#include "store/store.h"

namespace meridian::region::batch {

// As capacity knows a vCPU of a job: its slots are the pool that lists this type.
inline constexpr char kVcpu[] = "batch.vcpu";
// With a pool of vCPUs where the configuration has none: drivers that only wait for a training must
// not hold what the training needs.
std::vector<capacity::Pool> with_vcpus(std::vector<capacity::Pool> pools);

struct Settings {
  std::string account = "000000000000";
  std::string region = "us-west-2";
  std::filesystem::path directory;            // regions/R; jobs live in directory/batch
  std::vector<std::filesystem::path> hidden;  // that programs must not see, nor mount (DATA)

  // How programs inside reach the AWS face: as training::Settings.
  std::string endpoint_url, endpoint_socket;
  std::uint16_t endpoint_port = 0;
  run::Network network = run::Network::gang;
  std::filesystem::path tools_directory;

  std::string python = "/usr/bin/python3";
  std::vector<training::ImageRule> image_rules;
  training::HostProbe probe;
  base::Duration grace{30'000};  // SIGTERM → SIGKILL
  base::Duration poll{2'000};    // in case a change was not told
  std::string step_kind = "batch";
};

struct Parts {
  store::Store& store;  // the region's jobs.db
  const base::Clock& clock;
  base::Random& random;
  identity::Identity& identity;
  run::Engine& engine;
  telemetry::Telemetry& telemetry;
  capacity::Capacity& capacity;
  control::Runner& runner;
  control::Activities& activities;
};

class BatchRegion {
 public:
  BatchRegion(const Parts& parts, Settings settings);
  ~BatchRegion();

  aws::Service service();  // "batch"
  void register_steps(control::StepTable& steps);
  void resume();  // once at start, after the runner exists
  // For Engine::on_change: ignores instances of others.
  void instance_changed(const std::string& instance_id);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meridian::region::batch
