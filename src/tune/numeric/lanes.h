// Four doubles at a time, as wide as the machine allows: the order of operations is written out,
// and no multiplication is fused with an addition, so that the results have the same bits
// everywhere.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

namespace meridian::tune {

using Four = double __attribute__((vector_size(32)));
using FourBits = std::int64_t __attribute__((vector_size(32)));

}  // namespace meridian::tune

// A function compiled for AVX2 too, chosen when the program starts. Not under sanitizers, whose
// runtime is not there yet at that moment.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__clang__)
#define MERIDIAN_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define MERIDIAN_WIDE
#endif
#define MERIDIAN_INLINE inline __attribute__((always_inline))
