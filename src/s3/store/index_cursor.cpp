// SPDX-License-Identifier: Apache-2.0
#include "s3/store/index_cursor.h"

#include <algorithm>

namespace meridian::s3 {
namespace {
constexpr std::size_t largest_chunk = 1001, chunk_after_jump = 16;
}

IndexCursor::IndexCursor(store::Store& index, std::string prefix, std::string start_after,
                         std::size_t first_chunk)
    : index_(index),
      prefix_(std::move(prefix)),
      start_after_(std::move(start_after)),
      chunk_(std::clamp<std::size_t>(first_chunk, 1, largest_chunk)) {}

const store::Document* IndexCursor::here() {
  while (!loaded_ || at_ == page_.documents.size()) {
    if (loaded_ && last_page_) return nullptr;
    if (loaded_) {
      start_after_ = page_.documents.back().key;
      chunk_ = std::min(chunk_ * 4, largest_chunk);
    }
    page_ = index_.list({.prefix = prefix_, .start_after = start_after_, .limit = chunk_});
    at_ = 0;
    loaded_ = true;
    last_page_ = page_.documents.size() < chunk_;
  }
  return &page_.documents[at_];
}

void IndexCursor::jump(const std::string& key) {
  while (loaded_ && at_ < page_.documents.size() && page_.documents[at_].key <= key) ++at_;
  if (loaded_ && (last_page_ || at_ < page_.documents.size())) return;
  start_after_ = key;
  chunk_ = chunk_after_jump;
  loaded_ = false;
  last_page_ = false;
}

}  // namespace meridian::s3
