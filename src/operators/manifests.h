// What a cluster needs to run the operator: definitions, account, permissions, deployment.
//
// Printed by `meridian operator manifests`; the kustomize base and the helm chart under packaging/
// hold the same objects.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace meridian::operators {

struct ManifestSettings {
  std::string ns = "meridian-system";  // where the operator itself runs
  std::string image = "meridian:latest";
  // "" = all namespaces by ClusterRole; else only this one, by Role.
  std::string watched_namespace;
  std::string regions_secret = "meridian-regions";  // its keys are files of `--regions-file`
  // Of the validating webhook; none when its authority is empty. All PEM.
  std::string webhook_authority, webhook_certificate, webhook_key;
};

// Names that the webhook's certificate is for.
std::vector<std::string> webhook_names(const std::string& ns);

std::vector<base::Json> operator_manifests(const ManifestSettings& settings);
// What the operator may do with resources: rules of its Role or ClusterRole.
base::JsonArray operator_rules();

}  // namespace meridian::operators
