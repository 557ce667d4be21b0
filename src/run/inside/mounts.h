// The mount operations that build an instance's view below a root directory (run/inside/view.h).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "run/inside/file_server.h"
#include "run/inside/id_map.h"
#include "run/instance.h"

namespace meridian::run {

struct MounterSettings {
  std::filesystem::path scratch;  // the instance's writable directory on disk
  std::filesystem::path root;     // where the new root is built; below scratch
  Identity owner;                 // who the program runs as
  bool real_root = false;
};

class Mounter {
 public:
  Mounter(MounterSettings settings, std::vector<std::string>& notes);

  void make_private_root();  // an empty root that no bind of a parent directory repeats
  void enter_root();         // makes it / and lets go of the host's

  void bind(const std::filesystem::path& host, const std::filesystem::path& target);
  void bind_read_only(const std::filesystem::path& host, const std::filesystem::path& target);
  void bind_device(const std::filesystem::path& device);  // absent on the host: nothing happens
  void mount_tmpfs(const std::filesystem::path& target, const std::string& options,
                   unsigned long flags);
  // Covers a directory by a writable one with the same entries, so that more can be made in it.
  void make_room(const std::filesystem::path& directory);
  // A mount of the spec: id-mapped so that the program owns what it sees, where the kernel can.
  void attach(const Mount& mount);
  // A mount on demand.
  void attach(const Mount& mount, FileServer& server);

  void make_owned_directory(const std::filesystem::path& path, mode_t mode);
  void give_to_program(const std::filesystem::path& path);

 private:
  void make_mount_point(const std::filesystem::path& target, bool directory);
  void attach_tree(const std::filesystem::path& host, const std::filesystem::path& target);
  void attach_overlay(const Mount& mount, const std::filesystem::path& target);
  bool try_overlay(const std::filesystem::path& lower, const std::filesystem::path& target);
  void require_inside(const std::filesystem::path& target) const;
  const base::UniqueFd& mapping_from(Identity on_disk);
  void set_read_only(const std::filesystem::path& target);

  MounterSettings settings_;
  std::vector<std::string>& notes_;
  int overlays_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, base::UniqueFd> mappings_;
};

}  // namespace meridian::run
