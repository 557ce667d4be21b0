// SPDX-License-Identifier: Apache-2.0
#include "run/instance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "run/fake_engine.h"
#include "run/records.h"

namespace meridian::run {
namespace {

using testing::HasSubstr;

InstanceSpec make_spec() {
  InstanceSpec spec;
  spec.id = "us-west-2/job/1/algo-1";
  spec.gang = "us-west-2/job/1";
  spec.directory = "/data/job";
  spec.hostname = "algo-1";
  spec.hosts = {{"algo-1", "127.0.1.1"}, {"algo-2", "127.0.1.2"}};
  spec.argv = {"/bin/sh", "-c", "echo 'ü'"};
  spec.environment = {{"A", "1"}, {"B", ""}};
  spec.working_directory = "/tmp";
  spec.mounts = {{"/data/ml", "/opt/ml", Mount::Mode::read_write},
                 {"/store", "/opt/ml/input/data/train", Mount::Mode::overlay}};
  spec.hidden = {"/data"};
  spec.limits = {1.5, 1u << 30, 100};
  spec.gpus = {0, 3};
  spec.network = Network::isolated;
  spec.endpoint_socket = "/data/endpoint.sock";
  spec.endpoint_port = 8470;
  spec.credentials = {"ASIA1", "secret", "token", "arn:aws:iam::000000000000:role/r", {1'700}};
  spec.image = "image:1";
  spec.log_file = "/data/log";
  spec.grace = base::Duration(30'000);
  spec.gang_directory = "/data/gang";
  spec.user_id = 65534;
  return spec;
}

TEST(InstanceSpec, SurvivesTheTripToDisk) {
  const base::Json written = to_json(make_spec());
  const auto read = parse_instance_spec(base::to_text(written));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(base::to_text(to_json(*read)), base::to_text(written));
  EXPECT_EQ(read->mounts[1].mode, Mount::Mode::overlay);
  EXPECT_EQ(read->user_id, 65534u);
  EXPECT_EQ(read->group_id, std::nullopt);
  EXPECT_EQ(read->limits.memory_bytes, 1u << 30);
}

std::string refusal(base::Json spec, const std::string& field, base::Json value) {
  spec.as_object()[field] = std::move(value);
  const auto read = parse_instance_spec(base::to_text(spec));
  return read ? "accepted" : read.error().message;
}

TEST(InstanceSpec, BadFieldsAreRefusedByName) {
  const base::Json spec = to_json(make_spec());
  EXPECT_THAT(refusal(spec, "id", ""), HasSubstr("id is empty"));
  EXPECT_THAT(refusal(spec, "directory", "relative"), HasSubstr("absolute path, not 'relative'"));
  EXPECT_THAT(refusal(spec, "network", "moon"), HasSubstr("network must be"));
  EXPECT_THAT(refusal(spec, "endpoint_port", 70000), HasSubstr("endpoint_port"));
  EXPECT_THAT(refusal(spec, "argv", "x"), HasSubstr("argv must be a list"));
  EXPECT_THAT(refusal(spec, "environment", base::JsonArray{}), HasSubstr("environment"));
  EXPECT_FALSE(parse_instance_spec("[]").ok());
  EXPECT_FALSE(parse_instance_spec("{").ok());
}

TEST(InstanceSpec, FieldsOfLaterReleasesAreIgnored) {
  base::Json spec = to_json(make_spec());
  spec.as_object()["later"] = 1;
  EXPECT_TRUE(parse_instance_spec(base::to_text(spec)).ok());
}

TEST(Records, TheExitStatusSurvivesTheTripToDisk) {
  const base::TempDir directory;
  EXPECT_FALSE(find_exit_status(directory.path()).has_value());
  ExitStatus status = signalled(9);
  status.out_of_memory = status.stopped = true;
  status.message = "why";
  status.at = {123};
  write_exit_status(directory.path(), status);
  const auto read = find_exit_status(directory.path());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->kind, ExitStatus::Kind::signalled);
  EXPECT_EQ(read->code, 9);
  EXPECT_TRUE(read->out_of_memory && read->stopped);
  EXPECT_EQ(read->message, "why");
  EXPECT_EQ(read->at.ms, 123);
}

TEST(FakeEngine, FollowsItsScript) {
  base::ManualClock clock;
  FakeEngine engine(clock);
  std::vector<std::string> changes;
  engine.on_change([&](const std::string& id) { changes.push_back(id); });
  engine.start(make_spec());
  const std::string id = make_spec().id;
  EXPECT_EQ(engine.observe(id).phase, InstanceStatus::Phase::running);
  engine.ignore_stops();
  engine.stop(id);
  EXPECT_TRUE(engine.stop_requested(id));
  EXPECT_EQ(engine.observe(id).phase, InstanceStatus::Phase::running);
  engine.end(id, exited(3));
  engine.end(id, exited(4));
  EXPECT_EQ(engine.observe(id).exit->code, 3);
  EXPECT_TRUE(engine.observe(id).exit->stopped);
  EXPECT_EQ(changes.size(), 2u);
  engine.forget(id);
  EXPECT_TRUE(engine.forgotten(id));
  EXPECT_EQ(engine.observe(id).phase, InstanceStatus::Phase::unknown);
}

}  // namespace
}  // namespace meridian::run
