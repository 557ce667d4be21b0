// SPDX-License-Identifier: Apache-2.0
#include "run/inside/view.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "base/file.h"
#include "base/strings.h"
#include "run/inside/mounts.h"

namespace meridian::run {
namespace fs = std::filesystem;
namespace {

// Never bound from the host: each instance has its own.
const std::set<std::string> kOwn = {"dev", "opt", "proc", "tmp", "lost+found"};

class Builder {
 public:
  Builder(const View& view, std::vector<std::string>& notes)
      : spec_(view.spec),
        files_(view.files),
        init_program_(view.init_program),
        scratch_(view.spec.directory / "scratch"),
        root_(scratch_ / "root"),
        mounter_({.scratch = scratch_,
                  .root = root_,
                  .owner = {program_user(spec_), program_group(spec_)},
                  .real_root = view.real_root},
                 notes),
        notes_(notes) {}

  void build() {
    mounter_.make_private_root();
    bind_host();
    hide();
    make_devices();
    make_proc();
    make_own_directories();
    make_host_names();
    make_user();
    for (std::size_t i = 0; i < spec_.mounts.size(); ++i) {
      const Mount& mount = spec_.mounts[i];
      base::while_doing("mounting " + mount.host.string() + " on " + mount.inside.string(), [&] {
        if (mount.mode == Mount::Mode::on_demand) return mounter_.attach(mount, files_.at(i));
        mounter_.attach(mount);
      });
    }
    mounter_.enter_root();
  }

 private:
  fs::path inside(const char* path) const { return root_ / path; }

  void bind_host() {
    for (const auto& entry : fs::directory_iterator("/")) {
      const std::string name = entry.path().filename().string();
      if (kOwn.contains(name)) continue;
      const fs::path target = root_ / name;
      if (entry.is_symlink()) {
        fs::create_symlink(fs::read_symlink(entry.path()), target);
      } else if (entry.is_directory()) {
        mkdir(target.c_str(), 0755);
        mounter_.bind_read_only(entry.path(), target);
      }
    }
  }

  // An empty directory in place of the daemon's own files.
  void hide() {
    for (const fs::path& path : spec_.hidden) {
      const fs::path target = root_ / path.relative_path();
      std::error_code ec;
      if (fs::is_directory(target, ec))
        mounter_.mount_tmpfs(target, "mode=0755,size=4k", MS_RDONLY);
    }
  }

  void make_devices() {
    const fs::path dev = inside("dev");
    mkdir(dev.c_str(), 0755);
    mounter_.mount_tmpfs(dev, "mode=0755,size=64k", MS_NOSUID | MS_NOEXEC);
    for (const char* name : {"null", "zero", "full", "random", "urandom", "tty"}) {
      mounter_.bind_device(fs::path("/dev") / name);
    }
    bind_gpus();
    mkdir((dev / "shm").c_str(), 0755);
    mounter_.mount_tmpfs(dev / "shm", "mode=1777", MS_NOSUID | MS_NODEV);
    mkdir((dev / "pts").c_str(), 0755);
    if (mount("devpts", (dev / "pts").c_str(), "devpts", MS_NOSUID | MS_NOEXEC,
              "newinstance,ptmxmode=0666,mode=0620") != 0) {
      notes_.push_back("no terminals: the kernel refused devpts");
    }
    fs::create_symlink("pts/ptmx", dev / "ptmx");
    fs::create_symlink("/proc/self/fd", dev / "fd");
    fs::create_symlink("/proc/self/fd/0", dev / "stdin");
    fs::create_symlink("/proc/self/fd/1", dev / "stdout");
    fs::create_symlink("/proc/self/fd/2", dev / "stderr");
  }

  void bind_gpus() {
    if (spec_.gpus.empty()) return;
    for (const int index : spec_.gpus) mounter_.bind_device("/dev/nvidia" + std::to_string(index));
    for (const char* name : {"nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset"}) {
      mounter_.bind_device(fs::path("/dev") / name);
    }
  }

  void make_proc() {
    const fs::path proc = inside("proc");
    mkdir(proc.c_str(), 0755);
    if (mount("proc", proc.c_str(), "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0) return;
    // Containers that cover parts of /proc may not mount a fresh one.
    const int reason = errno;
    mounter_.bind_read_only("/proc", proc);
    notes_.push_back(std::string("/proc shows the host's processes: the kernel refused a fresh ") +
                     "one (" + strerror(reason) + ")");
  }

  void make_own_directories() {
    const fs::path scratch_tmp = scratch_ / "tmp";
    mounter_.make_owned_directory(scratch_tmp, 01777);
    mkdir(inside("tmp").c_str(), 01777);
    mounter_.bind(scratch_tmp, inside("tmp"));
    std::error_code ec;
    if (fs::is_directory(inside("var/tmp"), ec)) {
      mounter_.make_owned_directory(scratch_ / "var_tmp", 01777);
      mounter_.bind(scratch_ / "var_tmp", inside("var/tmp"));
    }
    mkdir(inside("opt").c_str(), 0755);
    if (fs::is_directory("/opt", ec)) mounter_.bind_read_only("/opt", inside("opt"));
    mounter_.make_room(inside("opt"));
    base::make_directories(inside("opt/ml"));
    mounter_.give_to_program(inside("opt/ml"));
    mounter_.attach({init_program_, "/opt/meridian/bin/meridian-init", Mount::Mode::read_only});
    base::make_directories(inside("opt/meridian/gang"));
    if (!spec_.gang_directory.empty()) {
      mounter_.attach(
          {spec_.gang_directory / "members", "/opt/meridian/gang", Mount::Mode::read_only});
    }
  }

  void make_host_names() {
    std::string hosts = "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n";
    for (const Host& host : spec_.hosts) hosts += host.address + " " + host.name + "\n";
    base::write_file(scratch_ / "hosts", hosts);
    mounter_.attach({scratch_ / "hosts", "/etc/hosts", Mount::Mode::read_only});
    std::error_code ec;
    if (!spec_.hostname.empty() && fs::exists("/etc/hostname", ec)) {
      base::write_file(scratch_ / "hostname", spec_.hostname + "\n");
      mounter_.attach({scratch_ / "hostname", "/etc/hostname", Mount::Mode::read_only});
    }
  }

  // Libraries look their user up: it gets a line with a home and a shell that exist inside.
  void make_user() {
    const std::string id = std::to_string(program_user(spec_));
    std::string lines;
    for (const std::string& line : base::split(base::read_file_if_exists("/etc/passwd"), '\n')) {
      const auto fields = base::split(line, ':');
      if (line.empty() || (fields.size() > 2 && fields[2] == id)) continue;
      lines += line + "\n";
    }
    const std::string group = std::to_string(program_group(spec_));
    lines += "trainer:x:" + id + ":" + group + ":Meridian program:/tmp:/bin/sh\n";
    base::write_file(scratch_ / "passwd", lines);
    mounter_.attach({scratch_ / "passwd", "/etc/passwd", Mount::Mode::read_only});
  }

  const InstanceSpec& spec_;
  std::map<std::size_t, FileServer>& files_;
  const std::string init_program_;
  const fs::path scratch_, root_;
  Mounter mounter_;
  std::vector<std::string>& notes_;
};

}  // namespace

void enter_view(const View& view, std::vector<std::string>& notes) { Builder(view, notes).build(); }

std::uint32_t program_user(const InstanceSpec& spec) {
  return geteuid() == 0 && spec.user_id ? *spec.user_id : geteuid();
}

std::uint32_t program_group(const InstanceSpec& spec) {
  return geteuid() == 0 && spec.group_id ? *spec.group_id : getegid();
}

}  // namespace meridian::run
