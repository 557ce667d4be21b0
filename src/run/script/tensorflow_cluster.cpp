// SPDX-License-Identifier: Apache-2.0
#include "run/script/tensorflow_cluster.h"

#include <algorithm>

#include "base/json.h"

namespace meridian::run {
namespace {

// Hosts on one machine share a network, and TensorFlow's servers listen on all of its addresses:
// each host gets a port of its own, `step` above the one before.
base::JsonArray addresses(const std::vector<std::string>& hosts, int port, int step) {
  base::JsonArray all;
  for (const std::string& host : hosts) {
    all.emplace_back(host + ":" + std::to_string(port));
    port += step;
  }
  return all;
}

// TF_CONFIG speaks of the script beside the server; the server's own index is its host's among
// all. TensorFlow 1 has the class under another name.
constexpr char kServer[] = R"(
import json, os
import tensorflow as tf
config = json.loads(os.environ["TF_CONFIG"])
cluster = config["cluster"]
me = cluster[config["task"]["type"]][config["task"]["index"]].rsplit(":", 1)[0]
index = [address.rsplit(":", 1)[0] for address in cluster["ps"]].index(me)
Server = getattr(tf.distribute, "Server", None) or tf.train.Server
Server(cluster, job_name="ps", task_index=index).join()
)";

}  // namespace

std::string tf_config(TensorFlowStrategy strategy, const std::vector<std::string>& hosts,
                      const std::string& current) {
  const auto index = std::ranges::find(hosts, current) - hosts.begin();
  base::JsonObject cluster, task{{"index", index}, {"type", "worker"}};
  if (strategy == TensorFlowStrategy::mirrored) {
    cluster["worker"] = addresses(hosts, 8890, 1);
  } else {
    cluster["master"] = addresses({hosts.front()}, 2222, 2);
    cluster["ps"] = addresses(hosts, 2223, 2);
    cluster["worker"] = addresses({hosts.begin() + 1, hosts.end()}, 2224, 2);
    task = index == 0 ? base::JsonObject{{"index", 0}, {"type", "master"}}
                      : base::JsonObject{{"index", index - 1}, {"type", "worker"}};
  }
  return base::to_text(base::JsonObject{
      {"cluster", std::move(cluster)}, {"environment", "cloud"}, {"task", std::move(task)}});
}

std::vector<std::string> parameter_server_command(const std::string& python) {
  return {python, "-c", kServer};
}

}  // namespace meridian::run
