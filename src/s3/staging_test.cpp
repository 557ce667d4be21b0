// SPDX-License-Identifier: Apache-2.0
#include "s3/staging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include "s3/fake_objects.h"
#include "s3/tree.h"

namespace meridian::s3 {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

std::vector<std::string> paths(const std::vector<ChannelObject>& channel) {
  std::vector<std::string> all;
  for (const auto& object : channel) all.push_back(object.relative_path);
  return all;
}

std::string message_of(const std::function<void()>& work, base::Code code) {
  try {
    work();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

// A store that is not on this machine: nothing can be linked.
class Remote final : public Objects {
 public:
  explicit Remote(Objects& inner) : inner_(inner) {}
  ObjectPage list(const std::string& b, const std::string& p, const std::string& a,
                  std::size_t n) override {
    return inner_.list(b, p, a, n);
  }
  std::optional<ObjectInfo> find(const std::string& b, const std::string& k) override {
    return inner_.find(b, k);
  }
  std::unique_ptr<net::BodyReader> open(const std::string& b, const std::string& k, std::uint64_t o,
                                        std::optional<std::uint64_t> n) override {
    ++opened;
    return inner_.open(b, k, o, n);
  }
  std::optional<std::filesystem::path> find_file(const std::string&, const std::string&) override {
    return std::nullopt;
  }
  void put_file(const std::string&, const std::string&, const std::filesystem::path&,
                std::stop_token) override {}
  void put_bytes(const std::string&, const std::string&, std::string_view) override {}
  void remove(const std::string&, const std::string&) override {}
  std::atomic<int> opened{0};

 private:
  Objects& inner_;
};

class Channel : public testing::Test {
 protected:
  void put(const std::string& key, const std::string& bytes = "x") {
    own_.store.put_bytes("data", key, bytes);
  }
  std::vector<ChannelObject> list(const std::string& uri) {
    return list_channel(own_.store, {.uri = uri});
  }
  StagedTree stage_all(const std::vector<ChannelObject>& channel,
                       Decompress decompress = Decompress::none) {
    return stage(own_.store, channel, target_, decompress, {}, {});
  }
  std::string staged(const std::string& path) { return base::read_file(target_ / path); }

  TestObjects own_;
  base::TempDir directory_{"staging"};
  std::filesystem::path target_ = directory_.path() / "train";
};

TEST_F(Channel, APathIsKeptBelowTheLastSlashOfThePrefix) {
  for (const char* key : {"set/train-1/a", "set/train-1/deep/b", "set/train-2", "set/other"})
    put(key);
  EXPECT_THAT(paths(list("s3://data/set/train")),
              UnorderedElementsAre("train-1/a", "train-1/deep/b", "train-2"));
  EXPECT_THAT(paths(list("s3://data/set/train-1/")), UnorderedElementsAre("a", "deep/b"));
  EXPECT_THAT(paths(list("s3://data/set/train-2")), ElementsAre("train-2"));
}

TEST_F(Channel, AFolderNamedWithoutItsSlashIsTheSameFolder) {
  for (const char* key : {"set/train/a", "set/train/deep/b", "set/train-2/c"}) put(key);
  EXPECT_THAT(paths(list("s3://data/set/train")), UnorderedElementsAre("a", "deep/b", "train-2/c"));
  EXPECT_THAT(paths(list("s3://data/set/train/")), UnorderedElementsAre("a", "deep/b"));
}

TEST_F(Channel, AFolderMarkerMakesNoFile) {
  put("data/", "");
  put("data/sub/", "");
  put("data/sub/a");
  EXPECT_THAT(paths(list("s3://data/data/")), ElementsAre("sub/a"));
  stage_all(list("s3://data/data"));
  EXPECT_TRUE(std::filesystem::is_directory(target_ / "sub"));
}

TEST_F(Channel, AnObjectWhereAFolderHasToBeMakesNoFile) {
  put("p/a", "hidden");
  put("p/a-b");
  put("p/a/b/c", "file");
  put("p/a/b", "hidden too");
  const auto tree = stage_all(list("s3://data/p/"));
  EXPECT_EQ(tree.files, 2u);
  EXPECT_EQ(staged("a/b/c"), "file");
}

TEST_F(Channel, NoKeyLeavesTheDirectory) {
  for (const char* key : {"p/../../etc/passwd", "p//abs", "p/./dot", "p/x/..", "p/a/../../../b"})
    put(key, key);
  stage_all(list("s3://data/p/"));
  std::vector<std::string> files;
  walk_tree(directory_.path(), [&](const TreeEntry& entry) {
    if (S_ISREG(entry.status.st_mode)) files.push_back(entry.path);
  });
  EXPECT_EQ(files.size(), 5u);
  for (const auto& file : files) EXPECT_THAT(file, testing::StartsWith("train/"));
}

TEST_F(Channel, AnEmptyPrefixIsAnErrorThatNamesIt) {
  EXPECT_THAT(message_of([&] { list("s3://data/nothing"); }, base::Code::not_found),
              HasSubstr("No S3 objects found under S3 URL \"s3://data/nothing\""));
  message_of([&] { list("s3://nobucket/x"); }, base::Code::not_found);
  message_of([&] { list("data/x"); }, base::Code::invalid_argument);
}

TEST_F(Channel, AManifestGivesItsKeysInItsOrder) {
  put("set/b", "bb");
  put("set/deep/a", "a");
  put("m.json", R"([{"prefix": "s3://data/set/"}, "deep/a", "b", "deep/a"])");
  const auto channel =
      list_channel(own_.store, {.uri = "s3://data/m.json", .type = DataType::manifest});
  EXPECT_THAT(paths(channel), ElementsAre("deep/a", "b", "deep/a"));
  EXPECT_EQ(channel[1].info.size, 2u);
}

TEST_F(Channel, ABadManifestIsRefusedWithItsReason) {
  const auto reason = [&](const std::string& text) {
    put("m.json", text);
    return message_of(
        [&] { list_channel(own_.store, {.uri = "s3://data/m.json", .type = DataType::manifest}); },
        base::Code::invalid_argument);
  };
  EXPECT_THAT(reason("["), HasSubstr("s3://data/m.json"));
  EXPECT_THAT(reason("{}"), HasSubstr("JSON array"));
  EXPECT_THAT(reason(R"(["a"])"), HasSubstr("prefix"));
  EXPECT_THAT(reason(R"([{"prefix": "file:///x"}])"), HasSubstr("not an S3 URI"));
  EXPECT_THAT(reason(R"([{"prefix": "s3://data/"}, 5])"), HasSubstr("element 1"));
  EXPECT_THAT(reason(R"([{"prefix": "s3://data/"}, "gone"])"), HasSubstr("s3://data/gone"));
}

TEST_F(Channel, ShardsAreDisjointAndTogetherEverything) {
  for (int i = 0; i < 10; ++i) put("p/" + std::to_string(i));
  std::vector<std::string> together;
  for (std::size_t host = 0; host < 3; ++host) {
    const auto mine = list_channel(
        own_.store, {.uri = "s3://data/p/", .distribution = Distribution::sharded}, host, 3);
    EXPECT_GE(mine.size(), 3u);
    for (const auto& path : paths(mine)) together.push_back(path);
  }
  EXPECT_THAT(together, testing::UnorderedElementsAreArray(paths(list("s3://data/p/"))));
}

TEST_F(Channel, TheSameSeedShufflesToTheSameOrderAndEachEpochToAnother) {
  for (int i = 0; i < 20; ++i) put("p/" + std::to_string(i));
  const auto order = [&](std::int64_t seed, int epoch) {
    return paths(
        list_channel(own_.store, {.uri = "s3://data/p/", .shuffle_seed = seed}, 0, 1, epoch));
  };
  EXPECT_EQ(order(1, 0), order(1, 0));
  EXPECT_NE(order(1, 0), order(2, 0));
  EXPECT_NE(order(1, 0), order(1, 1));
  EXPECT_THAT(order(1, 0), testing::UnorderedElementsAreArray(paths(list("s3://data/p/"))));
}

TEST_F(Channel, StagingFromTheLocalStoreLinksAndSaysSo) {
  put("p/a", "content");
  const auto channel = list("s3://data/p/");
  const auto tree = stage_all(channel);
  EXPECT_EQ(tree.files, 1u);
  EXPECT_EQ(tree.bytes, 7u);
  EXPECT_EQ(staged("a"), "content");
  struct stat file{}, object{};
  ASSERT_EQ(::stat((target_ / "a").c_str(), &file), 0);
  ASSERT_EQ(::stat(own_.store.find_file("data", "p/a")->c_str(), &object), 0);
  EXPECT_EQ(tree.shares_inodes, file.st_ino == object.st_ino);
  EXPECT_EQ(file.st_mode & 0777, 0644u);  // as on the original; the mount keeps the object safe
}

TEST_F(Channel, ARemoteObjectIsAFileOfItsOwn) {
  put("p/a", "content");
  Remote remote(own_.store);
  const auto tree = stage(remote, list("s3://data/p/"), target_, Decompress::none, {}, {});
  EXPECT_FALSE(tree.shares_inodes);
  base::write_file(target_ / "a", "overwritten by the program");
  EXPECT_EQ(contents(own_.store, "data", "p/a"), "content");
}

TEST_F(Channel, ALargeRemoteObjectComesInStretches) {
  const auto bytes = own_.random.bytes((64u << 20) + 12'345);
  put("p/big", bytes);
  Remote remote(own_.store);
  stage(remote, list("s3://data/p/"), target_, Decompress::none, {}, {});
  EXPECT_EQ(remote.opened, 3);
  EXPECT_TRUE(staged("big") == bytes);
}

TEST_F(Channel, AnObjectThatIsReplacedWhileItIsReadIsNotMixed) {
  put("p/big", std::string(40u << 20, 'a'));
  Remote remote(own_.store);
  const auto channel = list("s3://data/p/");
  put("p/big", std::string(40u << 20, 'b'));
  message_of([&] { stage(remote, channel, target_, Decompress::none, {}, {}); },
             base::Code::failed_precondition);
  EXPECT_FALSE(std::filesystem::exists(target_ / "big"));
}

// Gives a part and then loses its connection.
class Breaking final : public net::BodyReader {
 public:
  std::size_t read(char* buffer, std::size_t size) override {
    if (std::exchange(given_, true)) throw base::Error(base::Code::unavailable, "connection lost");
    std::fill_n(buffer, std::min<std::size_t>(size, 3), 'n');
    return 3;
  }
  std::optional<std::uint64_t> length() const override { return 7; }

 private:
  bool given_ = false;
};

class BreakingRemote final : public Objects {
 public:
  ObjectPage list(const std::string&, const std::string&, const std::string&,
                  std::size_t) override {
    return {};
  }
  std::optional<ObjectInfo> find(const std::string&, const std::string&) override { return {}; }
  std::unique_ptr<net::BodyReader> open(const std::string&, const std::string&, std::uint64_t,
                                        std::optional<std::uint64_t>) override {
    return std::make_unique<Breaking>();
  }
  std::optional<std::filesystem::path> find_file(const std::string&, const std::string&) override {
    return std::nullopt;
  }
  void put_file(const std::string&, const std::string&, const std::filesystem::path&,
                std::stop_token) override {}
  void put_bytes(const std::string&, const std::string&, std::string_view) override {}
  void remove(const std::string&, const std::string&) override {}
};

TEST_F(Channel, ADownloadThatFailsKeepsTheFileThatIsThere) {
  base::make_directories(target_);
  base::write_file(target_ / "a", "from before");
  BreakingRemote remote;
  const std::vector<ChannelObject> channel{{"data", {.key = "p/a", .size = 7}, "a"}};
  message_of([&] { stage(remote, channel, target_, Decompress::none, {}, {}); },
             base::Code::unavailable);
  EXPECT_EQ(staged("a"), "from before");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(target_), {}), 1);
}

TEST_F(Channel, ASecondCallCompletesTheFirst) {
  for (int i = 0; i < 5; ++i) put("p/" + std::to_string(i), std::to_string(i));
  Remote remote(own_.store);
  const auto channel = list("s3://data/p/");
  stage(remote, channel, target_, Decompress::none, {}, {});
  std::filesystem::remove(target_ / "3");
  const int before = remote.opened;
  const auto tree = stage(remote, channel, target_, Decompress::none, {}, {});
  EXPECT_EQ(tree.files, 5u);
  EXPECT_EQ(remote.opened - before, 1);
  EXPECT_EQ(staged("3"), "3");
}

std::string gzip(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 1, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(bytes.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST_F(Channel, GzipIsUnpackedMemberAfterMember) {
  put("p/a", gzip("one ") + gzip("two"));
  stage_all(list("s3://data/p/"), Decompress::gzip);
  EXPECT_EQ(staged("a"), "one two");
}

TEST_F(Channel, BrokenGzipIsAnErrorThatNamesTheObject) {
  const auto whole = gzip(std::string(1000, 'x'));
  for (const auto& bad : {whole.substr(0, whole.size() - 6), std::string("not gzip at all")}) {
    put("p/a", bad);
    EXPECT_THAT(message_of([&] { stage_all(list("s3://data/p/"), Decompress::gzip); },
                           base::Code::data_loss),
                HasSubstr("s3://data/p/a"));
    EXPECT_FALSE(std::filesystem::exists(target_ / "a"));
  }
}

TEST_F(Channel, ProgressEndsAtTheTotals) {
  for (int i = 0; i < 50; ++i) put("p/" + std::to_string(i), "12345");
  Progress last;
  stage(own_.store, list("s3://data/p/"), target_, Decompress::none,
        [&](const Progress& progress) { last = progress; }, {});
  EXPECT_EQ(last.files_done, 50u);
  EXPECT_EQ(last.files_total, 50u);
  EXPECT_EQ(last.bytes_done, 250u);
  EXPECT_EQ(last.bytes_total, 250u);
}

TEST_F(Channel, AStopEndsStaging) {
  put("p/a");
  std::stop_source stop;
  stop.request_stop();
  message_of([&] { stage(own_.store, list("s3://data/p/"), target_, {}, {}, stop.get_token()); },
             base::Code::cancelled);
}

TEST(Tree, NamesAreMadeSafe) {
  EXPECT_EQ(safe_relative_path("a/b"), "a/b");
  EXPECT_EQ(safe_relative_path("../a/./b//c"), "_../a/_./b/_/c");
  EXPECT_EQ(safe_relative_path(std::string("a\0b", 3)), "a_b");
  EXPECT_EQ(safe_relative_path(std::string(300, 'x')).size(), 255u);
  EXPECT_NE(safe_relative_path(std::string(300, 'x')), safe_relative_path(std::string(301, 'x')));
}

TEST(Tree, LinksAreJudgedByWhereTheyLead) {
  EXPECT_TRUE(link_stays_inside("a/b", "../c"));
  EXPECT_TRUE(link_stays_inside("a/b", "c/../../d"));
  EXPECT_FALSE(link_stays_inside("a/b", "../../c"));
  EXPECT_FALSE(link_stays_inside("a", "/etc/passwd"));
  EXPECT_FALSE(link_stays_inside("a", ""));
}

}  // namespace
}  // namespace meridian::s3
