// The Kubernetes face of an installation: the embedded API, its certificate and kubeconfig, and the
// controllers behind it.
//
// The controllers are clients of that API like any other, over a socket that only the daemon's own
// user can open, and of the regions over the daemon's AWS socket; they have a runner of their own,
// so that a slow call holds up no region.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "aws/sigv4.h"
#include "base/clock.h"
#include "base/random.h"
#include "fleet/arrays.h"
#include "identity/tokens.h"
#include "store/store.h"

namespace meridian {

struct KubernetesSettings {
  std::filesystem::path data;
  std::filesystem::path socket;  // of the controllers; its name has 107 bytes at most
  std::string listen = "127.0.0.1";
  std::uint16_t port = 8471;  // 0 = any free
  std::string account, version;
  std::vector<std::string> regions;
  std::filesystem::path aws_socket;               // the daemon's AWS face
  std::function<aws::Credentials()> credentials;  // the installation's own, as of now
  std::filesystem::path campaigns;                // asked by arrays' SQL; empty = the catalog alone
  std::function<std::string(const std::string& uri)> read_object;  // of S3, for arrays' manifests
  std::function<fleet::RegionPools()> pools;                       // of the regions here, for plans
};

class KubernetesFace {
 public:
  // Binds; serves once start() has installed the definitions.
  KubernetesFace(KubernetesSettings settings, store::Store& control, identity::Tokens& tokens,
                 fleet::Catalog& catalog, const base::Clock& clock, base::Random& random);
  ~KubernetesFace();
  void start();
  std::uint16_t port() const;
  fleet::Arrays& arrays();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meridian
