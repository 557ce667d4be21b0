// SPDX-License-Identifier: Apache-2.0
#include "kube/client/watch_stream.h"

#include <gtest/gtest.h>

namespace meridian::kube {
namespace {

using Type = WatchEvent::Type;

TEST(WatchStream, EventsMayComeInAnyPieces) {
  const std::string bytes = R"({"type":"ADDED","object":{"metadata":{"name":"a"}}}
{"type":"MODIFIED","object":{"metadata":{"name":"b"}}}

{"type":"DELETED","object":{"metadata":{"name":"c"}}}
{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}
)";
  for (std::size_t piece = 1; piece <= bytes.size(); piece += 7) {
    WatchStream stream;
    std::vector<WatchEvent> events;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      for (auto& event : stream.feed(std::string_view(bytes).substr(at, piece))) {
        events.push_back(std::move(event));
      }
    }
    ASSERT_EQ(events.size(), 4u) << piece;
    EXPECT_EQ(events[0].type, Type::added);
    EXPECT_EQ(events[1].type, Type::modified);
    EXPECT_EQ(events[2].type, Type::deleted);
    EXPECT_EQ(name_of(events[2].object), "c");
    EXPECT_EQ(events[3].type, Type::bookmark);
  }
}

TEST(WatchStream, AnErrorEventIsThrownAsItsStatus) {
  WatchStream stream;
  try {
    stream.feed(R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}})");
    stream.feed("\n");
    FAIL() << "nothing was thrown";
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status(), 410);
  }
}

TEST(WatchStream, WhatIsNoEventEndsTheWatch) {
  for (const char* line : {"{", "5", R"({"type":"ADDED"})", R"({"type":"NEW","object":{}})",
                           R"({"type":"ERROR","object":{}})"}) {
    WatchStream stream;
    EXPECT_THROW(stream.feed(std::string(line) + "\n"), base::Error) << line;
  }
  WatchStream endless;
  const std::string piece(1 << 20, ' ');
  EXPECT_THROW(
      {
        for (int i = 0; i < 32; ++i) endless.feed(piece);
      },
      base::Error);
}

}  // namespace
}  // namespace meridian::kube
