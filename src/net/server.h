// The HTTP/1.1 server of every face: idle connections wait in one poller, requests run in worker
// threads as plain blocking code.
//
//   HttpServer server({.listen = {"127.0.0.1", 8470}}, [](Request& q, Responder& r) {
//     r.send({.status = 200, .body = "hello\n"});
//   });
//   server.port();  // the port bound, also for port 0
//
// Promises:
//   1. A request with doubtful framing (two lengths, length with chunked, obs-fold, bad host,
//   header
//      past 32 KiB or 128 fields; the list is in http_parser.h) never reaches the handler: it is
//      answered 400, 417, 431, 501 or 505 and the connection closes. 503 when too many wait.
//   2. A slow or silent client costs a file descriptor and a few hundred bytes, not a thread. While
//      its body is read it holds a worker, and must be quicker than `min_body_rate` on average.
//   3. `Expect: 100-continue` is answered when the handler first reads the body, even an empty one.
//      A final status sent instead ends the connection: botocore 1.29 would take the next answer
//      for an old one and wait for ever.
//   4. A handler that throws answers 500 without details, or drops the connection once the head is
//      out. When its reading failed: 400 for broken framing, 408 for a client too slow.
//   5. stop() lets running handlers finish within the grace time, then breaks their connections. It
//      waits for them in any case; never call it from a handler.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/http.h"

namespace meridian::net {

// How a handler answers: once, either whole or as a stream.
class Responder {
 public:
  virtual ~Responder() = default;
  virtual void send(Response response) = 0;  // sets Content-Length; body dropped for HEAD
  // Starts a streamed answer: chunked unless headers hold Content-Length. Then write() until done.
  virtual void begin(int status, Headers headers) = 0;
  virtual void write(std::string_view bytes) = 0;
  // Sends `count` bytes of the file from `offset` by sendfile; after begin() with a Content-Length.
  virtual void send_file(int fd, std::uint64_t offset, std::uint64_t count) = 0;
  virtual bool begun() const = 0;
  // True once the peer has closed its end, or the server is stopping: long watches poll this.
  virtual bool peer_gone() const = 0;
};

using Handler = std::function<void(Request&, Responder&)>;

struct ListenAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  std::string unix_path;  // when set, a unix socket (mode 0600) instead
};

struct ServerSettings {
  ListenAddress listen;
  std::string tls_certificate_file, tls_key_file;  // PEM; both or neither
  std::size_t max_workers = 256;
  std::chrono::milliseconds header_timeout{10'000};
  std::chrono::milliseconds idle_timeout{75'000};
  std::chrono::milliseconds body_timeout{30'000};  // without a byte
  // Bytes a second that the waits for a request's body must bring, beyond the first body_timeout of
  // them. The handler's own time does not count. 0 = any.
  std::uint64_t min_body_rate = 4'096;
  std::chrono::milliseconds stop_grace{5'000};
  std::size_t max_connections = 20'000;  // more are closed at once
  std::size_t max_queue = 1'024;         // requests waiting for a worker; more get 503
};

class HttpServer {
 public:
  // Binds at once (Error names the address and says who might hold it) and serves until destroyed.
  HttpServer(ServerSettings settings, Handler handler);
  ~HttpServer();
  std::uint16_t port() const;
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meridian::net
