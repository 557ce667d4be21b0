// SPDX-License-Identifier: Apache-2.0
#include "net/exchange.h"

#include <algorithm>
#include <exception>

#include "base/error.h"
#include "base/log.h"

namespace meridian::net {
namespace {

constexpr std::uint64_t kDrainLimit = 256 * 1024;

Request make_request(const Connection& connection, RequestHead& head, IncomingBody& body) {
  return {.method = head.method,
          .target = head.target,
          .path = head.path,
          .query = head.query,
          .headers = std::move(head.headers),
          .body = &body,
          .peer = connection.peer,
          .secure = connection.stream.secure()};
}

Response plain(int status, std::string text) {
  Response response{.status = status, .body = std::move(text)};
  response.headers.add("Content-Type", "text/plain; charset=utf-8");
  return response;
}

// The handler ended with an exception. Says whether the client got a whole answer all the same.
bool answer_failure(const RequestHead& head, const IncomingBody& body, Answer& answer,
                    const char* what) {
  if (answer.begun() || (body.failed() && body.failure_status() == 0)) {
    base::log_debug("request broken off",
                    {{"method", head.method}, {"path", head.path}, {"why", what}});
    return false;
  }
  if (body.failed()) {
    answer.send(plain(body.failure_status(), std::string(what) + "\n"));
    return true;
  }
  base::log_error("handler failed", {{"method", head.method}, {"path", head.path}, {"why", what}});
  answer.send(plain(500, "internal error\n"));
  return true;
}

// Runs the handler; says whether a whole answer went out.
bool answer_request(Request& request, const RequestHead& head, const IncomingBody& body,
                    Answer& answer, const Handler& handler) {
  std::string what;
  try {
    handler(request, answer);
    if (!answer.begun()) throw base::Error(base::Code::internal, "the handler gave no answer");
    answer.finish();
    return true;
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
    what = "an exception of unknown type";
  }
  try {
    return answer_failure(head, body, answer, what.c_str());
  } catch (const base::Error&) {
    return false;  // the client has left
  }
}

}  // namespace

Next run_exchange(Connection& connection, RequestHead head, const Handler& handler,
                  const ExchangeSettings& settings) {
  IncomingBody body(connection, head, settings.body_timeout, settings.min_body_rate);
  Answer answer(connection, head, body, settings.body_timeout, settings.stopping);
  Request request = make_request(connection, head, body);
  if (!answer_request(request, head, body, answer, handler)) return Next::close;
  const bool keep = answer.keeps_connection() && body.drain(kDrainLimit);
  return keep ? Next::keep : Next::linger;
}

std::string refusal_text(const Refusal& refusal) {
  const std::string body = refusal.message + "\n";
  std::string text = "HTTP/1.1 " + std::to_string(refusal.status) + " ";
  text += reason_phrase(refusal.status);
  text += "\r\nServer: meridian\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: " +
          std::to_string(body.size()) + "\r\nConnection: close\r\n";
  if (refusal.status == 503) text += "Retry-After: 1\r\n";
  return text + "\r\n" + body;
}

}  // namespace meridian::net
