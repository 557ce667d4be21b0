// A kubeconfig with one cluster, one user with a token, one context: what Meridian writes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace meridian::kube {

struct KubeconfigText {
  std::string server;  // "https://127.0.0.1:8471"
  std::string ca_pem;
  std::string user = "admin";
  std::string token;
  std::string ns = "default";
};

// The name of the cluster and the context.
inline constexpr char kKubeconfigName[] = "meridian";

std::string kubeconfig_text(const KubeconfigText& kubeconfig);

}  // namespace meridian::kube
