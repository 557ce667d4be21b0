// The Kubernetes API that a command speaks to, and what its words mean there.
//
// Which one: --kubeconfig, else $KUBECONFIG, else DATA/kubeconfig of the installation. So the same
// commands work on the embedded API and on any cluster.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "kube/client/http_api.h"
#include "kube/resource.h"

namespace meridian::cli {

struct ClusterOptions {
  std::string kubeconfig, context, ns;
};
void add_cluster_options(Command command, const std::shared_ptr<ClusterOptions>& options);

// What discovery says about one resource.
struct Served {
  kube::ResourceId id;
  std::string kind;
  kube::Scope scope = kube::Scope::namespaced;
  std::vector<std::string> words;  // plural, singular, short names, kind
};

class Cluster {
 public:
  Cluster(Context& context, const ClusterOptions& options);

  kube::HttpApi& api() { return *api_; }
  const std::string& ns() const { return ns_; }

  // By any of its words; Error(invalid_argument) with a suggestion.
  const Served& find(const std::string& word);
  // Of an object from a file; Error(invalid_argument) when the server does not serve it.
  const Served& serving(const base::Json& object);
  // KIND/NAME, or KIND NAME in two words.
  std::pair<const Served*, std::string> parse_name(const std::string& text);

 private:
  const std::vector<Served>& served();
  void discover(const std::string& path, const std::string& group, const std::string& version);

  net::HttpClient http_;
  std::unique_ptr<kube::HttpApi> api_;
  std::string ns_;
  std::vector<Served> served_;
};

}  // namespace meridian::cli
