// SPDX-License-Identifier: Apache-2.0
#include "net/server.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "base/error.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/sync.h"
#include "net/connection.h"
#include "net/exchange.h"
#include "net/listener.h"
#include "net/worker_pool.h"

namespace meridian::net {
namespace {

using Clock = std::chrono::steady_clock;
using Ms = std::chrono::milliseconds;
using Outcome = Stream::Outcome;

constexpr Ms kLinger{2'000};     // how long a client may take to read its last answer
constexpr Ms kAcceptPause{100};  // after running out of descriptors
constexpr std::size_t kAcceptsAtOnce = 64;

base::UniqueFd checked(int fd, const char* what) {
  if (fd < 0) throw base::errno_error(errno, what);
  return base::UniqueFd(fd);
}

std::unique_ptr<TlsContext> make_tls(const ServerSettings& settings) {
  if (settings.tls_certificate_file.empty() && settings.tls_key_file.empty()) return nullptr;
  if (settings.tls_certificate_file.empty() || settings.tls_key_file.empty()) {
    throw base::Error(base::Code::invalid_argument,
                      "TLS needs both a certificate file and a key file");
  }
  return std::make_unique<TlsContext>(settings.tls_certificate_file, settings.tls_key_file);
}

void count_refusal(int status) {
  base::metrics()
      .counter("meridian_http_refused_total", "Requests refused before any handler saw them",
               {{"status", std::to_string(status)}})
      .add();
}

}  // namespace

struct HttpServer::State {
  State(ServerSettings s, Handler h);
  ~State() { stop(); }
  void stop() {
    std::call_once(stopped, [this] { stop_now(); });
  }

  const ServerSettings settings;
  const Handler handler;
  const std::unique_ptr<TlsContext> tls;
  Listener listener;
  const std::uint16_t port;

 private:
  enum class Filled { head, partly, closed, refused };

  void stop_now();

  // In the poller's thread.
  void poll();
  void accept_some();
  void add(Accepted accepted);
  void dispatch(const std::vector<Connection*>& ready);
  void refuse_for_load(Connection& connection);
  void close_late_ones();
  void watch_listener(bool on);

  // In a worker's thread.
  void serve(Connection& connection);
  bool greet(Connection& connection);
  Filled fill(Connection& connection, RequestHead& head);
  Filled find_head(Connection& connection, RequestHead& head);
  void refuse(Connection& connection, const Refusal& refusal);
  void linger(Connection& connection);
  void drain(Connection& connection);

  // In either.
  void park(Connection& connection, Clock::time_point deadline, std::uint32_t events = EPOLLIN);
  void close(Connection& connection);
  void unwatch(Connection& connection);

  const base::UniqueFd epoll;
  const base::UniqueFd wake;
  std::atomic<bool> stopping = false;
  std::once_flag stopped;
  Clock::time_point accept_again{};  // while the listener is paused
  bool accepting = true;
  base::Sync<std::unordered_map<Connection*, std::unique_ptr<Connection>>> connections;
  std::unique_ptr<WorkerPool> workers;
  std::thread poller;
};

HttpServer::State::State(ServerSettings s, Handler h)
    : settings(std::move(s)),
      handler(std::move(h)),
      tls(make_tls(settings)),
      listener(settings.listen),
      port(listener.port()),
      epoll(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      wake(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {
  workers = std::make_unique<WorkerPool>(settings.max_workers, settings.max_queue,
                                         [this](Connection* c) { serve(*c); });
  epoll_event event{.events = EPOLLIN, .data = {.ptr = &stopping}};
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, wake.get(), &event) != 0) {
    throw base::errno_error(errno, "epoll_ctl");
  }
  event = {.events = EPOLLIN, .data = {.ptr = nullptr}};
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, listener.fd(), &event) != 0) {
    throw base::errno_error(errno, "epoll_ctl");
  }
  poller = std::thread([this] { poll(); });
}

void HttpServer::State::stop_now() {
  stopping = true;
  const std::uint64_t one = 1;
  (void)!::write(wake.get(), &one, sizeof one);
  poller.join();
  listener.close();
  {
    auto all = connections.lock();
    std::erase_if(*all, [](const auto& entry) {
      const std::lock_guard lock(entry.second->mutex);
      return entry.second->parked;
    });
    // Handlers at work may finish; each closes its connection then.
    const auto until = Clock::now() + settings.stop_grace;
    if (!all.wait_until({}, until, [](const auto& left) { return left.empty(); })) {
      base::log_warn("requests are cut off", {{"count", std::to_string(all->size())}});
      for (const auto& entry : *all) entry.first->stream.interrupt();
    }
  }
  workers.reset();
  connections.lock()->clear();
}

void HttpServer::State::poll() {
  pthread_setname_np(pthread_self(), "net-poller");
  const Ms sweep_every =
      std::clamp(std::min(settings.header_timeout, settings.idle_timeout) / 4, Ms(5), Ms(500));
  auto next_sweep = Clock::now() + sweep_every;
  std::vector<epoll_event> events(256);
  std::vector<Connection*> ready;
  while (!stopping) {
    const Ms longest = accepting ? sweep_every : std::min(sweep_every, kAcceptPause);
    const int timeout = workers->jobs_wait() ? 1 : static_cast<int>(longest.count());
    const int count =
        ::epoll_wait(epoll.get(), events.data(), static_cast<int>(events.size()), timeout);
    ready.clear();
    for (int i = 0; i < count; ++i) {
      void* const what = events[static_cast<std::size_t>(i)].data.ptr;
      if (what == nullptr) {
        accept_some();
      } else if (what != &stopping) {
        ready.push_back(static_cast<Connection*>(what));
      }
    }
    if (!ready.empty()) dispatch(ready);
    workers->relieve();
    const auto now = Clock::now();
    if (!accepting && now >= accept_again) watch_listener(true);
    if (now >= next_sweep) {
      next_sweep = now + sweep_every;
      close_late_ones();
    }
  }
}

void HttpServer::State::watch_listener(bool on) {
  epoll_event event{.events = on ? static_cast<std::uint32_t>(EPOLLIN) : 0u,
                    .data = {.ptr = nullptr}};
  ::epoll_ctl(epoll.get(), EPOLL_CTL_MOD, listener.fd(), &event);
  accepting = on;
}

void HttpServer::State::accept_some() {
  for (std::size_t i = 0; i < kAcceptsAtOnce; ++i) {
    Accepted accepted = listener.accept();
    if (accepted.socket) {
      add(std::move(accepted));
    } else {
      if (accepted.error == 0) return;
      // Out of descriptors or memory: those that wait stay in the kernel's queue for a moment.
      base::log_warn("cannot accept connections",
                     {{"why", base::errno_error(accepted.error, "accept").message()}});
      accept_again = Clock::now() + kAcceptPause;
      watch_listener(false);
      return;
    }
  }
}

void HttpServer::State::add(Accepted accepted) try {
  const int fd = accepted.socket.get();
  auto connection = std::make_unique<Connection>(
      Stream(std::move(accepted.socket), tls ? tls->make_session(fd) : nullptr),
      std::move(accepted.peer));
  const auto now = Clock::now();
  connection->greeted = tls == nullptr;
  connection->head_deadline = now + settings.header_timeout;
  connection->parked = true;
  connection->deadline = now + (tls ? settings.header_timeout : settings.idle_timeout);
  Connection* const raw = connection.get();
  {
    auto all = connections.lock();
    if (all->size() >= settings.max_connections) return;
    all->emplace(raw, std::move(connection));
  }
  epoll_event event{.events = EPOLLIN | EPOLLONESHOT, .data = {.ptr = raw}};
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) != 0) close(*raw);
} catch (const base::Error& error) {
  base::log_warn("a connection is dropped", {{"why", error.what()}});
}

void HttpServer::State::dispatch(const std::vector<Connection*>& ready) {
  for (Connection* connection : ready) {
    const std::lock_guard lock(connection->mutex);
    connection->parked = false;
  }
  for (Connection* connection : workers->push(ready)) refuse_for_load(*connection);
}

void HttpServer::State::refuse_for_load(Connection& connection) {
  count_refusal(503);
  if (connection.stream.secure() || connection.draining) return close(connection);
  connection.stream.try_discard();
  connection.stream.try_write(refusal_text({503, "the server is busy; try again"}));
  linger(connection);
}

void HttpServer::State::close_late_ones() {
  const auto now = Clock::now();
  auto all = connections.lock();
  std::erase_if(*all, [&](const auto& entry) {
    const std::lock_guard lock(entry.second->mutex);
    const bool late = entry.second->parked && entry.second->deadline <= now;
    if (late) unwatch(*entry.second);
    return late;
  });
}

void HttpServer::State::park(Connection& connection, Clock::time_point deadline,
                             std::uint32_t events) {
  // Under the lock to the end: the poller waits for it before it acts on an event or a deadline,
  // and stop() before it looks for parked connections.
  std::unique_lock lock(connection.mutex);
  if (stopping) {
    lock.unlock();
    return close(connection);
  }
  connection.parked = true;
  connection.deadline = deadline;
  epoll_event event{.events = events | EPOLLONESHOT, .data = {.ptr = &connection}};
  ::epoll_ctl(epoll.get(), EPOLL_CTL_MOD, connection.stream.fd(), &event);
}

// Closing alone does not end the watch while a program that is just being started still holds a
// copy of the descriptor: an event could come for a connection that is no more.
void HttpServer::State::unwatch(Connection& connection) {
  ::epoll_ctl(epoll.get(), EPOLL_CTL_DEL, connection.stream.fd(), nullptr);
}

void HttpServer::State::close(Connection& connection) {
  unwatch(connection);
  auto all = connections.lock();
  all->erase(&connection);
  if (stopping) connections.notify_all();
}

void HttpServer::State::linger(Connection& connection) {
  connection.stream.end_writing();
  connection.draining = true;
  connection.inbox.clear();
  park(connection, Clock::now() + kLinger);
}

void HttpServer::State::drain(Connection& connection) {
  if (Clock::now() >= connection.deadline) return close(connection);
  for (int i = 0; i < 64; ++i) {
    const auto progress = connection.stream.try_discard();
    if (progress.outcome == Outcome::want_read) break;
    if (progress.outcome != Outcome::moved) return close(connection);
  }
  park(connection, connection.deadline);
}

void HttpServer::State::refuse(Connection& connection, const Refusal& refusal) {
  count_refusal(refusal.status);
  connection.stream.try_write(refusal_text(refusal));
  linger(connection);
}

bool HttpServer::State::greet(Connection& connection) {
  if (connection.greeted) return true;
  const auto progress = connection.stream.try_greet();
  if (progress.outcome == Outcome::moved) {
    connection.greeted = true;
    return true;
  }
  const bool waits =
      progress.outcome == Outcome::want_read || progress.outcome == Outcome::want_write;
  if (!waits) {
    close(connection);
  } else {
    park(connection, connection.head_deadline,
         progress.outcome == Outcome::want_write ? EPOLLOUT : EPOLLIN);
  }
  return false;
}

HttpServer::State::Filled HttpServer::State::find_head(Connection& connection, RequestHead& head) {
  if (connection.inbox.empty()) return Filled::partly;
  const auto size = connection.finder.find(connection.inbox.pending());
  if (!size) {
    refuse(connection, size.error());
    return Filled::refused;
  }
  if (*size == 0) return Filled::partly;
  auto parsed = parse_head(connection.inbox.pending().substr(0, *size));
  if (!parsed) {
    refuse(connection, parsed.error());
    return Filled::refused;
  }
  head = std::move(*parsed);
  connection.inbox.drop(*size);
  connection.finder.reset();
  return Filled::head;
}

// Takes what has come until a head is complete. Never waits.
HttpServer::State::Filled HttpServer::State::fill(Connection& connection, RequestHead& head) {
  static thread_local char scratch[16 * 1024];
  while (true) {
    if (const Filled filled = find_head(connection, head); filled != Filled::partly) return filled;
    const auto progress = connection.stream.try_read(scratch, sizeof scratch);
    switch (progress.outcome) {
      case Outcome::moved:
        if (connection.inbox.empty()) {
          connection.head_deadline = Clock::now() + settings.header_timeout;
        }
        connection.inbox.append(scratch, progress.bytes);
        break;
      case Outcome::end:
      case Outcome::failed: close(connection); return Filled::closed;
      default: return Filled::partly;
    }
  }
}

void HttpServer::State::serve(Connection& connection) {
  if (connection.draining) return drain(connection);
  if (!greet(connection)) return;
  while (true) {
    RequestHead head;
    const Filled filled = fill(connection, head);
    if (filled == Filled::closed || filled == Filled::refused) return;
    if (filled == Filled::partly) {
      return park(connection, connection.inbox.empty() ? Clock::now() + settings.idle_timeout
                                                       : connection.head_deadline);
    }
    const Next next = run_exchange(connection, std::move(head), handler,
                                   {.body_timeout = settings.body_timeout,
                                    .min_body_rate = settings.min_body_rate,
                                    .stopping = stopping});
    if (next == Next::linger) return linger(connection);
    if (next == Next::close) return close(connection);
    // Of the next request, a part may have come while this one ran: its time begins now.
    if (!connection.inbox.empty())
      connection.head_deadline = Clock::now() + settings.header_timeout;
  }
}

HttpServer::HttpServer(ServerSettings settings, Handler handler)
    : state_(std::make_unique<State>(std::move(settings), std::move(handler))) {}

HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const { return state_->port; }

void HttpServer::stop() { state_->stop(); }

}  // namespace meridian::net
