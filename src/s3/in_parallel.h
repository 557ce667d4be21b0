// The same work on many items, several at once.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace meridian::s3 {

// Calls work(0) … work(count - 1) on at most `threads` threads of its own (on this one alone where
// one is enough) and returns when all have ended. After the first exception no more begin; it comes
// out here.
void in_parallel(std::size_t count, std::size_t threads,
                 const std::function<void(std::size_t)>& work);

}  // namespace meridian::s3
