// SPDX-License-Identifier: Apache-2.0
#include "kube/client/kubeconfig.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/yaml.h"

namespace meridian::kube {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Error;
using base::Json;

// A named entry and the file that it stands in: relative paths start there.
struct Entry {
  Json value;
  fs::path file;
  std::string where;  // "kubeconfig F: user 'u'"
};

Error broken(const fs::path& file, std::string_view why) {
  return Error(Code::invalid_argument, fmt::format("kubeconfig {}: {}", file.string(), why));
}

Json read(const fs::path& file) {
  auto documents = base::parse_yaml(base::read_file(file));
  if (!documents) throw broken(file, documents.error().text());
  if (documents->empty()) return base::JsonObject();
  if (!documents->front().value.is_object()) throw broken(file, "it is no map");
  return std::move(documents->front().value);
}

class Files {
 public:
  explicit Files(const std::vector<fs::path>& files) {
    for (const auto& file : files) files_.emplace_back(read(file), file);
  }

  std::string current_context() const {
    for (const auto& [value, file] : files_) {
      if (auto name = base::string_or(value, "current-context"); !name.empty()) return name;
    }
    return "";
  }

  // `list` is "contexts", `member` "context".
  Entry get(std::string_view list, std::string_view member, const std::string& name) const {
    for (const auto& [value, file] : files_) {
      const Json* entries = base::find(value, list);
      if (entries == nullptr || !entries->is_array()) continue;
      for (const Json& entry : entries->get_array()) {
        if (base::string_or(entry, "name") != name) continue;
        const Json* found = base::find(entry, member);
        return {found == nullptr ? Json(base::JsonObject()) : *found, file,
                fmt::format("kubeconfig {}: {} '{}'", file.string(), member, name)};
      }
    }
    throw broken(files_.front().second, fmt::format("there is no {} '{}'", member, name));
  }

  const fs::path& first() const { return files_.front().second; }

 private:
  std::vector<std::pair<Json, fs::path>> files_;
};

void refuse(const Entry& entry, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (base::find(entry.value, key) == nullptr) continue;
    throw Error(Code::unimplemented,
                fmt::format("{} uses {}, which is not supported", entry.where, key));
  }
}

fs::path resolved(const Entry& entry, const std::string& path) {
  return fs::path(path).is_absolute() ? fs::path(path) : entry.file.parent_path() / path;
}

// The PEM text of NAME-data or of the file NAME.
std::string pem_of(const Entry& entry, const std::string& name) {
  if (const auto data = base::find_string(entry.value, name + "-data"); data && !data->empty()) {
    auto pem = base::unbase64(*data);
    if (!pem) {
      throw Error(Code::invalid_argument,
                  fmt::format("{}: {}-data is not base64", entry.where, name));
    }
    return std::move(*pem);
  }
  const std::string file = base::string_or(entry.value, name);
  if (file.empty()) return "";
  return base::while_doing(entry.where, [&] { return base::read_file(resolved(entry, file)); });
}

void set_server(Access& access, std::string server, const std::string& where) {
  if (server.starts_with("unix://")) {
    access.unix_socket = server.substr(std::string_view("unix://").size());
    access.server = "http://localhost";
    return;
  }
  if (!server.starts_with("https://") && !server.starts_with("http://")) {
    throw Error(Code::invalid_argument,
                fmt::format("{}: server '{}' is no https:// or http:// URL", where, server));
  }
  while (server.ends_with('/')) server.pop_back();
  access.server = std::move(server);
}

void read_cluster(const Entry& entry, Access& access) {
  refuse(entry, {"proxy-url", "tls-server-name"});
  set_server(access, base::string_or(entry.value, "server"), entry.where);
  access.ca_pem = pem_of(entry, "certificate-authority");
  if (base::bool_or(entry.value, "insecure-skip-tls-verify", false)) {
    access.verify = Access::Verify::no;
  }
}

ExecPlugin read_exec(const Entry& entry, const Json& exec, const Access& access) {
  ExecPlugin out{.command = base::string_or(exec, "command"),
                 .api_version = base::string_or(exec, "apiVersion"),
                 .install_hint = base::string_or(exec, "installHint")};
  if (out.command.empty()) {
    throw Error(Code::invalid_argument, entry.where + ": exec has no command");
  }
  if (!out.api_version.starts_with("client.authentication.k8s.io/v1")) {
    throw Error(Code::invalid_argument,
                fmt::format("{}: exec apiVersion '{}' is none of client.authentication.k8s.io/v1, "
                            "client.authentication.k8s.io/v1beta1",
                            entry.where, out.api_version));
  }
  if (out.command.find('/') != std::string::npos) out.command = resolved(entry, out.command);
  if (const Json* arguments = base::find(exec, "args"); arguments && arguments->is_array()) {
    for (const Json& one : arguments->get_array()) {
      out.arguments.push_back(one.is_string() ? std::string(base::view(one.get_string()))
                                              : base::to_text(one));
    }
  }
  if (const Json* variables = base::find(exec, "env"); variables && variables->is_array()) {
    for (const Json& one : variables->get_array()) {
      out.environment.emplace_back(base::string_or(one, "name"), base::string_or(one, "value"));
    }
  }
  if (base::bool_or(exec, "provideClusterInfo", false)) {
    out.cluster =
        base::JsonObject{{"server", access.server},
                         {"insecure-skip-tls-verify", access.verify == Access::Verify::no}};
    if (!access.ca_pem.empty()) {
      out.cluster.get_object()["certificate-authority-data"] = base::base64(access.ca_pem);
    }
  }
  return out;
}

void read_user(const Entry& entry, Access& access) {
  refuse(entry, {"auth-provider", "as", "as-uid", "as-groups", "as-user-extra"});
  access.certificate_pem = pem_of(entry, "client-certificate");
  access.key_pem = pem_of(entry, "client-key");
  access.token = base::string_or(entry.value, "token");
  access.user = base::string_or(entry.value, "username");
  access.password = base::string_or(entry.value, "password");
  if (const std::string file = base::string_or(entry.value, "tokenFile"); !file.empty()) {
    access.token_file = resolved(entry, file);
  }
  if (const Json* exec = base::find(entry.value, "exec")) {
    access.exec = read_exec(entry, *exec, access);
  }
}

Access read_context(const Files& files, std::string context) {
  if (context.empty()) context = files.current_context();
  if (context.empty()) {
    throw broken(files.first(),
                 "no current-context; name one, or set it with: kubectl config "
                 "use-context NAME");
  }
  const Entry entry = files.get("contexts", "context", context);
  Access out;
  read_cluster(files.get("clusters", "cluster", base::string_or(entry.value, "cluster")), out);
  if (const std::string user = base::string_or(entry.value, "user"); !user.empty()) {
    read_user(files.get("users", "user", user), out);
  }
  out.ns = base::string_or(entry.value, "namespace", "default");
  return out;
}

std::vector<fs::path> kubeconfig_paths(const Environment& environment) {
  std::vector<fs::path> out;
  for (const auto& path : base::split(environment("KUBECONFIG"), ':')) {
    if (!path.empty()) out.emplace_back(path);
  }
  if (out.empty() && !environment("HOME").empty()) {
    out.push_back(fs::path(environment("HOME")) / ".kube" / "config");
  }
  return out;
}

}  // namespace

Access load_kubeconfig(const fs::path& file, const std::string& context) {
  return read_context(Files({file}), context);
}

Access load_kubeconfigs(const std::vector<fs::path>& files, const std::string& context) {
  std::vector<fs::path> present;
  std::vector<std::string> names;
  for (const auto& file : files) {
    names.push_back(file.string());
    if (fs::exists(file)) present.push_back(file);
  }
  if (present.empty()) {
    throw Error(Code::not_found, "no kubeconfig at " + base::join(names, ", "));
  }
  return read_context(Files(present), context);
}

Environment process_environment() {
  return [](const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return std::string(value == nullptr ? "" : value);
  };
}

std::optional<Access> find_pod_access(const Environment& environment, const fs::path& directory) {
  const std::string host = environment("KUBERNETES_SERVICE_HOST");
  const std::string port = environment("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty() || !fs::exists(directory / "token")) return std::nullopt;
  const bool is_v6 = host.find(':') != std::string::npos;
  Access out;
  out.server = fmt::format("https://{}{}{}:{}", is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
  out.ca_pem = base::read_file_if_exists(directory / "ca.crt");
  out.token_file = directory / "token";
  const std::string ns(base::trim(base::read_file_if_exists(directory / "namespace")));
  if (!ns.empty()) out.ns = ns;
  return out;
}

Access default_access(const std::string& context, const Environment& environment) {
  const std::vector<fs::path> paths = kubeconfig_paths(environment);
  std::vector<std::string> looked;
  for (const auto& path : paths) {
    if (fs::exists(path)) return load_kubeconfigs(paths, context);
    looked.push_back(path.string());
  }
  if (auto pod = find_pod_access(environment)) return std::move(*pod);
  looked.push_back("the service account of a pod");
  throw Error(Code::not_found,
              "no access to a Kubernetes API: looked for " + base::join(looked, ", "));
}

Access socket_access(const std::string& unix_socket) {
  Access out;
  out.server = "http://localhost";
  out.unix_socket = unix_socket;
  return out;
}

}  // namespace meridian::kube
