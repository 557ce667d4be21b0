// SPDX-License-Identifier: Apache-2.0
#include "aws/client.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/json.h"
#include "base/strings.h"
#include "net/client.h"

namespace meridian::aws {
namespace {

using base::Json;

// Waits unless told to stop.
void wait_before_retry(int attempt, std::stop_token stop) {
  const auto pause = std::min(std::chrono::milliseconds(50) * (1 << std::min(attempt - 1, 6)),
                              std::chrono::milliseconds(2000));
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait_for(lock, stop, pause, [] { return false; });
  if (stop.stop_requested()) throw base::Error(base::Code::cancelled, "stopped");
}

// "aws.protocols#ValidationException:http://…" → "ValidationException".
std::string plain_code(std::string text) {
  if (const auto hash = text.find('#'); hash != std::string::npos) text.erase(0, hash + 1);
  if (const auto colon = text.find(':'); colon != std::string::npos) text.erase(colon);
  return text;
}

ApiError error_of(const net::Response& response) {
  std::string code = response.headers.get("x-amzn-errortype");
  std::string message;
  if (const auto body = base::parse_json(response.body)) {
    if (code.empty()) code = base::string_or(*body, "__type");
    if (code.empty()) code = base::string_or(*body, "code");
    message = base::string_or(*body, "message", base::string_or(*body, "Message"));
  }
  code = plain_code(code);
  if (code.empty()) code = "HTTP " + std::to_string(response.status);
  if (message.empty()) {
    message = code + (response.body.empty() ? "" : ": ") +
              base::to_valid_utf8(base::utf8_prefix(response.body, 300));
  }
  return ApiError(code, message, response.status);
}

}  // namespace

ServiceClient::ServiceClient(net::HttpClient& http, const base::Clock& clock,
                             ClientSettings settings)
    : http_(http), clock_(clock), settings_(std::move(settings)) {
  while (settings_.endpoint.ends_with('/')) settings_.endpoint.pop_back();
}

Json ServiceClient::call(std::string_view operation, const base::JsonObject& input,
                         std::stop_token stop) {
  net::ClientRequest request{.method = "POST", .url = settings_.endpoint + "/"};
  request.headers.add("content-type", "application/x-amz-json-" + settings_.json_version);
  request.headers.add("x-amz-target", settings_.target_prefix + "." + std::string(operation));
  request.body = base::to_text(Json(input));
  return base::while_doing(
      "calling " + settings_.service + " " + std::string(operation) + " in " + settings_.region,
      [&] { return send(std::move(request), stop); });
}

Json ServiceClient::post(std::string_view path, const base::JsonObject& input,
                         std::stop_token stop) {
  net::ClientRequest request{.method = "POST", .url = settings_.endpoint + std::string(path)};
  request.headers.add("content-type", "application/json");
  request.body = base::to_text(Json(input));
  return base::while_doing(
      "calling " + settings_.service + " " + std::string(path) + " in " + settings_.region,
      [&] { return send(std::move(request), stop); });
}

Json ServiceClient::call_meridian(std::string_view name, const base::JsonObject& input,
                                  std::stop_token stop) {
  return post("/_meridian/v1/" + std::string(name), input, stop);
}

Json ServiceClient::send(net::ClientRequest request, std::stop_token stop) {
  request.unix_socket = settings_.unix_socket;
  const bool own = request.url.find("/_meridian/v1/") != std::string::npos;
  for (int attempt = 1;; ++attempt) {
    try {
      sign(request, settings_.credentials_now ? settings_.credentials_now() : settings_.credentials,
           settings_.region, own ? "meridian" : settings_.service, clock_.now());
      const net::Response response = http_.send(request, stop);
      if (response.status / 100 != 2) throw error_of(response);
      if (response.body.empty()) return base::JsonObject{};
      auto answer = base::parse_json(response.body);
      if (answer) return std::move(*answer);
      throw base::Error(base::Code::data_loss, "the answer is not JSON: " + answer.error().text());
    } catch (const base::Error& error) {  // only what the service may answer better next time
      if (!error.retryable() || attempt >= settings_.attempts) throw;
    }
    wait_before_retry(attempt, stop);
  }
}

}  // namespace meridian::aws
