// Puts on a disk that is full: in a child with a small file system of its own.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>

#include "s3/error.h"
#include "s3/store/test_store.h"

namespace meridian::s3 {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t disk_bytes = 4u << 20;

// False where unprivileged namespaces are not allowed.
bool mount_small_disk(const fs::path& directory) {
  const int flags = CLONE_NEWNS | (::geteuid() == 0 ? 0 : CLONE_NEWUSER);
  if (::unshare(flags) != 0) return false;
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  const auto options = "size=" + std::to_string(disk_bytes);
  return ::mount("tmpfs", directory.c_str(), "tmpfs", 0, options.c_str()) == 0;
}

std::size_t files_below(const fs::path& directory) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    count += entry.is_regular_file();
  return count;
}

struct Reopenable {
  explicit Reopenable(fs::path root) : directory(std::move(root)) {}
  std::unique_ptr<ObjectStore> open() {
    return std::make_unique<ObjectStore>(ObjectStoreSettings{.directory = directory, .region = "r"},
                                         clock, random);
  }
  fs::path directory;
  base::ManualClock clock;
  base::SeededRandom random{1};
};

// What the put threw; nothing when it went well.
std::optional<base::Code> put(ObjectStore& store, const std::string& key, std::size_t size) {
  try {
    store.put_bytes("data", key, std::string(size, 'x'));
    return std::nullopt;
  } catch (const base::Error& error) {
    std::cerr << error.what() << "\n";
    return error.code();
  }
}

std::string keys(ObjectStore& store) {
  std::string all;
  for (const auto& object : store.list_objects({.bucket = "data"}).objects) all += object.key + " ";
  return all;
}

// Ends the child with the number of the line that did not hold.
#define HOLDS(condition) \
  if (!(condition)) ::_exit(__LINE__ % 250 + 2)

[[noreturn]] void fill_the_disk(const fs::path& directory) {
  if (!mount_small_disk(directory)) ::_exit(1);
  Reopenable place(directory / "region");
  {
    const auto store = place.open();
    store->create_bucket({.name = "data", .account = "000000000000"});
    HOLDS(!put(*store, "before", 1000));
    HOLDS(put(*store, "large", disk_bytes) == base::Code::resource_exhausted);
    HOLDS(files_below(place.directory / "objects") == 1);
    HOLDS(keys(*store) == "before ");
    HOLDS(!put(*store, "after", 1000));

    // The larger one goes to the file that parts share, which stays; its room does not.
    for (const std::size_t size : {disk_bytes, disk_bytes + (2u << 20)}) {
      const auto upload = store->create_upload({.bucket = "data", .key = "parts"}, true);
      net::StringBody body(std::string(size, 'x'));
      bool refused = false;
      try {
        store->put_part({.bucket = "data", .key = "parts", .upload_id = upload.id, .number = 1},
                        body);
      } catch (const base::Error& error) {
        refused = error.code() == base::Code::resource_exhausted;
      }
      HOLDS(refused);
      HOLDS(!put(*store, "meanwhile", 1u << 20));
      store->remove("data", "meanwhile");
      store->abort_upload("data", "parts", upload.id);
      HOLDS(files_below(place.directory / "objects") == 2);
    }
  }
  const auto store = place.open();
  HOLDS(keys(*store) == "after before ");
  HOLDS(contents(*store, "data", "before") == std::string(1000, 'x'));
  ::_exit(0);
}

TEST(FullDisk, APutThatMeetsItIsRefusedAndLeavesNothing) {
  const base::TempDir directory("full-disk");
  const auto status_of = [](int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -1; };
  int result = -1;
  EXPECT_EXIT(
      fill_the_disk(directory.path()),
      [&](int status) {
        result = status_of(status);
        return true;
      },
      "");
  if (result == 1) GTEST_SKIP() << "no mount namespace may be made here";
  EXPECT_EQ(result, 0) << "the line of HOLDS, modulo 250, plus 2";
}

TEST(FullDisk, AnIndexThatIsFullLeavesNoContentBehind) {
  const base::TempDir directory("full-index");
  base::ManualClock clock;
  base::SeededRandom random{1};
  fs::create_directories(directory.path());
  ObjectStore store({.directory = directory.path(), .region = "r"},
                    store::open_sqlite({.path = (directory.path() / "s3.db").string(),
                                        .sync = store::SqliteSettings::Sync::process,
                                        .most_bytes = 256u << 10}),
                    clock, random);
  store.create_bucket({.name = "data", .account = "000000000000"});
  std::size_t stored = 0;
  std::optional<base::Code> refused;
  while (stored < 10'000 && !refused) {
    refused = put(store, "k" + std::to_string(stored) + std::string(500, 'k'), 1);
    stored += refused ? 0 : 1;
  }
  EXPECT_EQ(refused, base::Code::resource_exhausted);
  EXPECT_GT(stored, 10u);
  EXPECT_EQ(files_below(directory.path() / "objects"), stored);
}

TEST(FullDisk, ClientsAreToldWhatIsWrongAndNotWhere) {
  for (const int cause : {ENOSPC, EDQUOT, EROFS, EACCES, EMFILE}) {
    const auto error = to_s3_error(base::errno_error(cause, "writing /secret/place"));
    EXPECT_EQ(error.s3_code(), "ServiceUnavailable");
    EXPECT_EQ(error.status(), 503);
    EXPECT_NE(error.message().find(::strerror(cause)), std::string::npos) << error.message();
    EXPECT_EQ(error.message().find("/secret"), std::string::npos);
  }
}

}  // namespace
}  // namespace meridian::s3
