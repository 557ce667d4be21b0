// SPDX-License-Identifier: Apache-2.0
#include "run/inside/request_server.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "base/file.h"
#include "run/inside/view.h"
#include "run/members.h"
#include "run/message.h"

namespace meridian::run {
namespace {
constexpr std::size_t kMaxClients = 256;
}  // namespace

struct RequestServer::Client {
  base::UniqueFd fd;
  bool trusted = false;  // the daemon
  bool watching = false, waiting = false;
  std::set<std::int64_t> commands;
};

RequestServer::RequestServer(const InstanceSpec& spec, Handler& handler)
    : spec_(spec),
      handler_(handler),
      daemon_listener_(listen_at(spec.directory, "init.sock", 0600)) {}

RequestServer::~RequestServer() = default;

void RequestServer::open_gang_socket() {
  if (spec_.gang_directory.empty() || spec_.hostname.empty()) return;
  std::error_code ec;
  const auto members = spec_.gang_directory / "members";
  if (!std::filesystem::is_directory(members, ec)) return;
  gang_listener_ = listen_at(members, spec_.hostname + ".sock", 0666);
}

void RequestServer::close_gang_socket() {
  if (!gang_listener_) return;
  gang_listener_.reset();
  std::error_code ignored;
  std::filesystem::remove(spec_.gang_directory / "members" / (spec_.hostname + ".sock"), ignored);
}

void RequestServer::add_descriptors(std::vector<pollfd>& descriptors) const {
  descriptors.push_back({daemon_listener_.get(), POLLIN, 0});
  descriptors.push_back({gang_listener_.get(), POLLIN, 0});
  for (const auto& client : clients_) descriptors.push_back({client->fd.get(), POLLIN, 0});
}

void RequestServer::serve(const std::vector<pollfd>& ready) {
  std::set<int> gone;
  for (std::size_t i = 2; i < ready.size(); ++i) {
    if (ready[i].revents != 0 && !serve_client(*clients_[i - 2])) gone.insert(ready[i].fd);
  }
  std::erase_if(clients_, [&](const auto& client) { return gone.contains(client->fd.get()); });
  if (ready[0].revents != 0) accept_clients(daemon_listener_.get(), true);
  if (ready[1].revents != 0) accept_clients(gang_listener_.get(), false);
}

void RequestServer::accept_clients(int listener, bool trusted) {
  while (base::UniqueFd fd = accept_from(listener)) {
    const auto uid = peer_uid(fd.get());
    const bool daemon = uid && (*uid == 0 || *uid == geteuid());
    const bool member = uid && *uid == program_user(spec_);
    if (!(daemon || (!trusted && member)) || clients_.size() >= kMaxClients) continue;
    auto client = std::make_unique<Client>();
    client->fd = std::move(fd);
    client->trusted = trusted;
    clients_.push_back(std::move(client));
  }
}

void RequestServer::answer(Client& client, base::JsonObject body, std::span<const int> fds) {
  if (!body.contains("error") && !body.contains("event")) body["ok"] = true;
  send_message(client.fd.get(), body, fds);
}

bool RequestServer::serve_client(Client& client) {
  const auto message = receive_message(client.fd.get());
  if (!message) return false;
  const base::Json body(message->body);
  const std::string op = base::string_or(body, "op");
  std::vector<int> fds;
  for (const auto& fd : message->fds) fds.push_back(fd.get());
  if (op == "hello") {
    answer(client,
           {{"id", spec_.id}, {"pid", getpid()}, {"protocol", kProtocol}, {"started", started_}});
  } else if (op == "ready") {
    base::write_file(spec_.gang_directory / "members" / ready_mark(spec_.hostname), "");
    answer(client, {});
  } else if (op == "watch") {
    client.watching = true;
    answer(client, {});
    if (started_) answer(client, {{"event", "started"}});
  } else if (op == "wait") {
    client.waiting = true;
  } else if (op == "exec") {
    run_command(client, body, fds);
  } else if (op == "stop" && client.trusted) {
    handler_.stop();
    answer(client, {});
  } else if (op == "kill" && client.trusted) {
    handler_.kill_all();
    answer(client, {});
  } else if (op == "connect" && client.trusted) {
    connect_inside(client, body);
  } else {
    answer(client, {{"error", "unknown request '" + op + "'"}});
  }
  return true;
}

void RequestServer::run_command(Client& client, const base::Json& body, std::span<const int> fds) {
  const base::Json* argv = base::find(body, "argv");
  if (argv == nullptr || !argv->is_array() || argv->as_array().empty() || fds.size() != 3) {
    return answer(client, {{"error", "exec wants argv and three descriptors"}});
  }
  const std::int64_t id = next_command_++;
  client.commands.insert(id);
  if (!handler_.execute(id, argv->as_array(), fds)) {
    client.commands.erase(id);
    answer(client, {{"error", "nothing can run here any more"}});
  }
}

// This process is in the gang's network namespace: a socket made here stays there, wherever its
// descriptor goes.
void RequestServer::connect_inside(Client& client, const base::Json& body) {
  const std::int64_t port = base::int_or(body, "port", 0);
  if (port < 1 || port > 65535) return answer(client, {{"error", "port must be 1 to 65535"}});
  const base::UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (!fd || connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return answer(client, {{"error", std::string("cannot connect: ") + strerror(errno)}});
  }
  const int fds[] = {fd.get()};
  answer(client, {}, fds);
}

void RequestServer::program_started() {
  started_ = true;
  for (const auto& client : clients_) {
    if (client->watching) answer(*client, {{"event", "started"}});
  }
}

void RequestServer::command_ended(std::int64_t id, int wait_status) {
  for (const auto& client : clients_) {
    if (client->commands.erase(id) > 0) answer(*client, {{"status", wait_status}});
  }
}

void RequestServer::program_ended(const ExitStatus& status) {
  for (const auto& client : clients_) {
    if (client->waiting) {
      answer(*client, {{"exited", status.kind == ExitStatus::Kind::exited}, {"code", status.code}});
    }
  }
}

}  // namespace meridian::run
