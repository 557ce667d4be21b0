// SPDX-License-Identifier: Apache-2.0
#include "xgboost/tracker.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <list>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/file.h"

namespace meridian::xgboost {
namespace {

constexpr std::int32_t kMagic = 0xff99;
constexpr std::int32_t kLongestText = 1 << 20;

[[noreturn]] void broken(const std::string& what) {
  throw base::Error(base::Code::invalid_argument, "rendezvous: " + what);
}

// One worker's connection; numbers are 32 bits in the machine's own order, texts a length and
// bytes.
class Peer {
 public:
  Peer(base::UniqueFd socket, std::string host)
      : socket_(std::move(socket)), host(std::move(host)) {
    if (receive_int() != kMagic) broken("not a worker");
    send_int(kMagic);
    rank = receive_int();
    workers = receive_int();
    task = receive_text();
    command = receive_text();
  }

  std::int32_t receive_int() {
    std::int32_t value = 0;
    receive(reinterpret_cast<char*>(&value), sizeof value);
    return value;
  }
  std::string receive_text() {
    const auto size = receive_int();
    if (size < 0 || size > kLongestText) broken("a text of " + std::to_string(size) + " bytes");
    std::string text(static_cast<std::size_t>(size), '\0');
    receive(text.data(), text.size());
    return text;
  }
  void send_int(std::int32_t value) {
    send_bytes({reinterpret_cast<const char*>(&value), sizeof value});
  }
  void send_text(const std::string& text) {
    send_int(static_cast<std::int32_t>(text.size()));
    send_bytes(text);
  }

 private:
  void receive(char* to, std::size_t size) {
    while (size > 0) {
      const auto got = recv(socket_.get(), to, size, 0);
      if (got <= 0) broken("a worker left");
      to += got;
      size -= static_cast<std::size_t>(got);
    }
  }
  void send_bytes(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) broken("a worker left");
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  base::UniqueFd socket_;

 public:
  std::string host, task, command;
  std::int32_t rank = -1, workers = -1;
  std::int32_t port = 0;        // where it listens for neighbours
  int connections_awaited = 0;  // neighbours that will still connect to it
};

base::UniqueFd listen_on(std::uint16_t port, std::uint16_t& bound) {
  base::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(port);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(socket.get(), generic, size) != 0 || listen(socket.get(), 256) != 0)
    throw base::errno_error(errno, "listening on port " + std::to_string(port));
  getsockname(socket.get(), generic, &size);
  bound = ntohs(address.sin_port);
  return socket;
}

}  // namespace

Links links_of(int rank, int workers) {
  Links links;
  if (rank > 0) {
    links.parent = (rank - 1) / 2;
    links.tree.push_back(links.parent);
  }
  for (int child : {2 * rank + 1, 2 * rank + 2})
    if (child < workers) links.tree.push_back(child);
  if (workers > 1) {
    links.previous = (rank + workers - 1) % workers;
    links.next = (rank + 1) % workers;
  }
  return links;
}

struct Tracker::State {
  State(std::uint16_t wanted, int count) : workers(count), listener(listen_on(wanted, port)) {
    thread = std::thread([this] { serve(); });
  }
  ~State() {
    eventfd_write(stop.get(), 1);
    thread.join();
  }

  void serve() {
    for (;;) {
      pollfd waiting[2] = {{listener.get(), POLLIN, 0}, {stop.get(), POLLIN, 0}};
      if (poll(waiting, 2, -1) < 0) continue;
      if (waiting[1].revents != 0) return;
      accept_one();
    }
  }

  void accept_one() {
    sockaddr_in from{};
    socklen_t size = sizeof from;
    base::UniqueFd socket(
        accept4(listener.get(), reinterpret_cast<sockaddr*>(&from), &size, SOCK_CLOEXEC));
    if (!socket) return;
    const timeval patience{60, 0};  // a worker that stalls must not hold the others for ever
    setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    char host[INET_ADDRSTRLEN] = "";
    inet_ntop(AF_INET, &from.sin_addr, host, sizeof host);
    try {
      take(std::make_shared<Peer>(std::move(socket), host));
    } catch (const base::Error& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
  }

  void take(const std::shared_ptr<Peer>& peer) {
    if (peer->command == "print") {
      std::fputs(peer->receive_text().c_str(), stdout);
      std::fflush(stdout);
    } else if (peer->command == "start") {
      arrived.push_back(peer);
      if (arrived.size() == static_cast<std::size_t>(workers)) introduce_all();
    } else if (peer->command == "recover") {
      introduce(peer, peer->rank);
    } else if (peer->command != "shutdown" && peer->command != "null") {
      broken("unknown command '" + peer->command + "'");
    }
  }

  void introduce_all() {
    arrived.sort([](const auto& a, const auto& b) {
      return std::pair(a->task.size(), a->task) < std::pair(b->task.size(), b->task);
    });
    int rank = 0;
    for (const auto& peer : arrived) introduce(peer, rank++);
    arrived.clear();
  }

  // Tells the worker its place, then connects it to those of its neighbours that listen already.
  void introduce(const std::shared_ptr<Peer>& peer, int rank) {
    const auto links = links_of(rank, workers);
    peer->rank = rank;
    peer->send_int(rank);
    peer->send_int(links.parent);
    peer->send_int(workers);
    peer->send_int(static_cast<std::int32_t>(links.tree.size()));
    std::set<int> neighbours(links.tree.begin(), links.tree.end());
    for (int neighbour : links.tree) peer->send_int(neighbour);
    for (int neighbour : {links.previous, links.next}) {
      const bool other = neighbour >= 0 && neighbour != rank;
      peer->send_int(other ? neighbour : -1);
      if (other) neighbours.insert(neighbour);
    }
    while (!connect_neighbours(*peer, neighbours)) {
    }
    if (peer->connections_awaited > 0) listening[rank] = peer;
  }

  bool connect_neighbours(Peer& peer, const std::set<int>& neighbours) {
    std::set<int> missing = neighbours;
    for (auto good = peer.receive_int(); good > 0; --good) missing.erase(peer.receive_int());
    std::vector<int> reachable;
    for (int rank : missing)
      if (listening.contains(rank)) reachable.push_back(rank);
    const auto later = static_cast<std::int32_t>(missing.size() - reachable.size());
    peer.send_int(static_cast<std::int32_t>(reachable.size()));
    peer.send_int(later);
    for (int rank : reachable) {
      peer.send_text(listening[rank]->host);
      peer.send_int(listening[rank]->port);
      peer.send_int(rank);
    }
    if (peer.receive_int() != 0) return false;  // some failed: it says anew which are good
    peer.port = peer.receive_int();
    peer.connections_awaited = later;
    for (int rank : reachable)
      if (--listening[rank]->connections_awaited == 0) listening.erase(rank);
    return true;
  }

  int workers;
  std::uint16_t port = 0;
  base::UniqueFd listener;
  base::UniqueFd stop{eventfd(0, EFD_CLOEXEC)};
  std::list<std::shared_ptr<Peer>> arrived;
  std::map<int, std::shared_ptr<Peer>> listening;  // by rank: neighbours will connect to them
  std::thread thread;
};

Tracker::Tracker(std::uint16_t port, int workers)
    : state_(std::make_unique<State>(port, workers)) {}
Tracker::~Tracker() = default;
std::uint16_t Tracker::port() const { return state_->port; }

}  // namespace meridian::xgboost
