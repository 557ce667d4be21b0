// Completion scripts for shells: words come from the tree of commands, names of jobs from
// `meridian get -o name`.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/command_line.h"

namespace meridian::cli {

std::string bash_completion(const CommandTree& tree);
std::string zsh_completion(const CommandTree& tree);

}  // namespace meridian::cli
