// What a job runs: a job definition and a SubmitJob request made one, in the API's own members, and
// read as values.
//
// Rules (AWS Batch): the submission's command replaces; its environment is merged by name, its
// resourceRequirements by type; its retryStrategy and timeout replace the definition's. The legacy
// vcpus and memory of a submission change nothing that the definition says as a requirement.
// "Ref::name" in a command becomes the parameter's value, whole or embedded; an unknown one stays.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace meridian::region::batch {

struct Dependency {
  enum class Kind { whole, n_to_n, sequential } kind = Kind::whole;
  std::string job;                     // empty for sequential
  std::optional<std::uint32_t> index;  // whole: that child only
};

struct ExitRule {  // one of evaluateOnExit
  std::optional<std::string> status_reason, reason, exit_code;
  bool retry = false;
};

struct Volume {
  std::string host, inside;
  bool read_only = false;
};

struct Container {
  std::string image, role;
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;
  std::vector<Volume> volumes;
  int vcpus = 1, gpus = 0;
  std::uint64_t memory_bytes = 0;
};

struct JobSpec {
  base::JsonObject detail;            // members of JobDetail, as DescribeJobs shows them
  std::vector<Container> containers;  // one per node; one for a job without nodes
  int main_node = 0;
  std::vector<Dependency> depends_on;
  int attempts = 1;
  std::vector<ExitRule> exit_rules;
  std::optional<std::int64_t> timeout_seconds;
  std::map<std::string, std::int64_t> consumables;  // by name: how many each child takes

  int vcpus() const;  // of all nodes
  int gpus() const;
  bool is_multi_node() const { return containers.size() > 1; }
};

// The detail of a job: what of it does not change. `request` and `definition` are valid.
base::JsonObject make_detail(const base::JsonObject& definition, const base::JsonObject& request);
JobSpec read_spec(const base::JsonObject& detail);

std::string substitute(std::string_view word, const std::map<std::string, std::string>& parameters);
// The nodes that "0:3", ":2", "4:" or "1" names among `count`; nothing when it names none of them.
struct NodeRange {
  std::uint32_t from = 0, to = 0;  // both included
};
std::optional<NodeRange> parse_node_range(std::string_view text, std::uint32_t count);
// The API gives lists that were not said as empty ones.
void add_empty_lists(base::JsonObject& container);
// "arn:…:consumable-resource/NAME", "NAME"; of other ARNs the part after the last '/'.
std::string name_of(std::string_view name_or_arn);

}  // namespace meridian::region::batch
