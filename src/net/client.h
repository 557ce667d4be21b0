// HTTP client over libcurl: keep-alive, TLS, unix sockets, streaming both ways. Blocking.
//
// Framing headers (Content-Length, Transfer-Encoding) follow from the body and are ignored when
// given. No redirect is followed, no Expect is sent unless given. Proxies of the environment are
// used except for this machine. An upload ends early when an error status arrives before it is
// through.
//
// Thread-safe: connections are pooled per client object.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "net/http.h"

namespace meridian::net {

struct ClientRequest {
  std::string method = "GET";
  std::string url;  // http://host:port/raw-path?raw-query, sent as it is
  Headers headers;
  std::string body;
  BodyReader* stream = nullptr;               // instead of `body`; chunked without length()
  std::string unix_socket;                    // connect here instead of to the URL's host
  std::string ca_file;                        // trust only this (PEM); empty = the client's
  std::chrono::milliseconds timeout{60'000};  // without progress
  std::chrono::milliseconds connect_timeout{5'000};
  std::size_t max_body = 1u << 30;  // of an answer that is collected; Error(resource_exhausted)
  // As texts (PEM): trust only these authorities; show this certificate with its key.
  std::string ca_pem, certificate_pem, key_pem;
  enum class Verify { yes, no } verify = Verify::yes;  // no: any server certificate will do
};

class HttpClient {
 public:
  // Trusts what the file holds (PEM), or what the machine does.
  explicit HttpClient(std::string ca_file = "");
  ~HttpClient();

  // Any status is an answer. Error: unavailable (no connection or it broke, retryable),
  // deadline_exceeded (silent for `timeout`), cancelled (at once when `stop` is requested),
  // unauthenticated (the server's certificate), invalid_argument (URL, method or headers), and
  // whatever `stream` throws.
  Response send(const ClientRequest& request, std::stop_token stop = {});
  // Hands the body to `sink` piece by piece when the status is 2xx; otherwise collects it. What
  // `sink` throws ends the request and comes out here.
  Response send(const ClientRequest& request, const std::function<void(std::string_view)>& sink,
                std::stop_token stop = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meridian::net
