// Training jobs of one region: the SageMaker operations on them and the steps that run them.
//
// A job is one document in the region's store; the document is the promise. CreateTrainingJob
// writes it, steps carry it on (lease, stage, run, upload), and a restarted daemon goes on from it:
// resume() finds every unfinished job and takes its instances back under watch.
//
//   TrainingRegion training({store, clock, random, identity, objects, engine, telemetry, capacity,
//                            runner, activities}, settings);
//   training.register_steps(table);   // before the runner gets its first key
//   front.add(training.service());    // "sagemaker"
//   training.resume();
//
// Thread-safe. Operations and steps block for the store only; what takes longer is an activity.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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
#include "region/training/spot_policy.h"
#include "run/engine.h"
#include "s3/objects.h"
#include "store/store.h"

namespace meridian::region::training {

struct Settings {
  std::string account = "000000000000";
  std::string region = "us-west-2";
  std::filesystem::path directory;            // regions/R; jobs live in directory/jobs
  std::vector<std::filesystem::path> hidden;  // host directories that programs must not see (DATA)

  // How programs inside reach the AWS face.
  std::string endpoint_url;         // http://127.0.0.1:8470
  std::string endpoint_socket;      // the daemon's unix socket; empty = no forwarder
  std::uint16_t endpoint_port = 0;  // the forwarder's port inside
  run::Network network = run::Network::gang;

  std::filesystem::path tools_directory;       // DATA/bin: first on PATH inside; empty = none
  std::filesystem::path algorithms_directory;  // holds meridian-xgboost; empty = not installed
  std::string python = "/usr/bin/python3";
  std::vector<ImageRule> image_rules;
  // FileSystemDataSource: id → directory of the host.
  std::map<std::string, std::filesystem::path> file_systems;
  std::map<std::string, SpotPolicy> spot;  // pool → when its spot instances are taken back
  bool refuse_unenforced = false;          // --strict: KMS, VPC, traffic encryption are refused
  base::Duration grace{120'000};           // SIGTERM → SIGKILL at a stop (contract §3.9)
  base::Duration heartbeat{30'000};    // how often a running job's time and checkpoints are saved
  std::string step_kind = "training";  // keys are "<step_kind>/<job>"; differs per region when
                                       // regions share a runner
  std::string boot_id;                 // tells boots apart, for durations; empty = the kernel's
  // How images and frameworks are looked up on this machine; the default asks podman and python.
  HostProbe probe;
};

struct Parts {
  store::Store& store;  // the region's jobs.db
  const base::Clock& clock;
  base::Random& random;
  identity::Identity& identity;
  s3::Objects& objects;
  run::Engine& engine;
  telemetry::Telemetry& telemetry;
  capacity::Capacity& capacity;
  control::Runner& runner;
  control::Activities& activities;
};

class TrainingRegion {
 public:
  TrainingRegion(const Parts& parts, Settings settings);
  ~TrainingRegion();

  // Service "sagemaker": CreateTrainingJob, DescribeTrainingJob, ListTrainingJobs, StopTrainingJob,
  // DeleteTrainingJob, UpdateTrainingJob, AddTags, ListTags, DeleteTags, Search.
  aws::Service service();
  // POST /_meridian/v1/NAME: capacity, why, spot-reclaim, run-record. Input member "job" names it.
  std::map<std::string, aws::OperationHandler> meridian_calls();
  void register_steps(control::StepTable& steps);
  // Once at start, after the runner exists: adopts instances, adds a key per unfinished job.
  void resume();
  // For Engine::on_change: the job that the instance belongs to is looked at now. Ignores others.
  void instance_changed(const std::string& instance_id);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meridian::region::training
