// SPDX-License-Identifier: Apache-2.0
#include "store/rules.h"

#include <fmt/format.h>

#include <set>

namespace meridian::store {

void check_writes(const std::vector<Write>& writes) {
  constexpr std::size_t most_key = 4096, most_body = 256u << 20;
  const auto refuse = [](std::string why) {
    throw base::Error(base::Code::invalid_argument, "cannot commit: " + std::move(why));
  };
  if (writes.size() > kMostWrites) {
    refuse(fmt::format("{} writes; at most {} are allowed", writes.size(), kMostWrites));
  }
  std::set<std::string_view> changed;
  for (const Write& write : writes) {
    if (write.key.empty() || write.key.size() > most_key) {
      refuse(fmt::format("a key of {} bytes; 1 to {} are allowed", write.key.size(), most_key));
    }
    if (write.body.size() > most_body) {
      refuse(fmt::format("a body of {} bytes; at most {}", write.body.size(), most_body));
    }
    if (write.kind != Write::Kind::check && !changed.insert(write.key).second) {
      refuse(fmt::format("key '{}' is written twice", write.key));
    }
  }
}

std::optional<std::string> end_of_prefix(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
  if (end.empty()) return std::nullopt;
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

base::Error expired(std::string_view what, Revision wanted, Revision oldest) {
  return base::Error(base::Code::failed_precondition,
                     fmt::format("expired: {} revision {}, but the change log goes back to {} "
                                 "only; list again",
                                 what, wanted, oldest));
}

void append_piece(std::string& out, std::string_view piece) {
  const auto size = static_cast<std::uint32_t>(piece.size());
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(size >> shift & 255);
  out += piece;
}

std::optional<std::string_view> take_piece(std::string_view& bytes) {
  if (bytes.size() < 4) return std::nullopt;
  std::uint32_t size = 0;
  for (int i = 3; i >= 0; --i) size = size << 8 | static_cast<unsigned char>(bytes[i]);
  if (bytes.size() - 4 < size) return std::nullopt;
  const std::string_view piece = bytes.substr(4, size);
  bytes.remove_prefix(4 + size);
  return piece;
}

std::string encode_fields(const IndexFields& fields) {
  std::string out;
  for (const auto& [name, value] : fields) {
    append_piece(out, name);
    append_piece(out, value);
  }
  return out;
}

IndexFields decode_fields(std::string_view bytes) {
  IndexFields fields;
  while (!bytes.empty()) {
    const auto name = take_piece(bytes);
    const auto value = name ? take_piece(bytes) : std::nullopt;
    if (!value) throw base::Error(base::Code::data_loss, "the indexed fields are damaged");
    fields.emplace_hint(fields.end(), *name, *value);
  }
  return fields;
}

}  // namespace meridian::store
