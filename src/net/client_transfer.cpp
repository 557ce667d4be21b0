// SPDX-License-Identifier: Apache-2.0
#include "net/client_transfer.h"

#include <curl/curl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/strings.h"

namespace meridian::net {
namespace {

using base::Code;
using base::Error;

constexpr std::size_t kMaxFields = 1000;  // of an answer

template <class Work>
std::size_t guarded(Transfer& transfer, std::size_t on_failure, Work work) {
  try {
    const std::size_t result = work();
    transfer.last_progress = Transfer::Time::now();
    return result;
  } catch (...) {
    transfer.failure = std::current_exception();
    return on_failure;
  }
}

void take_header_line(Transfer& transfer, std::string_view line) {
  line = base::trim(line);
  if (line.starts_with("HTTP/")) {
    // A new answer: an interim 100 Continue may have come before.
    transfer.response = {};
    const std::size_t blank = std::min(line.find(' '), line.size() - 1);
    transfer.response.status =
        static_cast<int>(base::to_int(line.substr(blank + 1, 3)).value_or(0));
    transfer.head_done = false;
    return;
  }
  if (line.empty()) transfer.head_done = true;
  if (transfer.head_done) return;  // trailers are not fields of the answer
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  if (transfer.response.headers.fields().size() == kMaxFields) {
    throw Error(Code::resource_exhausted, "the answer has too many header fields");
  }
  transfer.response.headers.add(std::string(line.substr(0, colon)),
                                std::string(base::trim(line.substr(colon + 1))));
}

std::size_t on_header(char* data, std::size_t, std::size_t size, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  return guarded(transfer, 0, [&] {
    take_header_line(transfer, {data, size});
    return size;
  });
}

std::size_t on_body(char* data, std::size_t, std::size_t size, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  return guarded(transfer, size + 1, [&] {
    const bool success = transfer.response.status / 100 == 2;
    if (transfer.sink && success) {
      (*transfer.sink)({data, size});
    } else {
      if (transfer.response.body.size() + size > transfer.request.max_body) {
        throw Error(Code::resource_exhausted,
                    "the answer is larger than " + base::format_bytes(transfer.request.max_body));
      }
      transfer.response.body.append(data, size);
    }
    return size;
  });
}

std::size_t read_stream(Transfer& transfer, char* buffer, std::size_t room) {
  BodyReader& stream = *transfer.request.stream;
  const std::size_t got = stream.read(buffer, room);
  transfer.stream_sent += got;
  const auto length = stream.length();
  if (got == 0 && length && transfer.stream_sent < *length) {
    throw Error(Code::data_loss, "the body to send ended after " +
                                     std::to_string(transfer.stream_sent) + " of " +
                                     std::to_string(*length) + " bytes");
  }
  return got;
}

std::size_t on_read(char* buffer, std::size_t, std::size_t room, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  return guarded(transfer, CURL_READFUNC_ABORT, [&]() -> std::size_t {
    if (transfer.request.stream) return read_stream(transfer, buffer, room);
    const std::string& body = transfer.request.body;
    const std::size_t count = std::min(room, body.size() - transfer.body_at);
    std::memcpy(buffer, body.data() + transfer.body_at, count);
    transfer.body_at += count;
    return count;
  });
}

// libcurl sends again from the start when a kept connection turns out to be dead.
int on_seek(void* user, curl_off_t offset, int origin) {
  auto& transfer = *static_cast<Transfer*>(user);
  if (origin != SEEK_SET || offset < 0) return CURL_SEEKFUNC_CANTSEEK;
  if (transfer.request.stream) {
    return static_cast<std::uint64_t>(offset) == transfer.stream_sent ? CURL_SEEKFUNC_OK
                                                                      : CURL_SEEKFUNC_CANTSEEK;
  }
  if (static_cast<std::uint64_t>(offset) > transfer.request.body.size()) return CURL_SEEKFUNC_FAIL;
  transfer.body_at = static_cast<std::size_t>(offset);
  return CURL_SEEKFUNC_OK;
}

// As libcurl would by itself, but not inherited by the programs this process starts.
curl_socket_t on_open_socket(void*, curlsocktype, curl_sockaddr* address) {
  const int fd = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  return fd < 0 ? CURL_SOCKET_BAD : fd;
}

}  // namespace

void Transfer::attach(void* easy) {
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_read);
  curl_easy_setopt(easy, CURLOPT_READDATA, this);
  curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, on_seek);
  curl_easy_setopt(easy, CURLOPT_SEEKDATA, this);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
}

}  // namespace meridian::net
