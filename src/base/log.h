// Structured log lines, one per event: time, level, message, fields.
//
//   log_info("job accepted", {{"job", name}, {"instances", "2"}});
//
// Plain text on a terminal, JSON lines otherwise or with MERIDIAN_LOG_FORMAT=json. The level comes
// from MERIDIAN_LOG (debug, info, warn, error; default info). Values of fields whose name holds
// secret, token, password or signature are replaced by "***". Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace meridian::base {

enum class LogLevel { debug, info, warn, error };
using LogField = std::pair<std::string_view, std::string>;
using LogFields = std::initializer_list<LogField>;

void log(LogLevel level, std::string_view message, LogFields fields = {});
inline void log_debug(std::string_view m, LogFields f = {}) { log(LogLevel::debug, m, f); }
inline void log_info(std::string_view m, LogFields f = {}) { log(LogLevel::info, m, f); }
inline void log_warn(std::string_view m, LogFields f = {}) { log(LogLevel::warn, m, f); }
inline void log_error(std::string_view m, LogFields f = {}) { log(LogLevel::error, m, f); }

void set_log_level(LogLevel level);

}  // namespace meridian::base
