// SPDX-License-Identifier: Apache-2.0
#include "run/file_tree.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/json.h"
#include "base/strings.h"

namespace meridian::run {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

base::Result<std::vector<Stretch>> parse_stretches(const Json* value) {
  std::vector<Stretch> stretches;
  if (value == nullptr || !value->is_array()) return base::ParseError{"no list of stretches"};
  for (const Json& each : value->as_array()) {
    const JsonArray* words = each.if_array();
    const auto number = [&](std::size_t at) {
      const std::int64_t* value = (*words)[at].if_int64();
      return value != nullptr ? *value : -1;
    };
    if (words == nullptr || words->size() != 3 || !(*words)[0].is_string() || number(1) < 0 ||
        number(2) < 0) {
      return base::ParseError{"a stretch is [file, size, offset]"};
    }
    stretches.push_back({std::filesystem::path(base::view((*words)[0].as_string())),
                         static_cast<std::uint64_t>(number(1)),
                         static_cast<std::uint64_t>(number(2))});
  }
  return stretches;
}

base::Result<IndexedFile> parse_line(std::string_view line) {
  auto json = base::parse_json(line);
  if (!json) return json.error();
  auto stretches = parse_stretches(base::find(*json, "stretches"));
  if (!stretches) return stretches.error();
  return IndexedFile{
      base::string_or(*json, "path"), {base::int_or(*json, "modified_ms", 0)}, *stretches};
}

}  // namespace

void write_file_index(const std::filesystem::path& index, const std::vector<IndexedFile>& files) {
  std::string text;
  for (const IndexedFile& file : files) {
    JsonArray stretches;
    for (const Stretch& each : file.stretches) {
      stretches.push_back(JsonArray{each.file.string(), each.size, each.offset});
    }
    text += base::to_text(JsonObject{{"path", file.path},
                                     {"modified_ms", file.modified.ms},
                                     {"stretches", std::move(stretches)}});
    text += '\n';
  }
  base::write_file(index, text, base::Durability::none, 0600);
}

base::Result<FileTree> FileTree::parse(std::string_view index) {
  FileTree tree;
  tree.nodes_[kRoot].directory = true;
  std::vector<IndexedFile> files;
  int number = 0;
  for (std::size_t begin = 0; begin < index.size();) {
    const std::size_t end = std::min(index.find('\n', begin), index.size());
    ++number;
    auto file = parse_line(index.substr(begin, end - begin));
    if (!file) return base::ParseError{file.error().message, begin, number, 1};
    files.push_back(std::move(*file));
    begin = end + 1;
  }
  // In order of paths, what a directory holds is added together.
  std::ranges::stable_sort(files, {}, &IndexedFile::path);
  for (IndexedFile& file : files) {
    if (auto error = tree.add(std::move(file))) return std::move(*error);
  }
  if (auto error = tree.finish()) return std::move(*error);
  return tree;
}

// Paths come in order, so what a directory holds comes together: the directory is the last one
// that was added to its parent, or a new one.
FileTree::Id FileTree::add_directory(Id parent, std::string_view name) {
  if (const Node* last = last_child(parent); last && last->directory && last->name == name) {
    return nodes_[parent].children.back();
  }
  nodes_.push_back({.name = std::string(name), .parent = parent, .directory = true});
  nodes_[parent].children.push_back(nodes_.size() - 1);
  return nodes_.size() - 1;
}

const FileTree::Node* FileTree::last_child(Id parent) const {
  const auto& children = nodes_[parent].children;
  return children.empty() ? nullptr : &nodes_[children.back()];
}

std::optional<base::ParseError> FileTree::add(IndexedFile file) {
  Id at = kRoot;
  const auto components = base::split(file.path, '/');
  for (std::size_t i = 0; i < components.size(); ++i) {
    const std::string& name = components[i];
    if (name.empty() || name == "." || name == ".." || name.size() > 255 ||
        name.find('\0') != std::string::npos) {
      return base::ParseError{"'" + file.path + "' is not a relative path"};
    }
    if (i + 1 == components.size()) break;
    at = add_directory(at, name);
  }
  // Two objects whose keys make the same name: the first one is shown.
  if (const Node* last = last_child(at); last && last->name == components.back()) {
    return std::nullopt;
  }
  Node node{.name = components.back(), .parent = at, .modified = file.modified};
  for (const Stretch& each : file.stretches) node.size += each.size;
  node.stretches = std::move(file.stretches);
  ++file_count_;
  byte_count_ += node.size;
  for (Id up = at;; up = nodes_[up].parent) {
    nodes_[up].modified = std::max(nodes_[up].modified, node.modified);
    if (up == kRoot) break;
  }
  nodes_.push_back(std::move(node));
  nodes_[at].children.push_back(nodes_.size() - 1);
  return std::nullopt;
}

std::optional<base::ParseError> FileTree::finish() {
  const auto name_of = [this](Id id) { return std::string_view(nodes_[id].name); };
  for (Node& node : nodes_) {
    std::ranges::sort(node.children, {}, name_of);
    const auto twice = std::ranges::adjacent_find(node.children, {}, name_of);
    if (twice == node.children.end()) continue;
    return base::ParseError{"'" + std::string(name_of(*twice)) + "' is a file and a directory"};
  }
  return std::nullopt;
}

const FileTree::Node* FileTree::find(Id id) const {
  return id >= kRoot && id < nodes_.size() ? &nodes_[id] : nullptr;
}

std::optional<FileTree::Id> FileTree::find_child(const Node& directory,
                                                 std::string_view name) const {
  const auto name_of = [this](Id id) { return std::string_view(nodes_[id].name); };
  const auto it = std::ranges::lower_bound(directory.children, name, {}, name_of);
  if (it == directory.children.end() || name_of(*it) != name) return std::nullopt;
  return *it;
}

std::size_t read_stretches(const FileTree::Node& file, std::uint64_t offset, std::span<char> into) {
  std::size_t done = 0;
  for (const Stretch& stretch : file.stretches) {
    if (offset >= stretch.size) {
      offset -= stretch.size;
      continue;
    }
    if (done == into.size()) break;
    const std::size_t wanted = std::min<std::uint64_t>(into.size() - done, stretch.size - offset);
    const base::UniqueFd fd(open(stretch.file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) throw base::errno_error(errno, file.name + ": " + stretch.file.string());
    std::size_t got = 0;
    while (got < wanted) {
      const ssize_t n = pread(fd.get(), into.data() + done + got, wanted - got,
                              static_cast<off_t>(stretch.offset + offset + got));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      got += static_cast<std::size_t>(n);
    }
    if (got < wanted) {
      throw base::Error(base::Code::data_loss,
                        file.name + ": " + stretch.file.string() + " is too short");
    }
    done += wanted;
    offset = 0;
  }
  return done;
}

}  // namespace meridian::run
