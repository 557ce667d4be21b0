// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace meridian::base {
namespace {

TEST(Error, TheTrailSaysWhatWasBeingDone) {
  try {
    while_doing("running job 'j'", [] {
      while_doing("staging channel 'train'",
                  [] { throw Error(Code::not_found, "no such bucket 'b'"); });
    });
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "no such bucket 'b' (while staging channel 'train') (while running job 'j')");
    EXPECT_EQ(error.message(), "no such bucket 'b'");
    EXPECT_EQ(error.trail().front(), "staging channel 'train'");
    EXPECT_EQ(error.code(), Code::not_found);
    EXPECT_FALSE(error.retryable());
  }
}

TEST(Error, WhileDoingPassesResultsThrough) {
  int x = 1;
  int& same = while_doing("adding", [&]() -> int& { return ++x; });
  EXPECT_EQ(&same, &x);
  EXPECT_EQ(x, 2);
}

TEST(Error, ErrnoHasACodeAndAText) {
  const Error missing = errno_error(ENOENT, "cannot open /x");
  EXPECT_EQ(missing.code(), Code::not_found);
  EXPECT_STREQ(missing.what(), "cannot open /x: No such file or directory");
  EXPECT_EQ(errno_error(ENOSPC, "").code(), Code::resource_exhausted);
  EXPECT_EQ(errno_error(EACCES, "").code(), Code::permission_denied);
  EXPECT_EQ(errno_error(EIO, "").code(), Code::internal);
  EXPECT_TRUE(errno_error(ECONNREFUSED, "").retryable());
  EXPECT_TRUE(errno_error(ENOSPC, "").retryable());
  EXPECT_FALSE(errno_error(EMFILE, "").retryable());
  EXPECT_FALSE(errno_error(ENOENT, "").retryable());
}

TEST(Error, EveryCodeHasAName) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(Code::internal); ++i) {
    names.emplace_back(name(static_cast<Code>(i)));
    EXPECT_FALSE(names.back().empty());
  }
  EXPECT_EQ(names.front(), "invalid argument");
  EXPECT_EQ(names.back(), "internal");
}

TEST(Result, HoldsAValueOrAnError) {
  Result<std::string> good = std::string("x");
  EXPECT_TRUE(good);
  EXPECT_EQ(good->size(), 1u);
  const Result<std::string> bad = ParseError{"no", 7};
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().text(), "at byte 7: no");
  EXPECT_EQ((ParseError{"no", 7, 2, 3}.text()), "line 2, column 3: no");
}

}  // namespace
}  // namespace meridian::base
