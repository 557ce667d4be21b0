// One request and its answer on a connection: what the handler reads from and writes to.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include "net/connection.h"
#include "net/server.h"

namespace meridian::net {

// The request's body, straight from the connection. Large reads land in the caller's buffer.
class IncomingBody final : public BodyReader {
 public:
  // `min_rate`: bytes a second; see ServerSettings.
  IncomingBody(Connection& connection, const RequestHead& head, std::chrono::milliseconds timeout,
               std::uint64_t min_rate);

  std::size_t read(char* buffer, std::size_t size) override;
  std::optional<std::uint64_t> length() const override;

  bool finished() const { return finished_; }
  // The client still waits for permission to send the body.
  bool awaits_permission() const { return awaits_permission_; }
  // Whether the rest is certainly more than `limit` bytes.
  bool surely_longer_than(std::uint64_t limit) const;
  // Reads and forgets up to `limit` bytes; says whether the body is finished then.
  bool drain(std::uint64_t limit);
  // The status to answer when reading failed: 400, 408; 0 when it did not or nobody would hear it.
  int failure_status() const { return failure_status_; }
  bool failed() const { return failure_.has_value(); }

 private:
  std::size_t receive(char* buffer, std::size_t size);
  std::size_t read_chunked(char* buffer, std::size_t size);
  void refill_inbox();
  std::size_t wait_and_read(char* buffer, std::size_t size);
  [[noreturn]] void fail(base::Error error, int status);

  Connection& connection_;
  const RequestHead& head_;
  const std::chrono::milliseconds timeout_;
  const std::uint64_t min_rate_;
  std::chrono::steady_clock::duration waited_{};  // for bytes from the peer
  std::uint64_t received_ = 0;                    // by those waits
  std::uint64_t left_;
  ChunkDecoder chunks_;
  bool finished_;
  bool awaits_permission_;
  std::optional<base::Error> failure_;
  int failure_status_ = 0;
};

// The answer, straight to the connection.
class Answer final : public Responder {
 public:
  Answer(Connection& connection, const RequestHead& head, const IncomingBody& body,
         std::chrono::milliseconds timeout, const std::atomic<bool>& stopping);

  void send(Response response) override;
  void begin(int status, Headers headers) override;
  void write(std::string_view bytes) override;
  void send_file(int fd, std::uint64_t offset, std::uint64_t count) override;
  bool begun() const override { return begun_; }
  bool peer_gone() const override;

  // After the handler: the last chunk. Error(internal) when less was written than announced.
  void finish();
  // Whether the connection may carry another request; final once begun.
  bool keeps_connection() const { return keep_; }
  void give_up_connection() { keep_ = false; }

 private:
  enum class Framing { none, length, chunked, until_close };

  void check_not_begun() const;
  std::string head_text(int status, const Headers& headers, std::optional<std::uint64_t> length);
  void decide_keeping(const Headers& headers);
  void count(std::uint64_t bytes);
  void write_with_head(std::string_view before, std::string_view bytes, std::string_view after);

  Connection& connection_;
  const RequestHead& request_;
  const IncomingBody& body_;
  const std::chrono::milliseconds timeout_;
  const std::atomic<bool>& stopping_;
  const bool is_head_;
  Framing framing_ = Framing::none;
  std::uint64_t left_ = 0;   // of an announced length
  std::string unsent_head_;  // goes out with the first bytes of the body
  bool begun_ = false;
  bool keep_;
};

// What becomes of the connection: the next request, the end now, or the end once the client has
// read the answer (bytes of it may still come in; closing at once would reset the connection and
// with it the answer).
enum class Next { keep, close, linger };

struct ExchangeSettings {
  std::chrono::milliseconds body_timeout;
  std::uint64_t min_body_rate;
  const std::atomic<bool>& stopping;
};

// Runs the handler for the request whose head was just taken from the connection's inbox.
Next run_exchange(Connection& connection, RequestHead head, const Handler& handler,
                  const ExchangeSettings& settings);

// A whole small answer that says the connection closes, for requests no handler sees.
std::string refusal_text(const Refusal& refusal);

}  // namespace meridian::net
