// SPDX-License-Identifier: Apache-2.0
#include "xgboost/serve.h"

#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "base/file.h"
#include "base/json.h"
#include "base/strings.h"
#include "net/server.h"
#include "xgboost/booster.h"

namespace meridian::xgboost {
namespace {

constexpr std::size_t kLargestRequest = 64u << 20;

net::Response respond(int status, std::string body, std::string type) {
  net::Response response{.status = status, .headers = {}, .body = std::move(body)};
  response.headers.set("Content-Type", std::move(type));
  return response;
}

std::string join_row(const Booster::Predictions& predictions, std::size_t row,
                     std::string_view separator) {
  std::string text;
  for (std::size_t at = 0; at < predictions.per_row; ++at)
    text += (at > 0 ? std::string(separator) : "") +
            base::number_text(predictions.values[row * predictions.per_row + at]);
  return text;
}

std::string csv_answer(const Booster::Predictions& predictions, Service::Style style) {
  const auto rows = predictions.values.size() / predictions.per_row;
  const bool lines = style == Service::Style::batch || predictions.per_row > 1;
  std::string text;
  for (std::size_t row = 0; row < rows; ++row) {
    if (row > 0) text += lines ? "\n" : ",";
    text += join_row(predictions, row, ",");
  }
  return style == Service::Style::batch ? text + "\n" : text;
}

std::string json_answer(const Booster::Predictions& predictions) {
  base::JsonArray rows;
  for (std::size_t at = 0; at < predictions.values.size(); at += predictions.per_row) {
    if (predictions.per_row == 1) {
      rows.emplace_back(base::JsonObject{{"score", predictions.values[at]}});
      continue;
    }
    base::JsonArray values;
    for (std::size_t k = 0; k < predictions.per_row; ++k)
      values.emplace_back(predictions.values[at + k]);
    rows.emplace_back(base::JsonObject{{"score", std::move(values)}});
  }
  return base::to_text(base::JsonObject{{"predictions", std::move(rows)}});
}

}  // namespace

struct Service::State {
  Booster booster;
  std::mutex mutex;  // predictions of one booster are made one after the other
};

Service::Service(const Paths& paths) : state_(std::make_unique<State>()) {
  const auto bytes =
      base::while_doing("loading the model", [&] { return base::read_file(paths.model()); });
  state_->booster.load_model(bytes);
}

Service::~Service() = default;

net::Response Service::answer(const net::Request& request, std::string body, Style style) {
  if (request.path == "/ping") return respond(200, "", "text/plain");
  if (request.path == "/execution-parameters")
    return respond(
        200, R"({"MaxConcurrentTransforms":1,"BatchStrategy":"MULTI_RECORD","MaxPayloadInMB":6})",
        "application/json");
  if (request.path != "/invocations") return respond(404, "not found\n", "text/plain");
  if (request.method != "POST") return respond(405, "POST rows to be predicted\n", "text/plain");
  try {
    Rows rows;
    const auto format = parse_content_type(request.headers.get("Content-Type", "text/csv"));
    const auto read = format == DataFormat::csv ? append_csv(body, {.labels = Labels::none}, rows)
                                                : append_libsvm(body, Labels::none, rows);
    if (!read) return respond(400, read.error().text() + "\n", "text/plain");
    if (rows.count() == 0) return respond(400, "no rows in the request\n", "text/plain");
    const std::lock_guard lock(state_->mutex);
    const auto width = state_->booster.width();
    if (rows.width > width || (format == DataFormat::csv && rows.width != width))
      return respond(400,
                     "the rows have " + std::to_string(rows.width) + " features, the model has " +
                         std::to_string(width) + " (no label in requests)\n",
                     "text/plain");
    rows.width = width;
    const auto predictions = state_->booster.predict(Matrix(rows));
    const auto accept = base::to_lower(request.headers.get("Accept", "text/csv"));
    if (accept.find("application/json") != std::string::npos)
      return respond(200, json_answer(predictions), "application/json");
    return respond(200, csv_answer(predictions, style), "text/csv; charset=utf-8");
  } catch (const base::Error& error) {  // an HTTP boundary
    const int status = error.code() == base::Code::invalid_argument ? 415 : 500;
    return respond(status, std::string(error.what()) + "\n", "text/plain");
  }
}

void serve(const Paths& paths, const std::string& host, std::uint16_t port) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  Service service(paths);
  const char* batch = std::getenv("SAGEMAKER_BATCH");
  const auto style = batch != nullptr && base::equals_ignoring_case(batch, "true")
                         ? Service::Style::batch
                         : Service::Style::online;
  net::HttpServer server({.listen = {.host = host, .port = port}, .max_workers = 32},
                         [&](net::Request& request, net::Responder& responder) {
                           auto body = request.body->read_all(kLargestRequest);
                           responder.send(service.answer(request, std::move(body), style));
                         });
  std::printf("Serving on port %d\n", server.port());
  std::fflush(stdout);
  int received = 0;
  sigwait(&ends, &received);
}

}  // namespace meridian::xgboost
