// SPDX-License-Identifier: Apache-2.0
#include "kube/kubeconfig_text.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace meridian::kube {

std::string kubeconfig_text(const KubeconfigText& k) {
  return fmt::format(
      "apiVersion: v1\n"
      "kind: Config\n"
      "clusters:\n"
      "- name: {0}\n"
      "  cluster:\n"
      "    server: {1}\n"
      "    certificate-authority-data: {2}\n"
      "contexts:\n"
      "- name: {0}\n"
      "  context:\n"
      "    cluster: {0}\n"
      "    namespace: {5}\n"
      "    user: {3}\n"
      "current-context: {0}\n"
      "users:\n"
      "- name: {3}\n"
      "  user:\n"
      "    token: {4}\n",
      kKubeconfigName, k.server, base::base64(k.ca_pem), k.user, k.token, k.ns);
}

}  // namespace meridian::kube
