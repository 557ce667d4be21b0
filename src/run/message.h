// Messages between the daemon, supervisors and what runs inside: one JSON object and some file
// descriptors per SOCK_SEQPACKET packet.
//
// Foreign bytes: a packet that is too long, or not a JSON object, ends the conversation.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"

namespace meridian::run {

// Increased when a released daemon could misunderstand; additions do not count.
inline constexpr int kProtocol = 1;

struct Message {
  base::JsonObject body;
  std::vector<base::UniqueFd> fds;
};

// False when the other side is gone (or does not read: the packet is then lost).
bool send_message(int socket, const base::JsonObject& body, std::span<const int> fds = {});
// Nothing: the other side closed, sent nonsense, or (non-blocking sockets) nothing is there.
std::optional<Message> receive_message(int socket);

// Sockets by directory and name, however long the directory's path is (sun_path holds 108 bytes).
base::UniqueFd listen_at(const std::filesystem::path& directory, const std::string& name,
                         mode_t mode);
// Invalid when nobody listens there. `patience` bounds each later send and receive.
base::UniqueFd connect_to(const std::filesystem::path& directory, const std::string& name,
                          base::Duration patience);
base::UniqueFd accept_from(int listener);  // invalid when nobody waits

// The uid at the other end, as this process's user namespace sees it.
std::optional<uid_t> peer_uid(int socket);

}  // namespace meridian::run
