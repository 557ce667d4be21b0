// Runs a credential plug-in: its answer on standard output, within a time and a size.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "base/file.h"
#include "base/strings.h"
#include "kube/client/credentials.h"
#include "kube/object.h"

extern char** environ;  // NOLINT: POSIX's own

namespace meridian::kube {
namespace {

using base::Code;
using base::Error;
using base::Json;
using base::UniqueFd;
using std::chrono::steady_clock;

constexpr std::size_t longest_output = 1u << 20;
constexpr std::size_t last_words = 2048;

struct Pipe {
  UniqueFd read, write;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw base::errno_error(errno, "pipe");
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

std::vector<std::string> environment_of(const ExecPlugin& plugin) {
  base::JsonObject spec{{"interactive", false}};
  if (!plugin.cluster.is_null()) spec["cluster"] = plugin.cluster;
  const Json info = base::JsonObject{
      {"apiVersion", plugin.api_version}, {"kind", "ExecCredential"}, {"spec", std::move(spec)}};
  std::vector<std::string> own{"KUBERNETES_EXEC_INFO=" + base::to_text(info)};
  for (const auto& [name, value] : plugin.environment) own.push_back(name + "=" + value);
  std::vector<std::string> out;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view entry(*one);
    const std::string_view name = entry.substr(0, entry.find('=') + 1);
    const bool replaced = std::any_of(own.begin(), own.end(),
                                      [&](const auto& mine) { return mine.starts_with(name); });
    if (!replaced) out.emplace_back(entry);
  }
  out.insert(out.end(), own.begin(), own.end());
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (auto& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// The running plug-in; killed and reaped with its owner.
class Child {
 public:
  Child(const ExecPlugin& plugin, const Pipe& output, const Pipe& errors) {
    std::vector<std::string> arguments{plugin.command};
    arguments.insert(arguments.end(), plugin.arguments.begin(), plugin.arguments.end());
    std::vector<std::string> environment = environment_of(plugin);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output.write.get(), 1);
    posix_spawn_file_actions_adddup2(&files, errors.write.get(), 2);
    const int error = posix_spawnp(&pid_, plugin.command.c_str(), &files, nullptr,
                                   pointers(arguments).data(), pointers(environment).data());
    posix_spawn_file_actions_destroy(&files);
    if (error == 0) return;
    const std::string hint = plugin.install_hint.empty() ? "" : ": " + plugin.install_hint;
    throw Error(Code::unauthenticated, fmt::format("cannot start the credential plug-in '{}': {}{}",
                                                   plugin.command, strerror(error), hint));
  }
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // The exit code, 128 + signal; 0 when somebody else has reaped it.
  int wait() {
    int status = 0;
    pid_t got = 0;
    do {
      got = ::waitpid(pid_, &status, 0);
    } while (got < 0 && errno == EINTR);
    pid_ = 0;
    if (got < 0) return 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_ = 0;
};

// Appends what there is; false at the end.
bool read_some(const UniqueFd& from, std::string& to, std::size_t most) {
  std::array<char, 4096> piece{};
  const ssize_t got = ::read(from.get(), piece.data(), piece.size());
  if (got < 0) return errno == EINTR;
  if (to.size() < most) to.append(piece.data(), static_cast<std::size_t>(got));
  return got > 0;
}

struct Output {
  std::string text, errors;
};

Output collect(const ExecPlugin& plugin, Pipe& output, Pipe& errors,
               steady_clock::time_point until) {
  Output out;
  output.write.reset();
  errors.write.reset();
  std::array<pollfd, 2> waiting{pollfd{output.read.get(), POLLIN, 0},
                                pollfd{errors.read.get(), POLLIN, 0}};
  // A child of the plug-in may hold the errors open: its output alone decides.
  while (waiting[0].fd >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - steady_clock::now()).count();
    if (left <= 0) {
      throw Error(
          Code::unauthenticated,
          fmt::format("the credential plug-in '{}' did not answer in time", plugin.command));
    }
    if (::poll(waiting.data(), waiting.size(), static_cast<int>(left)) <= 0) continue;
    if (waiting[0].revents != 0 && !read_some(output.read, out.text, longest_output))
      waiting[0].fd = -1;
    if (waiting[1].revents != 0 && !read_some(errors.read, out.errors, last_words))
      waiting[1].fd = -1;
  }
  return out;
}

PluginAnswer parse_answer(const ExecPlugin& plugin, const std::string& text) {
  const auto refuse = [&](const std::string& why) {
    return Error(Code::unauthenticated,
                 fmt::format("the credential plug-in '{}' {}", plugin.command, why));
  };
  const auto json = base::parse_json(text);
  if (!json) throw refuse("printed no JSON: " + json.error().text());
  if (kind_of(*json) != "ExecCredential" || api_version_of(*json) != plugin.api_version) {
    throw refuse("printed no ExecCredential of " + plugin.api_version);
  }
  const Json* status = base::find(*json, "status");
  if (status == nullptr) throw refuse("printed no status");
  PluginAnswer out{.token = base::string_or(*status, "token"),
                   .certificate_pem = base::string_or(*status, "clientCertificateData"),
                   .key_pem = base::string_or(*status, "clientKeyData")};
  if (out.token.empty() && (out.certificate_pem.empty() || out.key_pem.empty())) {
    throw refuse("printed neither a token nor a certificate with its key");
  }
  if (const auto expires = base::find_string(*status, "expirationTimestamp")) {
    out.expires = parse_time(*expires);
    if (!out.expires) throw refuse("printed a broken expirationTimestamp");
  }
  return out;
}

}  // namespace

PluginAnswer run_plugin(const ExecPlugin& plugin, std::chrono::milliseconds timeout) {
  const auto until = steady_clock::now() + timeout;
  Pipe output = make_pipe();
  Pipe errors = make_pipe();
  Child child(plugin, output, errors);
  const Output said = collect(plugin, output, errors, until);
  if (const int code = child.wait(); code != 0) {
    throw Error(Code::unauthenticated,
                fmt::format("the credential plug-in '{}' ended with {}: {}", plugin.command, code,
                            base::to_valid_utf8(base::trim(said.errors))));
  }
  return parse_answer(plugin, said.text);
}

}  // namespace meridian::kube
