// HTTP client over libcurl: keep-alive, TLS, unix sockets, streaming both ways. Blocking.
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
  BodyReader* stream = nullptr;               // instead of `body`; needs length()
  std::string unix_socket;                    // connect here instead of to the URL's host
  std::string ca_file;                        // trust only this (PEM)
  std::chrono::milliseconds timeout{60'000};  // without progress
  std::chrono::milliseconds connect_timeout{5'000};
};

class HttpClient {
 public:
  HttpClient();
  ~HttpClient();

  // Any status is an answer. Error: unavailable (no connection, retryable), deadline_exceeded,
  // cancelled.
  Response send(const ClientRequest& request, std::stop_token stop = {});
  // Hands the body to `sink` piece by piece when the status is 2xx; otherwise collects it.
  Response send(const ClientRequest& request, const std::function<void(std::string_view)>& sink,
                std::stop_token stop = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meridian::net
