// SPDX-License-Identifier: Apache-2.0
#include "region/training/failure.h"

#include "base/strings.h"

namespace meridian::region::training {
namespace {

constexpr std::size_t kLimit = 1024;

using Kind = run::ExitStatus::Kind;

std::string bounded(std::string_view text, std::size_t limit) {
  return std::string(base::utf8_prefix(text, limit));
}

// The end of the log matters most: an exception's last line is its message.
std::string tail(const std::vector<std::string>& lines, std::size_t limit) {
  std::string text;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    std::string with = text.empty() ? *line : *line + "\n" + text;
    if (with.size() > limit) break;
    text = std::move(with);
  }
  if (text.empty() && !lines.empty()) text = bounded(lines.back(), limit);
  return text;
}

std::string hint(const FailureFacts& facts) {
  if (facts.exit.out_of_memory) {
    std::string limit = facts.memory_limit_bytes
                            ? " (limit " + base::format_bytes(facts.memory_limit_bytes) + ")"
                            : "";
    return " (out of memory" + limit + ": use less, or a pool with more memory_bytes)";
  }
  if (facts.exit.kind == Kind::signalled && facts.exit.code == 9)
    return " (killed by signal 9; often the machine was out of memory)";
  if (facts.exit.kind == Kind::signalled)
    return " (killed by signal " + std::to_string(facts.exit.code) + ")";
  return "";
}

}  // namespace

std::string algorithm_error(const FailureFacts& facts) {
  int code = facts.exit.kind == Kind::signalled ? 128 + facts.exit.code : facts.exit.code;
  std::string end = hint(facts) + ", exit code: " + std::to_string(code);
  std::string start = "AlgorithmError: ";
  std::size_t room = kLimit - start.size() - end.size();
  std::string text(base::trim(facts.file));
  if (text.empty()) text = tail(facts.last_lines, room);
  if (text.empty()) text = "the program on " + facts.host + " wrote nothing";
  return start + bounded(base::to_valid_utf8(text), room) + end;
}

std::string client_error(const std::string& message) {
  return bounded(base::to_valid_utf8("ClientError: " + message), kLimit);
}

std::string capacity_error(const std::string& message) {
  std::string text =
      "CapacityError: Unable to provision requested ML compute capacity. Please retry using a "
      "different ML instance type.";
  if (!message.empty()) text += " (" + message + ")";
  return bounded(base::to_valid_utf8(text), kLimit);
}

std::string internal_error(const std::string& message) {
  std::string text = "InternalServerError: We encountered an internal error. Please try again.";
  if (!message.empty()) text += " (" + message + ")";
  return bounded(base::to_valid_utf8(text), kLimit);
}

base::JsonObject exit_json(const run::ExitStatus& exit) {
  return {{"kind", static_cast<int>(exit.kind)},
          {"code", exit.code},
          {"out_of_memory", exit.out_of_memory},
          {"stopped", exit.stopped},
          {"message", exit.message}};
}

run::ExitStatus parse_exit(const base::JsonObject& json) {
  const base::Json value(json);
  run::ExitStatus exit;
  exit.kind = static_cast<Kind>(base::int_or(value, "kind", 0));
  exit.code = static_cast<int>(base::int_or(value, "code", 0));
  exit.out_of_memory = base::bool_or(value, "out_of_memory", false);
  exit.stopped = base::bool_or(value, "stopped", false);
  exit.message = base::string_or(value, "message");
  return exit;
}

base::JsonObject exit_facts(const std::string& host, const run::ExitStatus& exit) {
  constexpr std::string_view kKinds[] = {"Exited", "Signalled", "Lost", "NotStarted"};
  base::JsonObject facts{{"Host", host},
                         {"Phase", "ended"},
                         {"Kind", kKinds[static_cast<int>(exit.kind)]},
                         {"ExitCode", exit.code},
                         {"EndTime", exit.at.seconds()},
                         {"CpuSeconds", exit.usage.cpu_seconds},
                         {"MemoryBytes", exit.usage.memory_bytes}};
  if (exit.out_of_memory) facts["OutOfMemory"] = true;
  if (!exit.message.empty()) facts["Message"] = exit.message;
  return facts;
}

}  // namespace meridian::region::training
