// What the files of launcher.h share.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run/script/launcher.h"

namespace meridian::run {

inline constexpr char kCodeDirectory[] = "/opt/ml/code";
inline constexpr char kInit[] = "/opt/meridian/bin/meridian-init";

// A sagemaker_* setting: the hyperparameter, else the environment variable in capitals.
std::optional<std::string> find_setting(const ScriptJob& job, const std::string& name);
// Of these groups, or of all; algo-1 first, so that every host elects the same master.
std::vector<std::string> hosts_of(const ScriptJob& job, const std::set<std::string>* groups);
// The groups that take part in a distribution; nothing when the request names none.
std::optional<std::set<std::string>> find_distribution_groups(const ScriptJob& job);

}  // namespace meridian::run
