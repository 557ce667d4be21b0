// Server side TLS over OpenSSL: 1.2 and newer, HTTP/1.1 only.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

struct ssl_st;
struct ssl_ctx_st;

namespace meridian::net {

struct TlsDeleter {
  void operator()(ssl_st* session) const;
  void operator()(ssl_ctx_st* context) const;
};
using TlsSession = std::unique_ptr<ssl_st, TlsDeleter>;

// Certificate chain and key, read once. Thread-safe.
class TlsContext {
 public:
  // PEM files. Error(invalid_argument) names the file that cannot be used and why.
  TlsContext(const std::string& certificate_file, const std::string& key_file);
  TlsSession make_session(int fd) const;

 private:
  std::unique_ptr<ssl_ctx_st, TlsDeleter> context_;
};

// The newest entry of OpenSSL's error queue, as text; empties the queue.
std::string take_tls_error();

}  // namespace meridian::net
