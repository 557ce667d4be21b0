// Archives of strangers: unpacked or refused, never anything outside the directory.
//
// LINK: s3
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "s3/staging.h"
#include "s3/tree.h"

using namespace meridian;

namespace {

// In memory: the search makes many thousand directories a second.
struct Room {
  Room() {
    std::string name =
        ::access("/dev/shm", W_OK) == 0 ? "/dev/shm/tar_fuzz-XXXXXX" : "/tmp/tar_fuzz-XXXXXX";
    if (!::mkdtemp(name.data())) std::abort();
    path = name;
    base::make_directories(path / "outer");
    base::write_file(path / "outer/victim", "safe");
  }
  ~Room() { base::remove_tree(path); }
  std::filesystem::path path;
};

void check_outside(const std::filesystem::path& outer) {
  int entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(outer)) {
    ++entries;
    if (entry.path().filename() != "victim" && entry.path().filename() != "out") std::abort();
  }
  struct stat status{};
  if (entries != 2 || ::lstat((outer / "victim").c_str(), &status) != 0) std::abort();
  if (!S_ISREG(status.st_mode) || status.st_nlink != 1 || status.st_size != 4) std::abort();
  if (base::read_file(outer / "victim") != "safe") std::abort();
}

void check_inside(const std::filesystem::path& out) {
  s3::walk_tree(out, [](const s3::TreeEntry& entry) {
    const auto mode = entry.status.st_mode;
    if (!S_ISREG(mode) && !S_ISDIR(mode) && !S_ISLNK(mode)) std::abort();
    if (!S_ISLNK(mode) && (mode & 07000) != 0) std::abort();
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Room room;
  const auto outer = room.path / "outer", out = outer / "out";
  net::StringBody body(std::string(reinterpret_cast<const char*>(data), size));
  try {
    s3::extract_archive(body, out);
  } catch (const base::Error& error) {
    if (error.code() == base::Code::internal) std::abort();
  }
  check_outside(outer);
  check_inside(out);
  base::remove_tree(out);
  return 0;
}
