// What every command gets, and the list of commands: each lives in the file of its name.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/console.h"
#include "cli/installation.h"
#include "cli/session.h"

namespace meridian::cli {

struct Context {
  Console& console;
  const Hooks& hooks;
  const base::Clock& clock;
  Environment environment;
  std::string data_option, region_option;  // --data, --region
  std::string ca_option{};                 // --ca-bundle
  std::unique_ptr<Session> found{};

  std::filesystem::path data() const { return data_directory(data_option, environment); }
  // Finds the installation at the first call; Error(unavailable) with what to do when none runs.
  Session& session();
};

void add_daemon_commands(Command root, Context& context);  // up, down, status, version
void add_env(Command root, Context& context);
void add_doctor(Command root, Context& context);
void add_keys(Command root, Context& context);
void add_tokens(Command root, Context& context);
void add_train(Command root, Context& context);
void add_get(Command root, Context& context);
void add_describe(Command root, Context& context);
void add_logs(Command root, Context& context);
void add_job_commands(Command root, Context& context);  // stop, wait, delete
void add_s3(Command root, Context& context);
void add_spot(Command root, Context& context);
void add_apply(Command root, Context& context);
void add_events(Command root, Context& context);
void add_explain(Command root, Context& context);
void add_catalog(Command root, Context& context);
void add_fanout(Command root, Context& context);
void add_plan(Command root, Context& context);
void add_operator(Command root, Context& context);
void add_regions(Command root, Context& context);
void add_smlogs(Command root, Context& context);
void add_completion(Command root, Context& context, const CommandLine& line);

// All of them, below the root of `line`; `line` must outlive parsing.
void add_commands(CommandLine& line, Context& context);

// NAME or KIND/NAME to NAME. The only kind there is yet is trainingjob; Error(invalid_argument)
// with a suggestion for another one.
std::string job_name_of(const std::string& text);

}  // namespace meridian::cli
