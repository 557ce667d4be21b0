// What a supervisor does for others while its program runs: the forwarder, connections to the
// program's ports, limits, images.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <thread>

#include "base/json.h"
#include "base/strings.h"
#include "run/capture.h"
#include "run/message.h"
#include "run/podman.h"
#include "run/records.h"
#include "run/test_instances.h"

namespace meridian::run {
namespace {

using testing::Contains;
using testing::HasSubstr;

class Services : public Instances {
 protected:
  base::UniqueFd supervisor() const {
    return connect_to(directory(), "init.sock", base::Duration(5000));
  }
};

std::string read_to_end(int fd) {
  std::string out;
  char buffer[4096];
  for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) > 0;) {
    out.append(buffer, static_cast<std::size_t>(n));
  }
  return out;
}

// Answers each connection with what it got, in capitals, until destroyed.
class ShoutingDaemon {
 public:
  explicit ShoutingDaemon(const std::filesystem::path& path)
      : listener_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_.get(), 8), 0);
    thread_ = std::thread([this] {
      while (true) {
        const base::UniqueFd client(accept(listener_.get(), nullptr, nullptr));
        if (!client) return;
        base::write_all(client.get(), base::to_upper(read_to_end(client.get())));
      }
    });
  }
  ~ShoutingDaemon() {
    shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }

 private:
  base::UniqueFd listener_;
  std::thread thread_;
};

TEST_F(Services, TheForwarderReachesTheDaemonFromInsideAndBack) {
  const ShoutingDaemon daemon(work() / "daemon.sock");
  InstanceSpec spec = script("");
  // More than any buffer on the way, so that both directions have to wait for each other.
  spec.argv = {"/usr/bin/python3", "-c",
               "import socket, threading\n"
               "s = socket.create_connection(('127.0.0.1', 8470))\n"
               "data = b'abc' * 1000000\n"
               "t = threading.Thread(target=lambda: (s.sendall(data), s.shutdown(1)))\n"
               "t.start()\n"
               "got = b''\n"
               "while True:\n"
               "  piece = s.recv(65536)\n"
               "  if not piece: break\n"
               "  got += piece\n"
               "print(got == data.upper())\n"};
  spec.network = Network::gang;
  spec.endpoint_port = 8470;
  spec.endpoint_socket = (work() / "daemon.sock").string();
  run(spec);
  EXPECT_THAT(output(), Contains("True"));
}

TEST_F(Services, AnIsolatedInstanceHasNoForwarder) {
  const ShoutingDaemon daemon(work() / "daemon.sock");
  InstanceSpec spec = script("");
  spec.argv = {"/usr/bin/python3", "-c",
               "import socket\n"
               "try: socket.create_connection(('127.0.0.1', 8470))\n"
               "except OSError as e: print(type(e).__name__)\n"};
  spec.network = Network::isolated;
  spec.endpoint_port = 8470;
  spec.endpoint_socket = (work() / "daemon.sock").string();
  run(spec);
  EXPECT_THAT(output(), Contains("ConnectionRefusedError"));
}

TEST_F(Services, AConnectionToTheProgramsPortIsHandedOut) {
  InstanceSpec spec = script("");
  spec.argv = {"/usr/bin/python3", "-c",
               "import socket\n"
               "s = socket.socket(); s.bind(('0.0.0.0', 8080)); s.listen()\n"
               "print('listening', flush=True)\n"
               "c, _ = s.accept(); c.sendall(b'from inside')\n"};
  spec.network = Network::isolated;
  start(spec);
  wait_for_output("listening");
  const base::UniqueFd socket = supervisor();
  ASSERT_TRUE(send_message(socket.get(), {{"op", "connect"}, {"port", 8080}}));
  const auto answer = receive_message(socket.get());
  ASSERT_TRUE(answer.has_value());
  ASSERT_EQ(answer->fds.size(), 1u) << base::to_text(answer->body);
  EXPECT_EQ(read_to_end(answer->fds[0].get()), "from inside");
}

TEST_F(Services, ACommandRunsInsideWithOurStreams) {
  start(script("echo ready; sleep 3600"));
  wait_for_output("ready");
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const base::UniqueFd read_end(ends[0]);
  base::UniqueFd write_end(ends[1]);
  const base::UniqueFd socket = supervisor();
  const int fds[] = {0, write_end.get(), write_end.get()};
  ASSERT_TRUE(send_message(
      socket.get(),
      {{"op", "exec"}, {"argv", base::JsonArray{"/bin/sh", "-c", "hostname; exit 3"}}}, fds));
  write_end.reset();
  EXPECT_EQ(read_to_end(read_end.get()), "algo-1\n");
  const auto answer = receive_message(socket.get());
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(WEXITSTATUS(base::int_or(answer->body, "status", 0)), 3);
}

TEST_F(Services, NonsenseIsAnsweredWithAnErrorAndHarmsNothing) {
  const auto id = start(script("echo ready; while [ ! -e /opt/ml/go ]; do sleep 0.02; done"));
  wait_for_output("ready");
  const base::UniqueFd socket = supervisor();
  ASSERT_TRUE(send_message(socket.get(), {{"op", "dance"}}));
  EXPECT_THAT(base::string_or(receive_message(socket.get())->body, "error"), HasSubstr("dance"));
  ASSERT_EQ(send(socket.get(), "\xff{", 2, 0), 2);
  EXPECT_FALSE(receive_message(socket.get()).has_value());
  base::write_file(ml() / "go", "");
  EXPECT_EQ(wait_end(id).exit->code, 0);
}

TEST_F(Services, AProgramThatOutgrowsItsMemoryIsReportedAsSuch) {
  InstanceSpec spec = script("");
  spec.argv = {"/usr/bin/python3", "-c", "x = bytearray(400 << 20); print(len(x))"};
  spec.limits.memory_bytes = 64u << 20;
  const auto status = run(spec);
  if (!status.notes.empty()) GTEST_SKIP() << status.notes.front();
  EXPECT_TRUE(status.exit->out_of_memory);
  EXPECT_EQ(status.exit->kind, ExitStatus::Kind::signalled);
  EXPECT_EQ(status.exit->code, SIGKILL);
}

TEST_F(Services, LimitsThatCannotBeSetAreNoted) {
  InstanceSpec spec = script("true");
  spec.limits.memory_bytes = 64u << 20;
  const auto status = run(spec);
  const auto record = find_running_record(directory());
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->cgroups.contains("memory"), status.notes.empty())
      << testing::PrintToString(status.notes);
}

TEST_F(Services, UsageCountsProcessorTimeAndMemory) {
  const auto id =
      start(script("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo ready; sleep 3600"));
  wait_for_output("ready");
  const Usage usage = engine().usage(id);
  EXPECT_GT(usage.cpu_seconds, 0);
  EXPECT_GT(usage.memory_bytes, 0u);
}

TEST(Podman, KnowsAnEcrImageByItsLocalNames) {
  EXPECT_THAT(local_names("1.dkr.ecr.us-west-2.amazonaws.com/team/net:2"),
              testing::ElementsAre("1.dkr.ecr.us-west-2.amazonaws.com/team/net:2",
                                   "localhost/team/net:2", "team/net:2"));
  EXPECT_THAT(local_names("net:2"), testing::ElementsAre("net:2"));
}

TEST(Podman, ReadsAnImagesEntrypoint) {
  const auto image = parse_image_inspection(
      R"([{"Id":"abc","Config":{"Entrypoint":["/train"],"Cmd":null,"User":"1000"}}])");
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(image->id, "abc");
  EXPECT_THAT(image->entrypoint, testing::ElementsAre("/train"));
  EXPECT_TRUE(image->command.empty());
  EXPECT_FALSE(parse_image_inspection("[]").ok());
  EXPECT_FALSE(parse_image_inspection("Error").ok());
}

TEST(Podman, TakesAnOptionForNoImage) { EXPECT_FALSE(find_local_image("--help").has_value()); }

TEST(Podman, ThePlatformsArgumentFollowsTheImage) {
  InstanceSpec spec;
  spec.id = "r/j/1/algo-1";
  spec.image = "localhost/net:2";
  spec.argv = {"train"};
  spec.entrypoint = {"/bin/run", "--all"};
  spec.hostname = "algo-1";
  spec.hosts = {{"algo-1", "127.0.1.1"}};
  spec.mounts = {{"/d/ml", "/opt/ml", Mount::Mode::read_write},
                 {"/d/c", "/c", Mount::Mode::overlay}};
  spec.environment = {{"A", "b c"}};
  const auto words = podman_command(spec, "/x/meridian-init");
  EXPECT_EQ(words.back(), "train");
  EXPECT_EQ(words[words.size() - 2], "localhost/net:2");
  const std::string line = base::join(words, "|");
  EXPECT_THAT(line, HasSubstr("|--entrypoint|[\"/bin/run\",\"--all\"]|"));
  EXPECT_THAT(line, HasSubstr("|-v|/d/ml:/opt/ml:rw|-v|/d/c:/c:O|"));
  EXPECT_THAT(line, HasSubstr("|--env|A=b c|"));
  EXPECT_THAT(line, HasSubstr("|--add-host|algo-1:127.0.1.1|"));
}

// An image that holds nothing but meridian-init, under a name of its own.
class Images : public Services {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "podman without root needs subordinate ids";
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "with sanitizers meridian-init is not static, and the image holds no libraries";
#endif
    const auto programs = std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
    const Captured made = capture({"/bin/sh", "-c",
                                   "tar -C '" + programs +
                                       "' -c meridian-init | podman --runtime runc import "
                                       "--change 'ENTRYPOINT [\"/meridian-init\"]' - " +
                                       name_});
    if (made.exit_code != 0) GTEST_SKIP() << "podman cannot make an image here";
  }
  void TearDown() override { capture({"podman", "--runtime", "runc", "rmi", "--force", name_}); }

  InstanceSpec image_spec(std::vector<std::string> arguments) {
    InstanceSpec spec = script("");
    spec.network = Network::isolated;
    spec.image = name_;
    spec.argv = std::move(arguments);
    return spec;
  }

  const std::string name_ = "localhost/meridian-test-" + base::SystemRandom().hex(8) + ":1";
};

TEST_F(Images, RunWithTheirEntrypointAndOurArgument) {
  ASSERT_TRUE(find_local_image(name_).has_value());
  const auto status = run(image_spec({"train"}));
  EXPECT_EQ(status.exit->code, 2);
  EXPECT_THAT(output(), Contains(HasSubstr("usage: meridian-init")));
}

TEST_F(Images, ACommandOfTheGangRunsInTheContainer) {
  const auto id = start(image_spec({"rsh", "host-" + base::SystemRandom().hex(8), "true"}));
  const base::UniqueFd socket = supervisor();
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const base::UniqueFd read_end(ends[0]);
  base::UniqueFd write_end(ends[1]);
  const int fds[] = {write_end.get(), write_end.get(), write_end.get()};
  // A program that only the image has; asked for before the container runs.
  ASSERT_FALSE(std::filesystem::exists("/meridian-init"));
  ASSERT_TRUE(send_message(socket.get(),
                           {{"op", "exec"}, {"argv", base::JsonArray{"/meridian-init"}}}, fds));
  write_end.reset();
  EXPECT_THAT(read_to_end(read_end.get()), HasSubstr("usage: meridian-init"));
  engine().kill(id);
  wait_end(id);
}

TEST_F(Images, EndWithTheirSupervisor) {
  const std::string host = "host-" + base::SystemRandom().hex(8);
  const auto id = start(image_spec({"rsh", host, "true"}));  // waits for a host that never comes
  const auto waiting = [&] {
    return capture({"pgrep", "-f", "^/meridian-init rsh " + host}).exit_code == 0;
  };
  ASSERT_TRUE(eventually(waiting));
  kill(find_supervisor_record(directory())->pid, SIGKILL);
  EXPECT_EQ(wait_end(id).exit->kind, ExitStatus::Kind::lost);
  EXPECT_TRUE(eventually([&] { return !waiting(); }));
  capture({"podman", "--runtime", "runc", "rm", "--force", container_name(image_spec({"x"}))});
}

}  // namespace
}  // namespace meridian::run
