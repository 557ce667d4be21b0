// SPDX-License-Identifier: Apache-2.0
#include "net/client.h"

#include <curl/curl.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "base/strings.h"
#include "net/client_transfer.h"

namespace meridian::net {
namespace {

using base::Code;
using base::Error;
using base::Retry;
using Time = std::chrono::steady_clock;

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

void set_blob(CURL* easy, CURLoption option, const std::string& text) {
  if (text.empty()) return;
  // libcurl does not write to it, and takes a copy.
  curl_blob blob{const_cast<char*>(text.data()), text.size(), CURL_BLOB_COPY};
  curl_easy_setopt(easy, option, &blob);
}

void set_tls(CURL* easy, const ClientRequest& request) {
  set_blob(easy, CURLOPT_CAINFO_BLOB, request.ca_pem);
  if (!request.ca_pem.empty()) curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
  set_blob(easy, CURLOPT_SSLCERT_BLOB, request.certificate_pem);
  set_blob(easy, CURLOPT_SSLKEY_BLOB, request.key_pem);
  if (request.verify == ClientRequest::Verify::no) {
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
  }
}

void set_connection(CURL* easy, const ClientRequest& request, const Url& url,
                    const std::string& ca_file) {
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
  if (!ca_file.empty()) {
    curl_easy_setopt(easy, CURLOPT_CAINFO, ca_file.c_str());
    curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
  }
  set_tls(easy, request);
}

Error transfer_error(CURLcode code, const std::string& origin, const char* detail) {
  const std::string text = origin + ": " + (detail && *detail ? detail : curl_easy_strerror(code));
  switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL: return Error(Code::invalid_argument, text);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE: return Error(Code::unauthenticated, text);
    case CURLE_OUT_OF_MEMORY: return Error(Code::resource_exhausted, text);
    default: return Error(Code::unavailable, text, Retry::yes);
  }
}

// Runs the transfer that is set up in `slot` to its end, `stop`, or silence for request.timeout.
CURLcode run_transfer(Slot& slot, Transfer& transfer, const std::string& origin,
                      const std::stop_token& stop) {
  const std::stop_callback wake(stop, [&] { curl_multi_wakeup(slot.multi); });
  for (int running = 1;;) {
    if (stop.stop_requested())
      throw Error(Code::cancelled, "the request to " + origin + " was cancelled");
    if (curl_multi_perform(slot.multi, &running) != CURLM_OK) return CURLE_FAILED_INIT;
    if (transfer.failure) std::rethrow_exception(transfer.failure);
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(slot.multi, &left)) {
      if (message->msg == CURLMSG_DONE) return message->data.result;
    }
    if (running == 0) return CURLE_FAILED_INIT;
    const auto silent =
        std::chrono::duration_cast<std::chrono::milliseconds>(Time::now() - transfer.last_progress);
    if (silent >= transfer.request.timeout) {
      throw Error(
          Code::deadline_exceeded,
          origin + " was silent for " + std::to_string(transfer.request.timeout.count()) + " ms",
          Retry::yes);
    }
    const auto wait = std::min<std::chrono::milliseconds>(transfer.request.timeout - silent,
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

  Response send(const ClientRequest& request, const BodySink* sink, const std::stop_token& stop) {
    const Url url = split_url(request.url);
    Transfer transfer{.request = request, .sink = sink};
    HeaderList headers;
    fill_headers(headers, request.headers);
    const std::string place = url.origin + " " + request.unix_socket;
    auto slot = take(place);
    slot->place = place;
    CURL* easy = slot->easy;
    slot->detail[0] = '\0';
    set_connection(easy, request, url, request.ca_file.empty() ? ca_file : request.ca_file);
    set_method(easy, request);
    transfer.attach(easy);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, slot->detail);
    CURLcode result;
    {
      const Attached attached(*slot);
      result = run_transfer(*slot, transfer, url.origin, stop);
    }
    if (transfer.failure) std::rethrow_exception(transfer.failure);
    const Error error = transfer_error(result, url.origin, slot->detail);
    give_back(std::move(slot));
    if (result != CURLE_OK) throw error;
    if (!transfer.head_done) {
      throw Error(Code::unavailable, url.origin + ": the connection closed within the header",
                  Retry::yes);
    }
    return std::move(transfer.response);
  }

  std::string ca_file;

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

HttpClient::HttpClient(std::string ca_file) {
  initialise_curl_once();
  state_ = std::make_unique<State>();
  state_->ca_file = std::move(ca_file);
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
