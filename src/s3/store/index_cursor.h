// Walks the documents below a prefix in key order, a chunk at a time, and can jump ahead.
//
// Chunks start small after a jump and grow: a listing with a delimiter jumps once per common prefix
// and must not read a thousand documents each time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "store/store.h"

namespace meridian::s3 {

class IndexCursor {
 public:
  // `prefix` and `start_after` are whole document keys; start_after may be empty.
  IndexCursor(store::Store& index, std::string prefix, std::string start_after,
              std::size_t first_chunk);
  // The document here, or nullptr at the end. Valid until next() or jump().
  const store::Document* here();
  void next() { ++at_; }
  // On to the first document greater than `key`.
  void jump(const std::string& key);

 private:
  store::Store& index_;
  std::string prefix_, start_after_;
  std::size_t chunk_;
  store::Page page_;
  std::size_t at_ = 0;
  bool last_page_ = false, loaded_ = false;
};

}  // namespace meridian::s3
