// The one exception of Meridian, and the value that parsers return instead of it.
//
// An Error ends the current unit of work: one request, one step, one command. It is caught at few
// named places only (HTTP dispatcher, step runner, thread body, main, C callbacks). On the way up,
// callers add what they were doing:
//
//   return base::while_doing("staging channel 'train'", [&] { return stage(channel); });
//
// prints as "no such bucket 'b' (while staging channel 'train')".
//
// Expected outcomes are values, not Errors: find_x returns optional, parse_x returns Result.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace meridian::base {

// Closed on purpose: every protocol maps it totally to its own codes.
enum class Code {
  invalid_argument,  // the caller's input is wrong, whatever the state of the system
  not_found,
  already_exists,
  conflict,             // a compare-and-set lost, or the thing is busy: read again and retry
  failed_precondition,  // right input, wrong state
  unauthenticated,
  permission_denied,
  resource_exhausted,  // quota, pool, disk
  unavailable,         // try again later
  deadline_exceeded,
  cancelled,  // a stop token fired
  data_loss,  // stored or transferred bytes are not what they were
  unimplemented,
  internal,
};

std::string_view name(Code code);

enum class Retry { no, yes };

class Error : public std::exception {
 public:
  Error(Code code, std::string message, Retry retry = Retry::no);

  Code code() const { return code_; }
  const std::string& message() const { return message_; }           // without the trail
  const std::vector<std::string>& trail() const { return trail_; }  // innermost first
  bool retryable() const { return retry_ == Retry::yes; }
  const char* what() const noexcept override { return what_.c_str(); }

  Error& add_note(std::string note);  // shown as "(while <note>)"

 private:
  Code code_;
  Retry retry_;
  std::string message_;
  std::vector<std::string> trail_;
  std::string what_;
};

// "<what>: <strerror>", mapped from errno (ENOENT → not_found, ENOSPC → resource_exhausted, …).
Error errno_error(int error_number, std::string what);

template <class F>
decltype(auto) while_doing(std::string note, F&& work) {
  try {
    return std::forward<F>(work)();
  } catch (Error& error) {
    error.add_note(std::move(note));
    throw;
  }
}

// Why foreign bytes were refused, and where.
struct ParseError {
  std::string message;
  std::size_t offset = 0;  // bytes from the start of the input
  int line = 0;            // 1-based; 0 = not a text with lines
  int column = 0;

  std::string text() const;  // "line 3, column 7: …" or "at byte 12: …"
};

// Either a T or a ParseError.
template <class T, class E = ParseError>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT
  Result(E error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const E& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, E> state_;
};

}  // namespace meridian::base
