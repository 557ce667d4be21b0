// SPDX-License-Identifier: Apache-2.0
#include "region/training/pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "base/file.h"
#include "base/sync.h"
#include "region/training/beneath.h"
#include "s3/pipe.h"

namespace meridian::region::training {
namespace {

namespace fs = std::filesystem;

constexpr int kPipeBytes = 1 << 20;
constexpr int kLookMs = 5;     // for a reader that opens
constexpr int kStallMs = 200;  // between looks at the stop token while a reader is slow

void block_sigpipe() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

// A writer's end once somebody reads; nothing when asked to stop.
base::UniqueFd wait_open(int directory, const std::string& name, std::stop_token stop) {
  while (!stop.stop_requested()) {
    base::UniqueFd fd(
        openat(directory, name.c_str(), O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    if (fd) {
      struct stat status{};
      if (fstat(fd.get(), &status) != 0 || !S_ISFIFO(status.st_mode))
        throw base::Error(base::Code::failed_precondition,
                          "the program replaced the FIFO " + name + " by something else");
      fcntl(fd.get(), F_SETPIPE_SZ, kPipeBytes);  // a smaller pipe is slower, not wrong
      return fd;
    }
    if (errno != ENXIO && errno != EINTR) throw base::errno_error(errno, name);
    std::this_thread::sleep_for(std::chrono::milliseconds(kLookMs));
  }
  return {};
}

enum class Written { all, reader_left, stopped };

Written write_pipe(int fd, std::string_view bytes, std::stop_token stop) {
  while (!bytes.empty()) {
    if (stop.stop_requested()) return Written::stopped;
    ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(put));
    } else if (errno == EPIPE) {
      return Written::reader_left;
    } else if (errno == EAGAIN) {
      pollfd waiting{fd, POLLOUT, 0};
      poll(&waiting, 1, kStallMs);
    } else if (errno != EINTR) {
      throw base::errno_error(errno, "writing to a FIFO");
    }
  }
  return Written::all;
}

void feed_epoch(s3::Objects& objects, const PipeFeed& feed, int epoch, int fd,
                std::stop_token stop) {
  s3::PipeEpoch settings{
      .index = feed.index,
      .count = feed.count,
      .epoch = epoch,
      .wrapper = feed.channel.record_io ? s3::RecordWrapper::record_io : s3::RecordWrapper::none,
      .decompress = feed.channel.gzip ? s3::Decompress::gzip : s3::Decompress::none};
  auto body = s3::open_pipe_epoch(objects, *feed.channel.s3, settings);
  std::string buffer(256 << 10, '\0');
  for (;;) {
    std::size_t got = body->read(buffer.data(), buffer.size());
    if (got == 0) return;
    if (write_pipe(fd, {buffer.data(), got}, stop) != Written::all) return;
  }
}

void feed_forever(s3::Objects& objects, const PipeFeed& feed, std::stop_token stop) {
  block_sigpipe();
  auto directory = pin_directory(feed.instance, feed.directory);
  if (!directory)
    throw base::Error(base::Code::failed_precondition,
                      (feed.instance / feed.directory).string() + " is not a directory any more");
  const std::string& channel = feed.channel.name;
  for (int epoch = newest_epoch(directory->path(), channel);; ++epoch) {
    make_fifo(directory->fd(), fifo_name(channel, epoch));
    base::UniqueFd fd = wait_open(directory->fd(), fifo_name(channel, epoch), stop);
    if (!fd) return;
    make_fifo(directory->fd(), fifo_name(channel, epoch + 1));
    feed_epoch(objects, feed, epoch, fd.get(), stop);
    if (stop.stop_requested()) return;
  }
}

}  // namespace

std::string fifo_name(const std::string& channel, int epoch) {
  return channel + "_" + std::to_string(epoch);
}

void make_fifo(int directory, const std::string& name) {
  if (mkfifoat(directory, name.c_str(), 0666) != 0) {
    if (errno == EEXIST) return;
    throw base::errno_error(errno, "making the FIFO " + name);
  }
  // Whatever the umask says: the program may be another user.
  base::UniqueFd made(
      openat(directory, name.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  if (made) fchmod(made.get(), 0666);
}

int newest_epoch(const fs::path& directory, const std::string& channel) {
  int epoch = 0;
  while (fs::exists(fs::symlink_status(directory / fifo_name(channel, epoch + 1)))) ++epoch;
  return epoch;
}

void feed_pipes(s3::Objects& objects, const std::vector<PipeFeed>& feeds, std::stop_token stop) {
  base::Sync<std::exception_ptr> failure;
  std::stop_source all;
  std::stop_callback forward(stop, [&] { all.request_stop(); });
  {
    std::vector<std::jthread> threads;
    for (const PipeFeed& feed : feeds)
      threads.emplace_back([&objects, &feed, &failure, &all] {
        try {
          base::while_doing("feeding channel '" + feed.channel.name + "'",
                            [&] { feed_forever(objects, feed, all.get_token()); });
        } catch (...) {
          // A thread's body: the first error is the caller's.
          if (auto first = failure.lock(); !*first) *first = std::current_exception();
          all.request_stop();
        }
      });
  }
  if (auto first = *failure.lock()) std::rethrow_exception(first);
}

}  // namespace meridian::region::training
