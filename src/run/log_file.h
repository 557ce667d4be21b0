// The file that a supervisor writes a program's output to, and telemetry reads: one record a line.
//
//   <epoch ms> <flags> <message bytes>\n      flags: '-' whole line, '+' goes on in the next record
//
// The message is the raw line without its newline; lines past 256 KiB are cut into several records.
// A record is appended by one write, so that a reader sees whole records except at a torn end,
// which it leaves alone until the rest comes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/file.h"

namespace meridian::run {

struct LogRecord {
  base::Timestamp at{};
  std::string message;
  std::uint64_t offset = 0;  // of the record in the file
};

// Splits a byte stream into records; one writer per stream (stdout, stderr).
class LogFileWriter {
 public:
  LogFileWriter(const std::filesystem::path& path, const base::Clock& clock);
  void append(std::string_view bytes);  // any pieces; complete lines are written at once
  void finish();                        // writes an unfinished last line

 private:
  const base::Clock& clock_;
  base::UniqueFd fd_;
  std::string partial_;
};

struct LogSlice {
  std::vector<LogRecord> records;
  std::uint64_t next_offset = 0;
};
// Whole records from `offset`, at most `bytes`; nothing when the file does not exist yet.
LogSlice read_log_file(const std::filesystem::path& path, std::uint64_t offset,
                       std::size_t bytes = 1u << 20);

}  // namespace meridian::run
