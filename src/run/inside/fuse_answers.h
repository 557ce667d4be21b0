// What the kernel asks a read-only file system through /dev/fuse, and what a FileTree answers.
//
// The tree never changes, so nothing is remembered between requests: opens are not sent to us
// (ENOSYS, where the kernel offers it), names, attributes and pages are cached by the kernel for as
// long as it likes. What a read-only file system cannot do is ENOSYS; the mount itself is
// read-only.
//
// Source: linux/fuse.h, protocol 7.23 and later.
// Thread-safe: any number of threads may answer.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "run/file_tree.h"
#include "run/inside/id_map.h"

namespace meridian::run {

class FuseAnswers {
 public:
  static constexpr std::size_t kRequestBytes = 64u << 10;  // no request is longer
  static constexpr std::size_t kMaxRead = 1u << 20;
  static constexpr std::size_t kReplyBytes = kMaxRead + 4096;

  // Everything in the tree belongs to `owner`.
  FuseAnswers(const FileTree& tree, Identity owner) : tree_(tree), owner_(owner) {}

  // The reply to one request, in `reply` (kReplyBytes of room), and its length; 0 when the request
  // wants none. A request that is too short for what it says is answered by EIO.
  std::size_t answer(std::span<const char> request, std::span<char> reply) const;

 private:
  struct Reply;
  struct Request;
  int dispatch(const Request& request, Reply& reply) const;
  int look_up(const Request& request, Reply& reply) const;
  int get_attributes(const Request& request, Reply& reply) const;
  int read(const Request& request, Reply& reply) const;
  int read_directory(const Request& request, Reply& reply, bool with_attributes) const;
  int get_statistics(Reply& reply) const;

  const FileTree& tree_;
  const Identity owner_;
};

}  // namespace meridian::run
