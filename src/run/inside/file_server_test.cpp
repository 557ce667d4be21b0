// Channels on demand in real instances, as whoever runs the tests.
//
// SPDX-License-Identifier: Apache-2.0
#include "run/inside/file_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>

#include "base/strings.h"
#include "run/file_tree.h"
#include "run/records.h"
#include "run/test_instances.h"

namespace meridian::run {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class OnDemand : public Instances {
 protected:
  void SetUp() override {
    if (const auto obstacle = engine().find_obstacle_to_files(Engine::Runtime::host)) {
      GTEST_SKIP() << *obstacle;
    }
    fs::create_directories(objects());
  }

  fs::path objects() const { return work() / "objects"; }
  fs::path index() const { return work() / "index"; }
  Stretch object(const std::string& name, std::string_view bytes) {
    base::write_file(objects() / name, bytes, base::Durability::none, 0400);
    return {objects() / name, bytes.size()};
  }
  InstanceSpec reading(const std::string& text) {
    InstanceSpec spec = script("cd /opt/ml/input/data/train; " + text);
    spec.mounts.push_back({index(), "/opt/ml/input/data/train", Mount::Mode::on_demand});
    return spec;
  }
  // The file server of the instance, by its name and parent.
  pid_t server() const {
    const pid_t supervisor = find_supervisor_record(directory())->pid;
    const std::string children =
        base::read_file_if_exists("/proc/" + std::to_string(supervisor) + "/task/" +
                                  std::to_string(supervisor) + "/children");
    for (const std::string& child : base::split(children, ' ')) {
      if (base::trim(base::read_file_if_exists("/proc/" + child + "/comm")) == "meridian-files") {
        return static_cast<pid_t>(*base::to_int(child));
      }
    }
    return 0;
  }
};

TEST_F(OnDemand, AChannelShowsItsObjectsAsFiles) {
  write_file_index(index(), {{"a/b/c.txt", {1'700'000'000'000}, {object("1", "hello ")}},
                             {"two parts", {}, {object("2", "first "), object("3", "second")}}});
  run(
      reading("find . | sort; cat a/b/c.txt 'two parts'; echo; stat -c '%a %s %Y %u' a/b/c.txt; "
              "stat -c %a a"));
  EXPECT_THAT(output(),
              ElementsAre(".", "./a", "./a/b", "./a/b/c.txt", "./two parts", "hello first second",
                          "444 6 1700000000 " + std::to_string(program_uid()), "555"));
}

TEST_F(OnDemand, WritesAreRefusedAsOnAReadOnlyFileSystem) {
  write_file_index(index(), {{"a", {}, {object("1", "bytes")}}});
  run(reading(
      "for harm in 'echo x > a' 'echo x > b' 'rm -f a' 'mkdir c' 'chmod 777 a' 'mv a b'; do "
      "LC_ALL=C sh -c \"$harm\" 2>&1 | grep -c 'Read-only file system'; done"));
  EXPECT_THAT(output(), ElementsAre("1", "1", "1", "1", "1", "1"));
}

TEST_F(OnDemand, OnlyWhatIsReadIsMoved) {
  // A terabyte that is not there: holes are read as zeros, but reading it all would take hours.
  const fs::path huge = objects() / "huge";
  base::write_file(huge, "");
  fs::resize_file(huge, std::uint64_t{1} << 40);
  write_file_index(index(), {{"huge", {}, {{huge, std::uint64_t{1} << 40}}}});
  const auto id = start(reading(
      "stat -c %s huge; dd if=huge bs=4k skip=200M count=1 status=none | wc -c; echo ready; "
      "while [ ! -e /opt/ml/go ]; do sleep 0.02; done"));
  wait_for_output("ready");
  std::uint64_t moved = 0;
  const auto io = base::read_file_if_exists("/proc/" + std::to_string(server()) + "/io");
  ASSERT_EQ(std::sscanf(io.c_str(), "rchar: %lu", &moved), 1);
  EXPECT_LT(moved, 8u << 20);
  base::write_file(ml() / "go", "");
  EXPECT_EQ(wait_end(id).exit->code, 0);
  EXPECT_THAT(output(), ElementsAre("1099511627776", "4096", "ready"));
}

TEST_F(OnDemand, ManyReadersAtOnceGetTheRightBytes) {
  std::vector<IndexedFile> files;
  for (int i = 0; i < 500; ++i) {
    const std::string n = std::to_string(i);
    files.push_back({"d" + std::to_string(i % 7) + "/" + n,
                     {},
                     {object(n, std::string(i * 37, 'a' + i % 26))}});
  }
  write_file_index(index(), files);
  InstanceSpec spec = reading("");
  spec.argv = {"/usr/bin/python3", "-c",
               "import os, concurrent.futures as f\n"
               "os.chdir('/opt/ml/input/data/train')\n"
               "def right(i):\n"
               "  return open(f'd{i % 7}/{i}').read() == chr(97 + i % 26) * (i * 37)\n"
               "with f.ThreadPoolExecutor(16) as pool: print(sum(pool.map(right, range(500))))\n"};
  run(spec);
  EXPECT_THAT(output(), ElementsAre("500"));
}

TEST_F(OnDemand, AnObjectThatIsGoneIsAnErrorForItsReader) {
  write_file_index(index(), {{"gone", {}, {object("1", "x")}}, {"there", {}, {object("2", "y")}}});
  fs::remove(objects() / "1");
  run(reading("cat gone 2>/dev/null || echo error; cat there"));
  EXPECT_THAT(output(), ElementsAre("error", "y"));
}

TEST_F(OnDemand, TheServerEndsWithTheInstanceAndLeavesNoMount) {
  write_file_index(index(), {{"a", {}, {object("1", "x")}}});
  const auto id = start(reading("cat a; echo; echo ready; while :; do sleep 0.02; done"));
  wait_for_output("ready");
  const pid_t process = server();
  ASSERT_GT(process, 0);
  EXPECT_THAT(base::read_file("/proc/self/mounts"), Not(HasSubstr(" fuse ")));
  engine().kill(id);
  wait_end(id);
  EXPECT_TRUE(eventually([&] { return kill(process, 0) != 0; }));
  EXPECT_FALSE(fs::exists(directory() / "scratch"));
}

TEST_F(OnDemand, TheDeathOfTheServerIsALostInstanceNotTheProgramsFault) {
  write_file_index(index(), {{"a", {}, {object("1", "x")}}});
  const auto id = start(reading("cat a; echo; echo ready; while :; do sleep 0.02; done"));
  wait_for_output("ready");
  kill(server(), SIGKILL);
  const auto status = wait_end(id);
  EXPECT_EQ(status.exit->kind, ExitStatus::Kind::lost);
  EXPECT_THAT(status.exit->message, HasSubstr("on demand"));
}

TEST_F(OnDemand, ABrokenIndexIsNotStartedAndNamed) {
  base::write_file(index(), "nonsense");
  const auto status = run(reading("true"));
  EXPECT_EQ(status.exit->kind, ExitStatus::Kind::not_started);
  EXPECT_THAT(status.exit->message, HasSubstr(index().string()));
}

TEST_F(OnDemand, TheProgramCannotSignalTheServer) {
  write_file_index(index(), {{"a", {}, {object("1", "x")}}});
  run(reading("cat a; echo; ls /proc | grep '^[0-9]' | while read p; do cat /proc/$p/comm; done"));
  EXPECT_THAT(output(), Contains("x"));
  EXPECT_THAT(output(), Not(Contains("meridian-files")));
}

}  // namespace
}  // namespace meridian::run
