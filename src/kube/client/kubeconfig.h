// How to reach a Kubernetes API, and as whom: kubeconfig files, or the account of a pod.
//
//   Access access = load_kubeconfig("/home/me/.kube/config");          // its current context
//   Access access = default_access();   // $KUBECONFIG, ~/.kube/config, then the pod's account
//
// Understood: clusters' server, certificate-authority(-data), insecure-skip-tls-verify; users'
// client-certificate(-data), client-key(-data), token, tokenFile, username/password, exec. What is
// not understood and would change whom we talk to (proxy-url, tls-server-name, auth-provider, as)
// is refused, not ignored. A server may be "unix:///path/to/socket".
//
// Source: Kubernetes "Organizing Cluster Access Using kubeconfig Files", "Accessing the API from a
// Pod", client.authentication.k8s.io/v1.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"

namespace meridian::kube {

// A program that prints credentials.
struct ExecPlugin {
  std::string command;  // a path, or a name to be found in PATH
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // beside our own
  std::string api_version;
  std::string install_hint;
  base::Json cluster;  // for provideClusterInfo; null when it shall not be told
};

struct Access {
  std::string server;       // "https://host:6443", without a slash at the end
  std::string unix_socket;  // connect here; `server` is then http://localhost
  std::string ca_pem;       // trust only this; "" = what the machine trusts
  enum class Verify { yes, no } verify = Verify::yes;
  std::string certificate_pem, key_pem;
  std::string token;
  std::filesystem::path token_file;  // read again now and then: it rotates
  std::string user, password;
  std::optional<ExecPlugin> exec;
  std::string ns = "default";
};

// Error(not_found) without the file, Error(invalid_argument) naming what is wrong in it,
// Error(unimplemented) for what is not understood. "" = current-context.
Access load_kubeconfig(const std::filesystem::path& file, const std::string& context = "");
// Several files as one: of each named entry, and of current-context, the first counts. Files that
// do not exist are left out.
Access load_kubeconfigs(const std::vector<std::filesystem::path>& files,
                        const std::string& context = "");

using Environment = std::function<std::string(const std::string& name)>;  // "" when unset
Environment process_environment();

// The account that a cluster gives a pod; nothing outside of one.
std::optional<Access> find_pod_access(
    const Environment& environment = process_environment(),
    const std::filesystem::path& directory = "/var/run/secrets/kubernetes.io/serviceaccount");

// Error(not_found) says where it looked.
Access default_access(const std::string& context = "",
                      const Environment& environment = process_environment());

// Access to a daemon's own socket.
Access socket_access(const std::string& unix_socket);

}  // namespace meridian::kube
