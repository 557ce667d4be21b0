// Resources of a Kubernetes API by command: what `get`, `describe`, `delete` and `wait` do when
// their argument is a kind, or KIND/NAME of another kind than trainingjob.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/cluster.h"
#include "cli/output.h"

namespace meridian::cli {

struct ResourceOptions {
  std::shared_ptr<ClusterOptions> cluster = std::make_shared<ClusterOptions>();
  std::vector<std::string> names;  // KIND, KIND/NAME
  std::vector<std::string> files;
  std::string condition = "Complete";
  int timeout = 0;  // seconds; 0 = none
};

void add_resource_options(Command command, const std::shared_ptr<ResourceOptions>& options);

// Whether the words mean resources of a Kubernetes API rather than a training job of the region: a
// kind other than trainingjob, KIND/NAME of one, or anything when a namespace or a cluster was
// named.
bool means_resources(const ResourceOptions& options);

int get_resources(Context& context, const ResourceOptions& options, Format format);
int describe_resource(Context& context, const ResourceOptions& options);
int delete_resources(Context& context, const ResourceOptions& options);
// Exit status 1 when one failed or took too long.
int wait_for_resources(Context& context, const ResourceOptions& options);

}  // namespace meridian::cli
