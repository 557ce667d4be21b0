// A training region without a machine: virtual time, fake instances, objects in memory. For tests.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>

#include "base/file.h"
#include "base/json.h"
#include "region/training/training.h"
#include "run/fake_engine.h"

namespace meridian::region::training {

// Buckets as maps; every bucket exists but "missing".
class MemoryObjects final : public s3::Objects {
 public:
  s3::ObjectPage list(const std::string& bucket, const std::string& prefix,
                      const std::string& after, std::size_t limit) override {
    require(bucket);
    s3::ObjectPage page;
    auto lock = objects_.lock();
    for (const auto& [path, bytes] : *lock) {
      auto [where, key] = path;
      if (where != bucket || !key.starts_with(prefix) || key <= after) continue;
      if (page.objects.size() == limit) {
        page.next_after = page.objects.back().key;
        break;
      }
      page.objects.push_back(info(key, bytes));
    }
    return page;
  }
  std::optional<s3::ObjectInfo> find(const std::string& bucket, const std::string& key) override {
    require(bucket);
    auto lock = objects_.lock();
    auto found = lock->find({bucket, key});
    if (found == lock->end()) return std::nullopt;
    return info(key, found->second);
  }
  std::unique_ptr<net::BodyReader> open(const std::string& bucket, const std::string& key,
                                        std::uint64_t offset,
                                        std::optional<std::uint64_t> count) override {
    auto lock = objects_.lock();
    auto found = lock->find({bucket, key});
    if (found == lock->end())
      throw base::Error(base::Code::not_found, "no object s3://" + bucket + "/" + key);
    return std::make_unique<net::StringBody>(
        found->second.substr(offset, count ? *count : std::string::npos));
  }
  std::optional<std::filesystem::path> find_file(const std::string&, const std::string&) override {
    return std::nullopt;
  }
  // From now on objects lie in files there too.
  void keep_in(std::filesystem::path directory) { directory_ = std::move(directory); }
  std::optional<std::vector<LocalPiece>> find_pieces(const std::string& bucket,
                                                     const std::string& key) override {
    if (directory_.empty() || !find(bucket, key)) return std::nullopt;
    const std::string bytes = text(bucket, key);
    const auto file = directory_ / std::to_string(std::hash<std::string>()(bucket + "/" + key));
    base::make_directories(directory_);
    base::write_file(file, bytes);
    return std::vector<LocalPiece>{{file, bytes.size()}};
  }
  void put_file(const std::string& bucket, const std::string& key,
                const std::filesystem::path& file, std::stop_token) override {
    put_bytes(bucket, key, base::read_file(file));
  }
  void put_bytes(const std::string& bucket, const std::string& key,
                 std::string_view bytes) override {
    require(bucket);
    if (full) throw base::errno_error(ENOSPC, "cannot write");
    (*objects_.lock())[{bucket, key}] = bytes;
  }
  void remove(const std::string& bucket, const std::string& key) override {
    objects_.lock()->erase({bucket, key});
  }
  std::string text(const std::string& bucket, const std::string& key) {
    return open(bucket, key, 0, {})->read_all(1u << 30);
  }

  std::atomic<bool> full{false};  // no room for anything

 private:
  static void require(const std::string& bucket) {
    if (bucket == "missing") throw base::Error(base::Code::not_found, "no such bucket 'missing'");
  }
  static s3::ObjectInfo info(const std::string& key, const std::string& bytes) {
    return {key, bytes.size(), std::to_string(std::hash<std::string>()(bytes)), {1000}};
  }
  base::Sync<std::map<std::pair<std::string, std::string>, std::string>> objects_;
  std::filesystem::path directory_;
};

inline HostProbe fake_probe() {
  return {[](const std::string& image) -> std::optional<std::string> {
            if (image == "own:latest" || image == "coded:latest") return image;
            return std::nullopt;
          },
          [](const std::string&, const std::string& module) -> std::optional<std::string> {
            if (module == "torch") return std::nullopt;
            return "ModuleNotFoundError: No module named '" + module + "'";
          },
          [](const std::string&) { return std::vector<std::string>{"3.11.2"}; },
          [](const std::string& image) { return image == "coded:latest"; }};
}

class RegionTest : public testing::Test {
 protected:
  RegionTest() : RegionTest({{.name = "default", .count = 8}}) {}
  explicit RegionTest(std::vector<capacity::Pool> pools)
      : capacity_(*store_, clock_, "000000000000/us-west-2", std::move(pools)) {
    restart();
  }

  // A new daemon over the same store, objects and instances.
  void restart() {
    region_.reset();
    activities_.reset();
    runner_.reset();
    steps_ = control::StepTable();
    runner_ = std::make_unique<control::VirtualRunner>(clock_, steps_);
    activities_ = std::make_unique<control::InlineActivities>(*runner_);
    telemetry_ = std::make_unique<telemetry::Telemetry>(
        *store_, clock_,
        telemetry::Telemetry::Settings{"000000000000", "us-west-2", directory_.path() / "logs"});
    Settings settings;
    settings.directory = directory_.path();
    settings.endpoint_url = "http://127.0.0.1:8470";
    settings.algorithms_directory = "/usr/lib/meridian";
    settings.file_systems = {{"fs-1", directory_.path() / "fs"}};
    settings.boot_id = "boot";
    settings.probe = fake_probe();
    adjust(settings);
    region_ = std::make_unique<TrainingRegion>(
        Parts{*store_, clock_, random_, identity_, objects_, engine_, *telemetry_, capacity_,
              *runner_, *activities_},
        settings);
    region_->register_steps(steps_);
    engine_.on_change([this](const std::string& id) { region_->instance_changed(id); });
    service_ = region_->service();
    region_->resume();
  }
  virtual void adjust(Settings&) {}

  base::Json call(std::string_view operation, const base::JsonObject& input) {
    auto handler = service_.operations.find(operation);
    if (handler == service_.operations.end()) throw std::out_of_range(std::string(operation));
    return handler->second({}, input);
  }
  static base::JsonObject request(const std::string& name, int instances = 1) {
    return {
        {"TrainingJobName", name},
        {"RoleArn", "arn:aws:iam::000000000000:role/trainer"},
        {"AlgorithmSpecification",
         {{"TrainingImage", "host"},
          {"TrainingInputMode", "File"},
          {"ContainerEntrypoint", base::JsonArray{"/bin/train"}}}},
        {"OutputDataConfig", {{"S3OutputPath", "s3://out/results/"}}},
        {"ResourceConfig",
         {{"InstanceType", "ml.m5.large"}, {"InstanceCount", instances}, {"VolumeSizeInGB", 10}}},
        {"StoppingCondition", {{"MaxRuntimeInSeconds", 3600}}}};
  }
  base::Json describe(const std::string& name) {
    return call("DescribeTrainingJob", {{"TrainingJobName", name}});
  }
  std::string status(const std::string& name) {
    base::Json job = describe(name);
    return base::string_or(job, "TrainingJobStatus") + "/" +
           base::string_or(job, "SecondaryStatus");
  }
  void settle() { runner_->run_until_idle(); }
  void start(const base::JsonObject& job) {
    call("CreateTrainingJob", job);
    settle();
  }
  // "…/<attempt>/algo-N" of the job.
  std::string instance(const std::string& job, const std::string& tail) {
    for (const std::string& id : engine_.ids())
      if (id.starts_with("us-west-2/" + job + ".") && id.ends_with("/" + tail)) return id;
    ADD_FAILURE() << "no instance " << tail << " of " << job;
    return "";
  }
  void end(const std::string& job, const std::string& tail, run::ExitStatus exit) {
    exit.at = clock_.now();
    engine_.end(instance(job, tail), exit);
    settle();
  }
  std::filesystem::path ml(const std::string& job, const std::string& tail) {
    return engine_.spec(instance(job, tail)).directory / "ml";
  }
  // Calls and returns "code: message" of the error.
  std::string refusal(std::string_view operation, const base::JsonObject& input) {
    try {
      call(operation, input);
    } catch (const aws::ApiError& error) {
      return error.aws_code() + ": " + error.message();
    }
    return "accepted";
  }

  base::TempDir directory_;
  base::ManualClock clock_;
  base::SeededRandom random_{1};
  std::unique_ptr<store::Store> store_ = store::open_in_memory();
  identity::Identity identity_{*store_, clock_, random_};
  MemoryObjects objects_;
  run::FakeEngine engine_{clock_};
  capacity::Capacity capacity_;
  control::StepTable steps_;
  std::unique_ptr<control::VirtualRunner> runner_;
  std::unique_ptr<control::InlineActivities> activities_;
  std::unique_ptr<telemetry::Telemetry> telemetry_;
  std::unique_ptr<TrainingRegion> region_;
  aws::Service service_;
};

}  // namespace meridian::region::training
