// What a supervisor answers: the daemon on `init.sock` (everything), and programs of its gang on
// `members/<host>.sock` (run a command here as MPI's launch agent asks; wait for the end).
//
//   {"op": "hello"}                    → {"ok", "id", "pid", "protocol", "started"}
//   {"op": "ready"}                    → {"ok"}; this host's program is set up: marked for the gang
//   {"op": "watch"}                    → {"ok"}, later {"event": "started"}
//   {"op": "stop"} {"op": "kill"}      → {"ok"}                                  daemon only
//   {"op": "connect", "port": N}       → {"ok"} + a socket connected to the program's port
//   {"op": "exec", "argv": […]} + 3 fds → {"ok", "status": wait status} when it has ended
//   {"op": "wait"}                     → {"ok", "kind", "code"} when the program has ended
//   anything else                      → {"error"}
//
// Part of the supervisor's one loop: never blocks.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "run/instance.h"

namespace meridian::run {

class RequestServer {
 public:
  class Handler {
   public:
    virtual ~Handler() = default;
    virtual void stop() = 0;
    virtual void kill_all() = 0;
    // Starts a command inside; later command_ended(id). False when nothing can run any more.
    virtual bool execute(std::int64_t id, const base::JsonArray& argv,
                         std::span<const int> fds) = 0;
  };

  RequestServer(const InstanceSpec& spec, Handler& handler);
  ~RequestServer();

  void open_gang_socket();  // once commands can run inside
  void close_gang_socket();
  void add_descriptors(std::vector<pollfd>& descriptors) const;
  void serve(const std::vector<pollfd>& ready);  // what add_descriptors added, after poll

  void program_started();
  void command_ended(std::int64_t id, int wait_status);
  void program_ended(const ExitStatus& status);

 private:
  struct Client;
  void accept_clients(int listener, bool trusted);
  bool serve_client(Client& client);  // false: the conversation is over
  void answer(Client& client, base::JsonObject body, std::span<const int> fds = {});
  void run_command(Client& client, const base::Json& body, std::span<const int> fds);
  void connect_inside(Client& client, const base::Json& body);

  const InstanceSpec& spec_;
  Handler& handler_;
  base::UniqueFd daemon_listener_, gang_listener_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::int64_t next_command_ = 1;
  bool started_ = false;
};

}  // namespace meridian::run
