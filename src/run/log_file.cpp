// SPDX-License-Identifier: Apache-2.0
#include "run/log_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/strings.h"

namespace meridian::run {
namespace {

constexpr std::size_t kLongestMessage = 256u << 10;

std::string make_record(base::Timestamp at, char flag, std::string_view message) {
  std::string record = std::to_string(at.ms);
  record += ' ';
  record += flag;
  record += ' ';
  record += message;
  record += '\n';
  return record;
}

// "1700000000000 - text", or nothing when it is no record.
std::optional<LogRecord> parse_record(std::string_view line) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos || line.size() < space + 3 || line[space + 2] != ' ') {
    return std::nullopt;
  }
  const auto ms = base::to_int(line.substr(0, space));
  if (!ms) return std::nullopt;
  return LogRecord{{*ms}, std::string(line.substr(space + 3)), 0};
}

}  // namespace

LogFileWriter::LogFileWriter(const std::filesystem::path& path, const base::Clock& clock)
    : clock_(clock), fd_(base::open_file(path, O_WRONLY | O_CREAT | O_APPEND, 0640)) {}

void LogFileWriter::append(std::string_view bytes) {
  std::string records;
  const base::Timestamp now = clock_.now();
  while (!bytes.empty()) {
    const std::size_t room = kLongestMessage - partial_.size();
    const std::size_t newline = bytes.find('\n');
    if (newline != std::string_view::npos && newline <= room) {
      partial_.append(bytes.substr(0, newline));
      records += make_record(now, '-', partial_);
      partial_.clear();
      bytes.remove_prefix(newline + 1);
    } else if (bytes.size() > room) {
      partial_.append(bytes.substr(0, room));
      records += make_record(now, '+', partial_);
      partial_.clear();
      bytes.remove_prefix(room);
    } else {
      partial_.append(bytes);
      bytes = {};
    }
  }
  if (!records.empty()) base::write_all(fd_.get(), records);
}

void LogFileWriter::finish() {
  if (partial_.empty()) return;
  base::write_all(fd_.get(), make_record(clock_.now(), '-', partial_));
  partial_.clear();
}

LogSlice read_log_file(const std::filesystem::path& path, std::uint64_t offset, std::size_t bytes) {
  LogSlice slice;
  slice.next_offset = offset;
  const base::UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    if (errno == ENOENT) return slice;
    throw base::errno_error(errno, "cannot open " + path.string());
  }
  // Room for at least one record of the longest kind, or a reader would never get past it.
  std::string text(std::max(bytes, kLongestMessage + 64), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t n =
        pread(fd.get(), text.data() + have, text.size() - have, static_cast<off_t>(offset + have));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw base::errno_error(errno, "cannot read " + path.string());
    if (n == 0) break;
    have += static_cast<std::size_t>(n);
  }
  std::string_view rest(text.data(), have);
  while (true) {
    const std::size_t newline = rest.find('\n');
    if (newline == std::string_view::npos) break;
    if (auto record = parse_record(rest.substr(0, newline))) {
      record->offset = slice.next_offset;
      slice.records.push_back(std::move(*record));
    }
    slice.next_offset += newline + 1;
    rest.remove_prefix(newline + 1);
  }
  return slice;
}

}  // namespace meridian::run
