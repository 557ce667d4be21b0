// SPDX-License-Identifier: Apache-2.0
#include "run/inside/credential_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"

namespace meridian::run {
namespace {

constexpr std::uint16_t kHttp = 80;
constexpr std::size_t kMaxRequest = 16u << 10;

std::string http_answer(const char* status, const std::string& body) {
  return std::string("HTTP/1.1 ") + status +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\n\r\n" + body;
}

sockaddr_in address_of(const char* host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  inet_pton(AF_INET, host, &address.sin_addr);
  return address;
}

base::UniqueFd listen_on(const sockaddr_in& address) {
  base::UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  // Each instance of a gang has a server on the same port: any of them may end first.
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.sin_port != 0) setsockopt(fd.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  if (!fd || bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(fd.get(), 64) != 0) {
    return {};
  }
  return fd;
}

std::uint16_t port_of(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

// A client has two seconds to ask and to read.
void serve_one(int fd, const std::string& path, const JobCredentials& credentials) {
  const timeval patience{2, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  std::string request;
  while (request.find("\r\n\r\n") == std::string::npos && request.size() < kMaxRequest) {
    char buffer[4096];
    const ssize_t n = recv(fd, buffer, sizeof buffer, 0);
    if (n <= 0) return;
    request.append(buffer, static_cast<std::size_t>(n));
  }
  const std::string answer = credential_answer(request, path, credentials);
  for (std::size_t sent = 0; sent < answer.size();) {
    const ssize_t n = send(fd, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return;
    sent += static_cast<std::size_t>(n);
  }
  shutdown(fd, SHUT_WR);
}

[[noreturn]] void serve(int listener, const std::string& path, const JobCredentials& credentials) {
  while (true) {
    const base::UniqueFd client(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    if (client) serve_one(client.get(), path, credentials);
  }
}

// The same for all instances of a gang, since any of their servers may get the connection.
std::string path_in_gang(const InstanceSpec& spec) {
  std::string name = spec.gang;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '.'; }, '-');
  return "/v2/credentials/" + name;
}

// Others are on the host's network too: only the program knows it.
std::string secret_path() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes))
    throw base::errno_error(errno, "cannot get random bytes");
  std::string path = "/v2/credentials/";
  for (const unsigned char byte : bytes) {
    path += "0123456789abcdef"[byte >> 4];
    path += "0123456789abcdef"[byte & 15];
  }
  return path;
}

}  // namespace

std::string credential_answer(const std::string& request, const std::string& path,
                              const JobCredentials& credentials) {
  const std::string line = request.substr(0, request.find("\r\n"));
  if (!line.starts_with("GET "))
    return http_answer("405 Method Not Allowed", R"({"message":"GET only"})");
  const std::string target = line.substr(4, line.find(' ', 4) - 4);
  if (target != path)
    return http_answer("404 Not Found", R"({"message":"there are no credentials here"})");
  return http_answer("200 OK",
                     base::to_text(base::JsonObject{
                         {"RoleArn", credentials.role_arn},
                         {"AccessKeyId", credentials.access_key_id},
                         {"SecretAccessKey", credentials.secret},
                         {"Token", credentials.session_token},
                         {"Expiration", base::format_iso8601_seconds(credentials.expires)}}));
}

CredentialServer start_credential_server(const InstanceSpec& spec, bool in_gang) {
  const JobCredentials& credentials = *spec.credentials;
  CredentialServer server{.variable = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"};
  std::string path = path_in_gang(spec);
  server.value = path;
  base::UniqueFd listener;
  if (in_gang) listener = listen_on(address_of(kCredentialAddress, kHttp));
  if (!listener) {
    listener = listen_on(address_of("127.0.0.1", 0));
    if (!listener) throw base::errno_error(errno, "cannot listen for questions about credentials");
    path = secret_path();
    server.variable = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
    server.value = "http://127.0.0.1:" + std::to_string(port_of(listener.get())) + path;
  }
  server.pid = fork();
  if (server.pid < 0) throw base::errno_error(errno, "cannot fork");
  if (server.pid > 0) return server;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "meridian-keys");
  dup2(listener.get(), 3);
  close_range(4, ~0U, 0);
  serve(3, path, credentials);
}

}  // namespace meridian::run
