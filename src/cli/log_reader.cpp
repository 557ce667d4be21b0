// SPDX-License-Identifier: Apache-2.0
#include "cli/log_reader.h"

#include <algorithm>

#include "base/json.h"

namespace meridian::cli {
namespace {

constexpr char kGroup[] = "/aws/sagemaker/TrainingJobs";

}  // namespace

std::string host_of_stream(std::string_view stream) {
  auto host = stream.substr(stream.rfind('/') + 1);
  const auto dash = host.rfind('-');
  return std::string(
      dash == std::string_view::npos || dash == host.find('-') ? host : host.substr(0, dash));
}

std::size_t first_shown(std::size_t lines, int tail) {
  const auto wished = static_cast<std::size_t>(tail);
  return tail >= 0 && lines > wished ? lines - wished : 0;
}

LogReader::LogReader(aws::ServiceClient& logs, std::string job, std::string host)
    : logs_(&logs), job_(std::move(job)), host_(std::move(host)) {}

std::vector<LogLine> LogReader::poll() {
  find_streams();
  std::vector<LogLine> lines;
  for (auto& [stream, token] : tokens_) read(stream, token, lines);
  std::stable_sort(lines.begin(), lines.end(),
                   [](const LogLine& a, const LogLine& b) { return a.at < b.at; });
  return lines;
}

void LogReader::find_streams() {
  base::Json answer;
  try {
    answer = logs_->call("DescribeLogStreams",
                         {{"logGroupName", kGroup}, {"logStreamNamePrefix", job_ + "/"}});
  } catch (const aws::ApiError& error) {
    if (error.aws_code() == "ResourceNotFoundException") return;  // no job has logged yet
    throw;
  }
  const auto* streams = base::find(answer, "logStreams");
  if (streams == nullptr || !streams->is_array()) return;
  for (const auto& stream : streams->as_array()) {
    const auto name = base::string_or(stream, "logStreamName");
    if (host_.empty() || host_of_stream(name) == host_) tokens_.try_emplace(name);
  }
}

void LogReader::read(const std::string& stream, std::string& token, std::vector<LogLine>& lines) {
  const auto host = host_of_stream(stream);
  for (;;) {
    base::JsonObject input{
        {"logGroupName", kGroup}, {"logStreamName", stream}, {"startFromHead", true}};
    if (!token.empty()) input["nextToken"] = token;
    const auto answer = logs_->call("GetLogEvents", input);
    const auto* events = base::find(answer, "events");
    const bool any = events != nullptr && events->is_array() && !events->as_array().empty();
    if (any)
      for (const auto& event : events->as_array())
        lines.push_back(
            {{base::int_or(event, "timestamp", 0)}, host, base::string_or(event, "message")});
    const auto next = base::string_or(answer, "nextForwardToken");
    if (next.empty() || next == token) return;
    token = next;
    if (!any) return;
  }
}

}  // namespace meridian::cli
