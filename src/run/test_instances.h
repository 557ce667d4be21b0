// A fixture for tests that start real instances.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/random.h"
#include "base/sync.h"
#include "run/engine.h"
#include "run/log_file.h"

namespace meridian::run {

class Instances : public testing::Test {
 protected:
  Instances() { replace_engine(); }

  ~Instances() override {
    for (const auto& [id, directory] : started_) {
      engine_->kill(id);
      eventually(
          [&, id = id] { return engine_->observe(id).phase == InstanceStatus::Phase::ended; });
      engine_->forget(id);
    }
    engine_.reset();
    // The gangs' holders leave a moment after their last member.
    EXPECT_TRUE(eventually([&] {
      std::error_code ec;
      return std::filesystem::is_empty(work_.path() / "state" / "gangs", ec) || ec;
    })) << "a gang's directory stayed behind";
  }

  Engine& engine() { return *engine_; }
  void replace_engine() {
    engine_.reset();
    engine_ = make_local_engine(
        clock_, {.init_program = std::filesystem::read_symlink("/proc/self/exe").parent_path() /
                                 "meridian-init",
                 .state_directory = work_.path() / "state"});
    engine_->on_change([this](const std::string& id) { ++(*changes_.lock())[id]; });
  }

  const std::filesystem::path& work() const { return work_.path(); }
  std::filesystem::path directory() const { return work_.path() / "instance"; }
  std::filesystem::path ml() const { return work_.path() / "ml"; }
  static uid_t program_uid() { return geteuid() == 0 ? 65534 : geteuid(); }

  // A directory that exists under its own name inside too, unlike those below /tmp.
  std::filesystem::path shared_directory(const std::string& name) {
    if (access("/var/lib", W_OK) != 0) return {};
    shared_ = std::make_unique<base::TempDir>("/var/lib/meridian-test");
    const auto path = shared_->path().lexically_normal() / name;
    base::make_directories(path);
    std::filesystem::permissions(path.parent_path(), std::filesystem::perms(0755));
    return path;
  }

  // An instance that runs a shell script, with its own /opt/ml.
  InstanceSpec script(const std::string& text) {
    base::make_directories(ml());
    InstanceSpec spec;
    spec.id = "test/job/1/algo-1";
    spec.gang = "test/job/1";
    spec.directory = directory();
    spec.hostname = "algo-1";
    spec.hosts = {{"algo-1", "127.0.1.1"}};
    spec.argv = {"/bin/sh", "-c", text};
    spec.environment = {{"PATH", "/usr/bin:/bin"}};
    spec.mounts = {{ml(), "/opt/ml", Mount::Mode::read_write}};
    spec.network = Network::host;
    spec.log_file = work() / "output.log";
    spec.grace = base::Duration(5000);
    return spec;
  }

  std::string start(const InstanceSpec& spec) {
    started_[spec.id] = spec.directory;
    engine().start(spec);
    return spec.id;
  }
  void wait_running(const std::string& id) {
    ASSERT_TRUE(
        eventually([&] { return engine_->observe(id).phase == InstanceStatus::Phase::running; }));
  }
  InstanceStatus wait_end(const std::string& id) {
    EXPECT_TRUE(
        eventually([&] { return engine_->observe(id).phase == InstanceStatus::Phase::ended; }));
    InstanceStatus status = engine_->observe(id);
    if (!status.exit) status.exit = ExitStatus{};
    return status;
  }
  InstanceStatus run(const InstanceSpec& spec) {
    const InstanceStatus status = wait_end(start(spec));
    if (status.exit->kind == ExitStatus::Kind::not_started) {
      RecordProperty("not_started", status.exit->message);
      std::fprintf(stderr, "not started: %s\n", status.exit->message.c_str());
    }
    return status;
  }

  std::vector<std::string> output(const std::filesystem::path& file = {}) const {
    std::vector<std::string> lines;
    for (auto& record :
         read_log_file(file.empty() ? work_.path() / "output.log" : file, 0).records) {
      lines.push_back(record.message);
    }
    return lines;
  }
  void wait_for_output(const std::string& line) {
    ASSERT_TRUE(eventually([&] {
      for (const auto& have : output()) {
        if (have == line) return true;
      }
      return false;
    })) << "no line '"
        << line << "'";
  }
  int changes(const std::string& id) const { return (*changes_.lock())[id]; }

  // Bounded, generous: only a failing test takes long.
  template <class Holds>
  static bool eventually(Holds holds) {
    for (int i = 0; i < 2000; ++i) {
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return holds();
  }

  // A `sleep` argument that no other process on this machine has.
  static std::string unique_mark() {
    base::SystemRandom random;
    return "3600." + std::to_string(random.below(1'000'000'000'000));
  }
  static bool process_exists(const std::string& argument) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::error_code ec;
      try {
        const std::string line = base::read_file_if_exists(entry.path() / "cmdline", 4096);
        if (line.find(std::string("sleep") + '\0' + argument) != std::string::npos) return true;
      } catch (const base::Error&) {
        continue;  // it ended meanwhile
      }
    }
    return false;
  }

 private:
  base::SystemClock clock_;
  base::TempDir work_;
  std::unique_ptr<base::TempDir> shared_;
  base::Sync<std::map<std::string, int>> changes_;
  std::unique_ptr<Engine> engine_;
  std::map<std::string, std::filesystem::path> started_;
};

}  // namespace meridian::run
