// SPDX-License-Identifier: Apache-2.0
#include "run/file_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace meridian::run {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class FileTrees : public testing::Test {
 protected:
  Stretch stretch(const std::string& name, std::string_view bytes) {
    base::write_file(work_.path() / name, bytes);
    return {work_.path() / name, bytes.size()};
  }
  FileTree tree(const std::vector<IndexedFile>& files) {
    write_file_index(work_.path() / "index", files);
    auto tree = FileTree::parse(base::read_file(work_.path() / "index"));
    if (!tree) throw std::runtime_error(tree.error().text());
    return std::move(*tree);
  }
  static std::vector<std::string> names(const FileTree& tree, FileTree::Id id) {
    std::vector<std::string> names;
    for (const auto child : tree.find(id)->children) names.push_back(tree.find(child)->name);
    return names;
  }
  static std::string read(const FileTree::Node& file, std::uint64_t offset, std::size_t count) {
    std::string bytes(count, '\0');
    bytes.resize(read_stretches(file, offset, bytes));
    return bytes;
  }

  base::TempDir work_;
};

TEST_F(FileTrees, PathsBecomeDirectoriesInOrderOfNames) {
  const auto t = tree({{"b/2", {5}, {}}, {"a-b/x", {3}, {}}, {"b/1", {9}, {}}, {"a", {1}, {}}});
  EXPECT_THAT(names(t, FileTree::kRoot), ElementsAre("a", "a-b", "b"));
  const auto b = t.find_child(*t.find(FileTree::kRoot), "b");
  ASSERT_TRUE(b.has_value());
  EXPECT_TRUE(t.find(*b)->directory);
  EXPECT_THAT(names(t, *b), ElementsAre("1", "2"));
  EXPECT_EQ(t.find(*b)->modified.ms, 9);
  EXPECT_EQ(t.find_child(*t.find(*b), "3"), std::nullopt);
  EXPECT_EQ(t.file_count(), 4u);
}

TEST_F(FileTrees, AnUnknownNodeIsNone) {
  const auto t = tree({{"a", {}, {}}});
  EXPECT_EQ(t.find(0), nullptr);
  EXPECT_EQ(t.find(3), nullptr);
}

TEST_F(FileTrees, AFileIsReadAcrossItsStretches) {
  const auto t = tree({{"f", {}, {stretch("1", "abc"), stretch("2", ""), stretch("3", "defgh")}}});
  const auto& file = *t.find(*t.find_child(*t.find(FileTree::kRoot), "f"));
  EXPECT_EQ(file.size, 8u);
  EXPECT_EQ(t.byte_count(), 8u);
  EXPECT_EQ(read(file, 0, 100), "abcdefgh");
  EXPECT_EQ(read(file, 2, 3), "cde");
  EXPECT_EQ(read(file, 3, 2), "de");
  EXPECT_EQ(read(file, 7, 5), "h");
  EXPECT_EQ(read(file, 8, 5), "");
}

TEST_F(FileTrees, AStretchMayBeginInsideItsFile) {
  Stretch first = stretch("1", "..abc.."), second = first;
  first.offset = 2;
  first.size = 2;
  second.offset = 4;
  second.size = 1;
  const auto t = tree({{"f", {}, {first, second}}});
  const auto& file = *t.find(*t.find_child(*t.find(FileTree::kRoot), "f"));
  EXPECT_EQ(read(file, 0, 100), "abc");
  EXPECT_EQ(read(file, 1, 2), "bc");
}

TEST_F(FileTrees, AnObjectThatIsGoneIsAnErrorNotEmptyBytes) {
  const auto t = tree({{"gone", {}, {stretch("1", "abc")}}, {"short", {}, {stretch("2", "abc")}}});
  std::filesystem::remove(work_.path() / "1");
  base::write_file(work_.path() / "2", "a");
  const auto& root = *t.find(FileTree::kRoot);
  EXPECT_THROW(read(*t.find(*t.find_child(root, "gone")), 0, 3), base::Error);
  EXPECT_THROW(read(*t.find(*t.find_child(root, "short")), 0, 3), base::Error);
}

TEST_F(FileTrees, TwoObjectsOfOneNameShowTheFirst) {
  const auto t = tree({{"a", {}, {stretch("1", "one")}}, {"a", {}, {stretch("2", "two!")}}});
  EXPECT_THAT(names(t, FileTree::kRoot), ElementsAre("a"));
}

TEST_F(FileTrees, PathsThatLeadOutAreRefused) {
  for (const char* path : {"", "/a", "a//b", "../a", "a/..", "a/./b", "a/"}) {
    write_file_index(work_.path() / "index", {{path, {}, {}}});
    EXPECT_FALSE(FileTree::parse(base::read_file(work_.path() / "index")).ok()) << path;
  }
}

TEST_F(FileTrees, AFileWhereAFolderHasToBeIsRefused) {
  write_file_index(work_.path() / "index", {{"a", {}, {}}, {"a-b", {}, {}}, {"a/b", {}, {}}});
  const auto t = FileTree::parse(base::read_file(work_.path() / "index"));
  ASSERT_FALSE(t.ok());
  EXPECT_THAT(t.error().text(), HasSubstr("'a'"));
}

TEST_F(FileTrees, OtherTextIsRefusedWithItsLine) {
  const auto t = FileTree::parse("{\"path\":\"a\",\"stretches\":[]}\n{\"path\":\"b\"}\n");
  ASSERT_FALSE(t.ok());
  EXPECT_EQ(t.error().line, 2);
  EXPECT_FALSE(FileTree::parse("nonsense").ok());
}

}  // namespace
}  // namespace meridian::run
