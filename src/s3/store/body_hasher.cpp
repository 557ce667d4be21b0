// SPDX-License-Identifier: Apache-2.0
#include "s3/store/body_hasher.h"

#include <list>
#include <thread>

#include "base/strings.h"
#include "base/sync.h"

namespace meridian::s3 {
namespace {

// Reading and writing run ahead of the hash by this much, so that the file is synced while its end
// is still being hashed. Memory of each large body that is being received.
constexpr std::size_t buffers_in_flight = 16;

struct Piece {
  std::string bytes;
  bool hashed = false, written = false;
};

struct Ring {
  std::list<Piece> pieces;      // oldest first; the front is hashed next
  std::list<std::string> idle;  // buffers to use again
  std::size_t made = 0, added = 0;
  bool closed = false;
};

}  // namespace

struct BodyHasher::State {
  State(std::optional<ChecksumKind> kind, std::size_t bytes) : buffer_bytes(bytes) {
    if (kind) checksum.emplace(*kind);
  }

  void hash(std::string_view bytes) {
    md5.update(bytes);
    if (checksum) checksum->update(bytes);
  }

  void run();
  void retire(Ring& ring);

  std::size_t buffer_bytes;
  base::Digest md5{base::DigestKind::md5};
  std::optional<RunningChecksum> checksum;
  base::Sync<Ring> ring;
  std::jthread thread;
};

// Gives buffers back that are both hashed and written.
void BodyHasher::State::retire(Ring& r) {
  while (!r.pieces.empty() && r.pieces.front().hashed && r.pieces.front().written) {
    r.idle.push_back(std::move(r.pieces.front().bytes));
    r.pieces.pop_front();
  }
}

void BodyHasher::State::run() {
  while (true) {
    Piece* next = nullptr;
    {
      auto guard = ring.lock();
      auto find = [&](Ring& r) {
        next = nullptr;
        for (auto& piece : r.pieces) {
          if (piece.hashed) continue;
          next = &piece;
          break;
        }
        return next != nullptr || r.closed;
      };
      guard.wait({}, find);
      if (!next) return;
    }
    hash(next->bytes);  // list nodes stay where they are; nobody writes to these bytes
    auto guard = ring.lock();
    next->hashed = true;
    retire(*guard);
    ring.notify_all();
  }
}

BodyHasher::BodyHasher(std::optional<ChecksumKind> checksum, std::size_t buffer_bytes)
    : state_(std::make_unique<State>(checksum, buffer_bytes)) {}

BodyHasher::~BodyHasher() {
  state_->ring.lock()->closed = true;
  state_->ring.notify_all();
}

std::string BodyHasher::take_buffer() {
  std::string buffer;
  {
    auto guard = state_->ring.lock();
    guard.wait({}, [](Ring& r) { return !r.idle.empty() || r.made < buffers_in_flight; });
    if (guard->idle.empty()) {
      ++guard->made;
    } else {
      buffer = std::move(guard->idle.front());
      guard->idle.pop_front();
    }
  }
  buffer.resize(state_->buffer_bytes);
  return buffer;
}

std::string_view BodyHasher::add(std::string buffer) {
  auto guard = state_->ring.lock();
  const bool several = guard->added++ > 0;
  if (several && !state_->thread.joinable())
    state_->thread = std::jthread([s = state_.get()] { s->run(); });
  guard->pieces.push_back({.bytes = std::move(buffer)});
  state_->ring.notify_all();
  return guard->pieces.back().bytes;
}

void BodyHasher::written() {
  auto guard = state_->ring.lock();
  guard->pieces.back().written = true;
  state_->retire(*guard);
  state_->ring.notify_all();
}

BodyHasher::Sums BodyHasher::finish() {
  state_->ring.lock()->closed = true;
  if (state_->thread.joinable()) {
    state_->ring.notify_all();
    state_->thread.join();
  } else {
    state_->run();
  }
  Sums sums{base::hex(state_->md5.finish()), std::nullopt};
  if (state_->checksum) sums.checksum = state_->checksum->finish();
  return sums;
}

}  // namespace meridian::s3
