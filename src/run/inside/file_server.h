// Channels in FastFile mode: a read-only file system whose objects are listed at once and read when
// a program reads them (Mount::Mode::on_demand, a FUSE file system of our own).
//
//   supervisor ── start_file_server ──▶ "meridian-files", one process per channel, reads the index
//       │                                          ▲ requests, over the opened /dev/fuse
//       └── PID 1 of the instance: mount_files on /opt/ml/input/data/CHANNEL, in its own namespace
//
//   1. It outlives the daemon and ends with the instance: its parent is the supervisor, the mount
//      is in no other namespace, so none is left behind.
//   2. What a program does to the channel is refused: EROFS.
//   3. The program cannot see or signal the server: it is outside the instance's PID namespace.
//
// The device has to be opened in the user namespace that mounts (the kernel's rule), so an ordinary
// user needs read and write permission on /dev/fuse, nothing else.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "base/file.h"
#include "run/inside/id_map.h"

namespace meridian::run {

// What the mounting process needs of a server. Every other process closes its copies: a descriptor
// kept outside the server would hide the server's death from those who read.
struct FileServer {
  pid_t process = 0;
  base::UniqueFd device;   // /dev/fuse
  base::UniqueFd mounted;  // closed by the last holder: the server begins
};

// Returns once the index is read. Everything shown belongs to `owner`. The process dies with the
// caller; exits 0 when the mount is gone.
FileServer start_file_server(const std::filesystem::path& index, Identity owner);
// Mounts what the server shows, and lets go of the descriptors.
void mount_files(FileServer& server, const std::filesystem::path& target, Identity owner);

// `meridian-init files-probe DIRECTORY`: mounts nothing's files there, in namespaces of its own,
// and says on standard output what refused (exit code 1).
int probe_files(const std::filesystem::path& directory);

}  // namespace meridian::run
