// SPDX-License-Identifier: Apache-2.0
#include "run/inside/file_server.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <thread>
#include <vector>

#include "base/error.h"
#include "run/inside/confine.h"
#include "run/inside/fuse_answers.h"
#include "run/inside/namespaces.h"
#include "run/process.h"

namespace meridian::run {
namespace fs = std::filesystem;
namespace {

base::UniqueFd open_device() { return base::open_file("/dev/fuse", O_RDWR | O_CLOEXEC); }

void mount_device(int device, const fs::path& target, Identity owner) {
  const std::string options =
      "fd=" + std::to_string(device) + ",rootmode=40555,user_id=" + std::to_string(owner.user) +
      ",group_id=" + std::to_string(owner.group) +
      ",allow_other,default_permissions,max_read=" + std::to_string(FuseAnswers::kMaxRead);
  if (mount("meridian", target.c_str(), "fuse", MS_RDONLY | MS_NOSUID | MS_NODEV,
            options.c_str()) != 0) {
    throw base::errno_error(errno, "cannot mount a file system of our own on " + target.string());
  }
}

// Until the mount is gone.
void serve(int device, const FuseAnswers& answers) {
  std::vector<char> request(FuseAnswers::kRequestBytes), reply(FuseAnswers::kReplyBytes);
  while (true) {
    const ssize_t n = read(device, request.data(), request.size());
    if (n < 0 && errno == ENODEV) return;
    if (n < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN)) continue;
    if (n < 0) throw base::errno_error(errno, "cannot read /dev/fuse");
    const std::size_t length = answers.answer({request.data(), static_cast<std::size_t>(n)}, reply);
    // Refused when whoever asked is gone: nothing is lost.
    if (length > 0) (void)!write(device, reply.data(), length);
  }
}

void serve_on_threads(int device, const FuseAnswers& answers) {
  // Reads wait for the disk, so more than there are cores; each thread has its own buffers.
  const unsigned count = std::clamp(2 * std::thread::hardware_concurrency(), 4u, 16u);
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < count; ++i) {
    threads.emplace_back([&] {
      try {
        serve(device, answers);
      } catch (const std::exception& error) {  // a thread's end
        std::fprintf(stderr, "meridian-files: %s\n", error.what());
        _exit(1);
      }
    });
  }
  serve(device, answers);
}

// The server's descriptors.
struct Ends {
  int device, ready, mounted;
};

// The server's whole life; `ready` hears "r" once the tree is there, else the reason. There is
// nothing to read before the mount.
[[noreturn]] void run_server(const fs::path& index, const Ends& ends, Identity owner) {
  const auto [device, ready, mounted] = ends;
  prctl(PR_SET_NAME, "meridian-files");
  try {
    drop_privileges({geteuid(), getegid()});
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    deny_system_calls();
    auto tree = FileTree::parse(base::read_file(index));
    if (!tree) {
      throw base::Error(base::Code::data_loss, index.string() + ": " + tree.error().text());
    }
    base::write_all(ready, "r");
    close(ready);
    char nothing = 0;
    while (read(mounted, &nothing, 1) < 0 && errno == EINTR) {
    }
    serve_on_threads(device, FuseAnswers(*tree, owner));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "meridian-files: %s\n", error.what());
    (void)!write(ready, error.what(), std::char_traits<char>::length(error.what()));
    _exit(1);
  }
  _exit(0);
}

}  // namespace

FileServer start_file_server(const fs::path& index, Identity owner) {
  auto [heard, ready] = make_pipe();
  auto [mounted_there, mounted_here] = make_pipe();
  FileServer server{.device = open_device(), .mounted = std::move(mounted_here)};
  server.process = fork();
  if (server.process < 0) throw base::errno_error(errno, "cannot fork");
  if (server.process == 0) {
    const Ends ends{server.device.get(), ready.get(), mounted_there.get()};
    // Nothing of the supervisor's lives on in here, its lock above all.
    close_others({ends.device, ends.ready, ends.mounted});
    run_server(index, ends, owner);
  }
  ready.reset();
  char answer[512];
  const ssize_t n = read(heard.get(), answer, sizeof answer);
  if (n == 1 && answer[0] == 'r') return server;
  throw base::Error(base::Code::internal,
                    "no files on demand: " + std::string(answer, std::max<ssize_t>(n, 0)));
}

void mount_files(FileServer& server, const fs::path& target, Identity owner) {
  mount_device(server.device.get(), target, owner);
  server.device.reset();
  server.mounted.reset();
}

int probe_files(const fs::path& directory) {
  try {
    const Identity self{geteuid(), getegid()};
    if (self.user != 0) enter_user_namespace();
    if (unshare(CLONE_NEWNS) != 0) throw base::errno_error(errno, "no mount namespace");
    if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
      throw base::errno_error(errno, "cannot make mounts private");
    }
    const base::UniqueFd device = open_device();
    mount_device(device.get(), directory, self);
    return 0;
  } catch (const base::Error& error) {
    std::printf("%s\n", error.message().c_str());
    return 1;
  }
}

}  // namespace meridian::run
