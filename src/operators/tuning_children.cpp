// SPDX-License-Identifier: Apache-2.0
#include "operators/tuning_children.h"

#include <algorithm>

#include "base/log.h"
#include "kube/object.h"
#include "operators/mirror_object.h"

namespace meridian::operators {

using base::Json;
using base::JsonObject;

// The newest first, until one is known: those before it are too, as they are made in their order.
std::vector<std::string> TuningChildren::unknown(const Json& tuning, const std::string& job) {
  std::vector<std::string> names;
  JsonObject input{{"HyperParameterTuningJobName", job},
                   {"SortBy", "CreationTime"},
                   {"SortOrder", "Descending"},
                   {"MaxResults", 100}};
  Remote& remote = remotes_.get(place_of(tuning));
  while (true) {
    const Json page = remote.call("sagemaker", "ListTrainingJobsForHyperParameterTuningJob", input);
    const Json* summaries = base::find(page, "TrainingJobSummaries");
    if (summaries == nullptr || !summaries->is_array()) return names;
    for (const Json& summary : summaries->get_array()) {
      std::string name = base::string_or(summary, "TrainingJobName");
      if (trials_.find({kube::namespace_of(tuning), mirror_name(name)})) return names;
      names.push_back(std::move(name));
    }
    const std::string token = base::string_or(page, "NextToken");
    if (token.empty()) return names;
    input["NextToken"] = token;
  }
}

void TuningChildren::create(const Json& tuning, const std::string& trial) {
  const Json description =
      remotes_.get(place_of(tuning))
          .call("sagemaker", "DescribeTrainingJob", {{"TrainingJobName", trial}});
  Json object = mirror_object(get_kind("TrainingJob"), place_of(tuning), description,
                              kube::namespace_of(tuning), kTrial);
  // Values of labels have 63 characters at most; the owner reference is exact.
  kube::set_label(object, kTuningLabel, kube::name_of(tuning).substr(0, 63));
  kube::add_owner(object, {.api_version = kube::api_version_of(tuning),
                           .kind = kube::kind_of(tuning),
                           .name = kube::name_of(tuning),
                           .uid = kube::uid_of(tuning)});
  try {
    trials_.create(object);
  } catch (const kube::StatusError& error) {
    // A resource of that name that somebody made stands for it; one that the schema refuses (a
    // newer region than this program) must not hold up the others.
    if (error.reason() != "AlreadyExists" && error.reason() != "Invalid") throw;
    base::log_warn("a trial has no resource", {{"trial", trial}, {"why", error.message()}});
  }
}

void TuningChildren::bring(const Json& tuning, const std::string& job) {
  if (kube::is_deleting(tuning)) return;
  std::vector<std::string> names;
  try {
    names = unknown(tuning, job);
  } catch (const base::Error& error) {
    if (!has_no_record(error)) throw;  // a service that cannot list trials
  }
  std::ranges::reverse(names);
  for (const std::string& name : names) create(tuning, name);
}

}  // namespace meridian::operators
