// What a channel in FastFile mode shows: its objects as a tree of files whose bytes stay where the
// store keeps them until somebody reads.
//
// The daemon writes the tree down once, as an index: one JSON object per line,
//   {"path": "a/b.bin", "modified_ms": 0, "stretches": [["/…/objects/ab/abcd", 12, 0], …]}
// and the file server (file_server.h) of each instance reads it. Names and sizes are those of that
// moment; a stretch whose file is gone by the time it is read is an I/O error.
//
// Immutable once parsed: thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace meridian::run {

// Of an immutable file of this machine; one or several make up an object.
struct Stretch {
  std::filesystem::path file;
  std::uint64_t size = 0, offset = 0;
};

struct IndexedFile {
  std::string path;  // relative, without "." and ".."
  base::Timestamp modified{};
  std::vector<Stretch> stretches;
};

void write_file_index(const std::filesystem::path& index, const std::vector<IndexedFile>& files);

class FileTree {
 public:
  using Id = std::uint64_t;
  static constexpr Id kRoot = 1;

  struct Node {
    std::string name;
    Id parent = kRoot;
    bool directory = false;
    std::uint64_t size = 0;
    base::Timestamp modified{};  // of a directory: of the newest file in it
    std::vector<Stretch> stretches;
    std::vector<Id> children;  // by name
  };

  // Refuses paths that lead out, and a file where a folder has to be.
  static base::Result<FileTree> parse(std::string_view index);

  const Node* find(Id id) const;  // nullptr: no such node
  std::optional<Id> find_child(const Node& directory, std::string_view name) const;
  std::uint64_t file_count() const { return file_count_; }
  std::uint64_t byte_count() const { return byte_count_; }

 private:
  FileTree() : nodes_(2) {}
  Id add_directory(Id parent, std::string_view name);
  const Node* last_child(Id parent) const;
  std::optional<base::ParseError> add(IndexedFile file);
  std::optional<base::ParseError> finish();

  std::vector<Node> nodes_;  // by id; 0 is nobody
  std::uint64_t file_count_ = 0, byte_count_ = 0;
};

// The bytes of a file from `offset` on; fewer than asked for only at its end. Error(not_found) when
// a stretch is gone, Error(data_loss) when it is too short.
std::size_t read_stretches(const FileTree::Node& file, std::uint64_t offset, std::span<char> into);

}  // namespace meridian::run
