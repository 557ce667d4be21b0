// Randomness and ids, injected: a seeded source makes a whole run repeatable.
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <random>
#include <string>

namespace meridian::base {

class Random {
 public:
  virtual ~Random() = default;
  virtual std::string bytes(std::size_t count) = 0;

  std::uint64_t below(std::uint64_t bound);  // uniform in [0, bound); bound > 0
  std::string hex(std::size_t digits);
  std::string uuid();                                  // RFC 9562 version 4
  std::string alphanumeric_upper(std::size_t length);  // A-Z, 2-7: access key ids
};

// The kernel's generator: keys, tokens, ids.
class SystemRandom final : public Random {
 public:
  std::string bytes(std::size_t count) override;
};

// Repeatable; never for secrets.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : engine_(seed) {}
  std::string bytes(std::size_t count) override;

 private:
  std::mutex mutex_;
  std::mt19937_64 engine_;
};

}  // namespace meridian::base
