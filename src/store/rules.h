// What every back end shares about writes and keys. Private to this folder.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "store/store.h"

namespace meridian::store {

inline constexpr std::size_t kMostWrites = 100'000;

// Error(invalid_argument) unless the commit keeps the rules of store.h.
void check_writes(const std::vector<Write>& writes);

// The first key after all that start with `prefix`; nothing when there is none.
std::optional<std::string> end_of_prefix(std::string_view prefix);

base::Error expired(std::string_view what, Revision wanted, Revision oldest);

// Fields ↔ bytes: length-prefixed, because values may hold anything.
std::string encode_fields(const IndexFields& fields);
IndexFields decode_fields(std::string_view bytes);  // Error(data_loss)

// A sequence of length-prefixed strings, as the encodings here use it.
void append_piece(std::string& out, std::string_view piece);
std::optional<std::string_view> take_piece(std::string_view& bytes);

}  // namespace meridian::store
