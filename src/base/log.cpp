// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/clock.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/sync.h"

namespace meridian::base {
namespace {

constexpr std::array<std::string_view, 4> kLevelNames{"debug", "info", "warn", "error"};

struct Sink {
  LogLevel level = LogLevel::info;
  bool json = false;
};

Sink sink_from_environment() {
  Sink sink;
  if (const char* wanted = std::getenv("MERIDIAN_LOG")) {
    for (std::size_t i = 0; i < kLevelNames.size(); ++i) {
      if (equals_ignoring_case(wanted, kLevelNames[i])) sink.level = static_cast<LogLevel>(i);
    }
  }
  const char* format = std::getenv("MERIDIAN_LOG_FORMAT");
  sink.json = format != nullptr ? std::string_view(format) == "json" : isatty(STDERR_FILENO) == 0;
  return sink;
}

Sync<Sink>& sink() {
  // Never destroyed: threads may log until the very end of the process.
  static auto* the_sink = new Sync<Sink>(sink_from_environment());
  return *the_sink;
}

bool is_secret(std::string_view field) {
  const std::string lower = to_lower(field);
  for (const std::string_view word : {"secret", "token", "password", "signature"}) {
    if (lower.find(word) != std::string::npos) return true;
  }
  return false;
}

std::string quoted(std::string_view text) { return to_text(Json(to_valid_utf8(text))); }

// Bare when it cannot be mistaken for something else, so that lines stay easy to read.
std::string plain_value(std::string_view value) {
  const bool bare = !value.empty() && value.find_first_of(" \t\r\n\"=") == std::string_view::npos;
  return bare && is_valid_utf8(value) ? std::string(value) : quoted(value);
}

std::string line_of(bool json, LogLevel level, std::string_view message, LogFields fields) {
  const std::string time = format_iso8601(SystemClock().now());
  const std::string_view level_name = kLevelNames[static_cast<std::size_t>(level)];
  std::string line;
  if (json) {
    line.append("{\"time\":\"").append(time).append("\",\"level\":\"").append(level_name);
    line.append("\",\"message\":").append(quoted(message));
  } else {
    line.append(time).append(" ").append(level_name).append(5 - level_name.size() + 1, ' ');
    line.append(replace_all(to_valid_utf8(message), "\n", "\\n"));
  }
  for (const auto& [name, value] : fields) {
    const std::string_view shown = is_secret(name) ? std::string_view("***") : value;
    if (json) {
      line.append(",").append(quoted(name)).append(":").append(quoted(shown));
    } else {
      line.append(" ").append(name).append("=").append(plain_value(shown));
    }
  }
  line += json ? "}\n" : "\n";
  return line;
}

// A log line that cannot be written is dropped: there is nowhere left to say so.
void write_line(int fd, std::string_view line) {
  while (write(fd, line.data(), line.size()) < 0 && errno == EINTR) {
  }
}

}  // namespace

void log(LogLevel level, std::string_view message, LogFields fields) {
  auto guard = sink().lock();
  if (level < guard->level) return;
  write_line(STDERR_FILENO, line_of(guard->json, level, message, fields));
}

void set_log_level(LogLevel level) { sink().lock()->level = level; }

}  // namespace meridian::base
