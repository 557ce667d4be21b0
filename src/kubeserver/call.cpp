// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/call.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace meridian::kubeserver {
namespace {

// RFC 9111 §5.5: code 299, agent "-", the text as a quoted string.
std::string warning_text(std::string_view text) {
  std::string quoted;
  for (const char c : base::utf8_prefix(text, 2'000)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return fmt::format("299 - \"{}\"", quoted);
}

constexpr std::size_t kMostWarnings = 20;

}  // namespace

void send_json(net::Responder& responder, int status, const base::Json& value,
               const std::vector<std::string>& warnings) {
  net::Response response{.status = status, .body = base::to_text(value) + "\n"};
  response.headers.add("Content-Type", "application/json");
  response.headers.add("Cache-Control", "no-cache, private");
  for (std::size_t i = 0; i < warnings.size() && i < kMostWarnings; ++i) {
    response.headers.add("Warning", warning_text(warnings[i]));
  }
  responder.send(std::move(response));
}

void send_status(net::Responder& responder, const kube::StatusError& error) {
  net::Response response{.status = error.status(), .body = base::to_text(error.to_json()) + "\n"};
  response.headers.add("Content-Type", "application/json");
  response.headers.add("Cache-Control", "no-cache, private");
  if (error.details().retry_after_seconds > 0) {
    response.headers.add("Retry-After", std::to_string(error.details().retry_after_seconds));
  }
  if (error.status() == 401) response.headers.add("WWW-Authenticate", "Bearer");
  responder.send(std::move(response));
}

}  // namespace meridian::kubeserver
