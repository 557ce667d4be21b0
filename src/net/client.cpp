// SPDX-License-Identifier: Apache-2.0
#include "net/client.h"

#include <curl/curl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "base/strings.h"

namespace meridian::net {
namespace {

using base::Code;
using base::Error;
using base::Retry;
using Time = std::chrono::steady_clock;
using Sink = std::function<void(std::string_view)>;

constexpr std::size_t kMaxFields = 1000;  // of an answer

void initialise_curl_once() {
  static const CURLcode done = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (done != CURLE_OK) throw Error(Code::internal, "libcurl does not initialise");
}

// One connection at a time: an easy handle for the settings and a multi handle that waits for it,
// can be woken from another thread, and keeps the connections for the next request.
struct Slot {
  Slot() : multi(curl_multi_init()), easy(curl_easy_init()) {
    if (!multi || !easy) throw Error(Code::resource_exhausted, "no memory for an HTTP request");
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 4L);
  }
  ~Slot() {
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
  }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  CURLM* multi;
  CURL* easy;
  std::string place;                  // where its newest connection leads
  char detail[CURL_ERROR_SIZE] = "";  // what went wrong last, in libcurl's words
};

struct Url {
  std::string origin;  // scheme://authority
  std::string host;
  std::string target;  // raw path and query
};

bool has_bytes_outside_a_line(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

Url split_url(const std::string& url) {
  const auto refuse = [&](std::string_view why) {
    return Error(Code::invalid_argument, "cannot request '" + url + "': " + std::string(why));
  };
  const std::size_t scheme = url.find("://");
  const bool known = url.starts_with("http://") || url.starts_with("https://");
  if (scheme == std::string::npos || !known) {
    throw refuse("the URL must begin with http:// or https://");
  }
  const std::size_t start = scheme + 3;
  const std::size_t end = std::min(url.find_first_of("/?#", start), url.size());
  Url parts{url.substr(0, end), url.substr(start, end - start), url.substr(end)};
  parts.target = parts.target.substr(0, parts.target.find('#'));
  if (parts.target.empty() || parts.target[0] != '/') parts.target.insert(0, "/");
  if (parts.host.empty()) throw refuse("no host");
  const auto bad = [](unsigned char c) { return c <= 0x20 || c == 0x7f; };
  if (std::any_of(url.begin(), url.end(), bad)) {
    throw refuse("blanks and control characters must be percent-encoded");
  }
  return parts;
}

bool is_loopback(std::string_view authority) {
  return authority.starts_with("127.") || authority.starts_with("localhost") ||
         authority.starts_with("[::1]");
}

// What the callbacks of one request share. They are called by C code, so that nothing may be thrown
// through them: the first exception is kept and ends the transfer.
struct Exchange {
  const ClientRequest& request;
  const Sink* sink;
  Response response;
  bool head_done = false;
  std::size_t body_at = 0;        // how much of request.body is sent
  std::uint64_t stream_sent = 0;  // how much of request.stream is sent
  std::exception_ptr failure;
  Time::time_point last_progress = Time::now();

  void progressed() { last_progress = Time::now(); }
};

template <class Work>
std::size_t guarded(Exchange& exchange, std::size_t on_failure, Work work) {
  try {
    const std::size_t result = work();
    exchange.progressed();
    return result;
  } catch (...) {
    exchange.failure = std::current_exception();
    return on_failure;
  }
}

void take_header_line(Exchange& exchange, std::string_view line) {
  line = base::trim(line);
  if (line.starts_with("HTTP/")) {
    // A new answer: an interim 100 Continue may have come before.
    exchange.response = {};
    const std::size_t blank = std::min(line.find(' '), line.size() - 1);
    exchange.response.status =
        static_cast<int>(base::to_int(line.substr(blank + 1, 3)).value_or(0));
    exchange.head_done = false;
    return;
  }
  if (line.empty()) exchange.head_done = true;
  if (exchange.head_done) return;  // trailers are not fields of the answer
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  if (exchange.response.headers.fields().size() == kMaxFields) {
    throw Error(Code::resource_exhausted, "the answer has too many header fields");
  }
  exchange.response.headers.add(std::string(line.substr(0, colon)),
                                std::string(base::trim(line.substr(colon + 1))));
}

std::size_t on_header(char* data, std::size_t, std::size_t size, void* user) {
  auto& exchange = *static_cast<Exchange*>(user);
  return guarded(exchange, 0, [&] {
    take_header_line(exchange, {data, size});
    return size;
  });
}

std::size_t on_body(char* data, std::size_t, std::size_t size, void* user) {
  auto& exchange = *static_cast<Exchange*>(user);
  return guarded(exchange, size + 1, [&] {
    const bool success = exchange.response.status / 100 == 2;
    if (exchange.sink && success) {
      (*exchange.sink)({data, size});
    } else {
      if (exchange.response.body.size() + size > exchange.request.max_body) {
        throw Error(Code::resource_exhausted,
                    "the answer is larger than " + base::format_bytes(exchange.request.max_body));
      }
      exchange.response.body.append(data, size);
    }
    return size;
  });
}

std::size_t read_stream(Exchange& exchange, char* buffer, std::size_t room) {
  BodyReader& stream = *exchange.request.stream;
  const std::size_t got = stream.read(buffer, room);
  exchange.stream_sent += got;
  const auto length = stream.length();
  if (got == 0 && length && exchange.stream_sent < *length) {
    throw Error(Code::data_loss, "the body to send ended after " +
                                     std::to_string(exchange.stream_sent) + " of " +
                                     std::to_string(*length) + " bytes");
  }
  return got;
}

std::size_t on_read(char* buffer, std::size_t, std::size_t room, void* user) {
  auto& exchange = *static_cast<Exchange*>(user);
  return guarded(exchange, CURL_READFUNC_ABORT, [&]() -> std::size_t {
    if (exchange.request.stream) return read_stream(exchange, buffer, room);
    const std::string& body = exchange.request.body;
    const std::size_t count = std::min(room, body.size() - exchange.body_at);
    std::memcpy(buffer, body.data() + exchange.body_at, count);
    exchange.body_at += count;
    return count;
  });
}

// libcurl sends again from the start when a kept connection turns out to be dead.
int on_seek(void* user, curl_off_t offset, int origin) {
  auto& exchange = *static_cast<Exchange*>(user);
  if (origin != SEEK_SET || offset < 0) return CURL_SEEKFUNC_CANTSEEK;
  if (exchange.request.stream) {
    return static_cast<std::uint64_t>(offset) == exchange.stream_sent ? CURL_SEEKFUNC_OK
                                                                      : CURL_SEEKFUNC_CANTSEEK;
  }
  if (static_cast<std::uint64_t>(offset) > exchange.request.body.size()) return CURL_SEEKFUNC_FAIL;
  exchange.body_at = static_cast<std::size_t>(offset);
  return CURL_SEEKFUNC_OK;
}

// As libcurl would by itself, but not inherited by the programs this process starts.
curl_socket_t on_open_socket(void*, curlsocktype, curl_sockaddr* address) {
  const int fd = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  return fd < 0 ? CURL_SOCKET_BAD : fd;
}

class HeaderList {
 public:
  HeaderList() = default;
  HeaderList(const HeaderList&) = delete;
  ~HeaderList() { curl_slist_free_all(list_); }
  void add(const std::string& line) {
    curl_slist* longer = curl_slist_append(list_, line.c_str());
    if (!longer) throw Error(Code::resource_exhausted, "no memory for the headers of a request");
    list_ = longer;
  }
  curl_slist* get() const { return list_; }

 private:
  curl_slist* list_ = nullptr;
};

void fill_headers(HeaderList& list, const Headers& headers) {
  for (const auto& [name, value] : headers.fields()) {
    if (name.empty() || has_bytes_outside_a_line(name) || has_bytes_outside_a_line(value)) {
      throw Error(Code::invalid_argument, "the header '" + name + "' holds a line break or NUL");
    }
    const bool framing = base::equals_ignoring_case(name, "content-length") ||
                         base::equals_ignoring_case(name, "transfer-encoding");
    if (framing) continue;  // follows from the body
    list.add(base::trim(value).empty() ? name + ";" : name + ": " + value);
  }
  if (!headers.find("expect")) list.add("Expect:");  // libcurl would wait a second by itself
  if (!headers.find("accept")) list.add("Accept: */*");
}

void set_method(CURL* easy, const ClientRequest& request) {
  const bool has_body = request.stream || !request.body.empty() || request.method == "POST" ||
                        request.method == "PUT" || request.method == "PATCH";
  if (request.method.empty() || request.method.find_first_of(" \r\n\t") != std::string::npos) {
    throw Error(Code::invalid_argument, "'" + request.method + "' is no HTTP method");
  }
  if (request.method == "HEAD") {
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    return;
  }
  if (has_body) {
    const curl_off_t length =
        request.stream
            ? (request.stream->length() ? static_cast<curl_off_t>(*request.stream->length())
                                        : curl_off_t{-1})
            : static_cast<curl_off_t>(request.body.size());
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, length);
  }
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

void set_callbacks(CURL* easy, Exchange& exchange) {
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &exchange);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &exchange);
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_read);
  curl_easy_setopt(easy, CURLOPT_READDATA, &exchange);
  curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, on_seek);
  curl_easy_setopt(easy, CURLOPT_SEEKDATA, &exchange);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
}

void set_connection(CURL* easy, const ClientRequest& request, const Url& url) {
  curl_easy_setopt(easy, CURLOPT_URL, (url.origin + "/").c_str());
  // The target goes out byte for byte: signatures cover it as the caller wrote it.
  curl_easy_setopt(easy, CURLOPT_REQUEST_TARGET, url.target.c_str());
  curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(request.connect_timeout.count()));
  curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 512L * 1024);
  curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 512L * 1024);
  if (!request.unix_socket.empty()) {
    curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, request.unix_socket.c_str());
  }
  // A proxy of the environment cannot reach this machine's own loopback.
  if (!request.unix_socket.empty() || is_loopback(url.host)) {
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
  }
  if (!request.ca_file.empty()) {
    curl_easy_setopt(easy, CURLOPT_CAINFO, request.ca_file.c_str());
    curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
  }
}

Error transfer_error(CURLcode code, const std::string& origin, const char* detail) {
  const std::string text = origin + ": " + (detail && *detail ? detail : curl_easy_strerror(code));
  switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL: return Error(Code::invalid_argument, text);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE: return Error(Code::unauthenticated, text);
    case CURLE_OUT_OF_MEMORY: return Error(Code::resource_exhausted, text);
    default: return Error(Code::unavailable, text, Retry::yes);
  }
}

// Runs the transfer that is set up in `slot` to its end, `stop`, or silence for request.timeout.
CURLcode run_transfer(Slot& slot, Exchange& exchange, const std::string& origin,
                      const std::stop_token& stop) {
  const std::stop_callback wake(stop, [&] { curl_multi_wakeup(slot.multi); });
  for (int running = 1;;) {
    if (stop.stop_requested())
      throw Error(Code::cancelled, "the request to " + origin + " was cancelled");
    if (curl_multi_perform(slot.multi, &running) != CURLM_OK) return CURLE_FAILED_INIT;
    if (exchange.failure) std::rethrow_exception(exchange.failure);
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(slot.multi, &left)) {
      if (message->msg == CURLMSG_DONE) return message->data.result;
    }
    if (running == 0) return CURLE_FAILED_INIT;
    const auto silent =
        std::chrono::duration_cast<std::chrono::milliseconds>(Time::now() - exchange.last_progress);
    if (silent >= exchange.request.timeout) {
      throw Error(
          Code::deadline_exceeded,
          origin + " was silent for " + std::to_string(exchange.request.timeout.count()) + " ms",
          Retry::yes);
    }
    const auto wait = std::min<std::chrono::milliseconds>(exchange.request.timeout - silent,
                                                          std::chrono::milliseconds(1000));
    curl_multi_poll(slot.multi, nullptr, 0, static_cast<int>(wait.count()) + 1, nullptr);
  }
}

// The easy handle is with the multi handle only during the transfer.
class Attached {
 public:
  explicit Attached(Slot& slot) : slot_(slot) { curl_multi_add_handle(slot.multi, slot.easy); }
  ~Attached() { curl_multi_remove_handle(slot_.multi, slot_.easy); }

 private:
  Slot& slot_;
};

}  // namespace

struct HttpClient::State {
  // The idle slot that was last at `place`, else any idle one, else a new one.
  std::unique_ptr<Slot> take(const std::string& place) {
    const std::lock_guard lock(mutex);
    for (std::size_t i = idle.size(); i-- > 0;) {
      if (idle[i]->place == place) return remove(i);
    }
    if (idle.size() >= kMostIdle) return remove(0);
    return std::make_unique<Slot>();
  }

  void give_back(std::unique_ptr<Slot> slot) {
    curl_easy_reset(slot->easy);  // settings go, connections stay
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(slot));
    if (idle.size() > kMostIdle) idle.erase(idle.begin());
  }

  Response send(const ClientRequest& request, const Sink* sink, const std::stop_token& stop) {
    const Url url = split_url(request.url);
    Exchange exchange{.request = request, .sink = sink};
    HeaderList headers;
    fill_headers(headers, request.headers);
    const std::string place = url.origin + " " + request.unix_socket;
    auto slot = take(place);
    slot->place = place;
    CURL* easy = slot->easy;
    slot->detail[0] = '\0';
    set_connection(easy, request, url);
    set_method(easy, request);
    set_callbacks(easy, exchange);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, slot->detail);
    CURLcode result;
    {
      const Attached attached(*slot);
      result = run_transfer(*slot, exchange, url.origin, stop);
    }
    if (exchange.failure) std::rethrow_exception(exchange.failure);
    const Error error = transfer_error(result, url.origin, slot->detail);
    give_back(std::move(slot));
    if (result != CURLE_OK) throw error;
    if (!exchange.head_done) {
      throw Error(Code::unavailable, url.origin + ": the connection closed within the header",
                  Retry::yes);
    }
    return std::move(exchange.response);
  }

 private:
  static constexpr std::size_t kMostIdle = 64;
  std::unique_ptr<Slot> remove(std::size_t i) {
    auto slot = std::move(idle[i]);
    idle.erase(idle.begin() + static_cast<std::ptrdiff_t>(i));
    return slot;
  }
  std::mutex mutex;
  std::vector<std::unique_ptr<Slot>> idle;
};

HttpClient::HttpClient() {
  initialise_curl_once();
  state_ = std::make_unique<State>();
}

HttpClient::~HttpClient() = default;

Response HttpClient::send(const ClientRequest& request, std::stop_token stop) {
  return state_->send(request, nullptr, stop);
}

Response HttpClient::send(const ClientRequest& request,
                          const std::function<void(std::string_view)>& sink, std::stop_token stop) {
  return state_->send(request, &sink, stop);
}

}  // namespace meridian::net
