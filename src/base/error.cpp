// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <cerrno>
#include <cstring>
#include <system_error>

namespace meridian::base {

std::string_view name(Code code) {
  switch (code) {
    case Code::invalid_argument: return "invalid argument";
    case Code::not_found: return "not found";
    case Code::already_exists: return "already exists";
    case Code::conflict: return "conflict";
    case Code::failed_precondition: return "failed precondition";
    case Code::unauthenticated: return "unauthenticated";
    case Code::permission_denied: return "permission denied";
    case Code::resource_exhausted: return "resource exhausted";
    case Code::unavailable: return "unavailable";
    case Code::deadline_exceeded: return "deadline exceeded";
    case Code::cancelled: return "cancelled";
    case Code::data_loss: return "data loss";
    case Code::unimplemented: return "unimplemented";
    case Code::internal: return "internal";
  }
  std::abort();
}

Error::Error(Code code, std::string message, Retry retry)
    : code_(code), retry_(retry), message_(std::move(message)), what_(message_) {}

Error& Error::add_note(std::string note) {
  what_ += " (while " + note + ")";
  trail_.push_back(std::move(note));
  return *this;
}

namespace {
Code code_of_errno(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR: return Code::not_found;
    case EEXIST: return Code::already_exists;
    case EACCES:
    case EPERM:
    case EROFS: return Code::permission_denied;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM: return Code::resource_exhausted;
    case ETIMEDOUT: return Code::deadline_exceeded;
    case ECONNREFUSED:
    case ECONNRESET:
    case EPIPE:
    case EHOSTUNREACH:
    case ENETUNREACH: return Code::unavailable;
    default: return Code::internal;
  }
}
}  // namespace

Error errno_error(int error_number, std::string what) {
  const Code code = code_of_errno(error_number);
  const bool disk_is_full = error_number == ENOSPC || error_number == EDQUOT;
  const bool may_pass =
      code == Code::unavailable || code == Code::deadline_exceeded || disk_is_full;
  return Error(code, what + ": " + std::system_category().message(error_number),
               may_pass ? Retry::yes : Retry::no);
}

std::string ParseError::text() const {
  if (line > 0) {
    return "line " + std::to_string(line) + ", column " + std::to_string(column) + ": " + message;
  }
  return "at byte " + std::to_string(offset) + ": " + message;
}

}  // namespace meridian::base
