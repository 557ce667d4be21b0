// SPDX-License-Identifier: Apache-2.0
#include "s3/store/records.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace meridian::s3 {
namespace {

TEST(Keys, EscapingKeepsEveryKeyAndTheOrderOfBytes) {
  base::SeededRandom random(3);
  std::vector<std::string> keys{"", std::string(1, '\0'), "\1", "\1\1", "\2", "a", "a/", "a b"};
  for (int i = 0; i < 500; ++i) {
    auto bytes = random.bytes(1 + random.below(6));
    for (auto& c : bytes) c = static_cast<char>(c & 3);  // many of \0, \1, \2
    keys.push_back(bytes);
  }
  std::sort(keys.begin(), keys.end());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto escaped = escape_key(keys[i]);
    EXPECT_EQ(unescape_key(escaped), keys[i]);
    EXPECT_EQ(escaped.find('\0'), std::string::npos);
    if (i > 0 && keys[i - 1] != keys[i]) {
      EXPECT_LT(escape_key(keys[i - 1]), escaped);
    }
  }
}

TEST(Keys, LaterVersionsSortFirst) {
  EXPECT_LT(version_order(2), version_order(1));
  EXPECT_LT(version_order(std::uint64_t{1} << 60), version_order(5));
  EXPECT_EQ(sequence_of(version_order(123'456)), 123'456u);
}

TEST(Records, AnObjectSurvivesItsDocument) {
  const ObjectRecord record{.key = "k",
                            .size = 5,
                            .etag = "abc-2",
                            .modified = {1'700'000'000'123},
                            .pieces = {{"id1", 2, "sum1"}, {"id2", 3, ""}},
                            .multipart = true,
                            .version_id = "v1",
                            .order = version_order(9),
                            .metadata = {{"a", "ü"}},
                            .headers = {{"content-type", "text/plain"}},
                            .tags = {{"t", ""}},
                            .storage_class = "STANDARD_IA",
                            .checksum = Checksum{ChecksumKind::sha1, "x-2", true}};
  const auto read = object_of_body(to_body(record), "k");
  EXPECT_EQ(to_body(read), to_body(record));
  EXPECT_EQ(read.pieces[1].size, 3u);
  EXPECT_EQ(read.checksum->kind, ChecksumKind::sha1);
  EXPECT_TRUE(read.checksum->composite);
  EXPECT_EQ(read.metadata, record.metadata);
}

}  // namespace
}  // namespace meridian::s3
