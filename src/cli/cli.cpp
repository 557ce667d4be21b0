// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <iostream>

#include "cli/commands.h"

namespace meridian::cli {
namespace {

constexpr char kHelp[] =
    "Trains machine-learning models through the AWS APIs, on your own machines.";

void print_error(Console& console, const std::exception& error) {
  console.clear();
  const auto* ours = dynamic_cast<const base::Error*>(&error);
  const auto* api = dynamic_cast<const aws::ApiError*>(&error);
  std::string text = error.what();
  if (api != nullptr) text = api->aws_code() + ": " + text;
  console.say(console.paint(Colour::red, "meridian:") + " " + text);
  if (api != nullptr && api->aws_code() == "ValidationException" &&
      text.find("not found") != std::string::npos)
    console.say("`meridian get` lists the jobs there are.");
  if (ours != nullptr && ours->code() == base::Code::resource_exhausted)
    console.say("`meridian status` shows what is free.");
}

}  // namespace

void add_commands(CommandLine& line, Context& context) {
  auto root = line.root();
  root.option("--data", context.data_option,
              "directory of the installation (MERIDIAN_DATA, ~/.meridian)");
  root.option("--region", context.region_option, "region to speak to (AWS_REGION, the first)");
  root.option("--ca-bundle", context.ca_option,
              "PEM file of those who may vouch for an https endpoint (AWS_CA_BUNDLE)");
  add_daemon_commands(root, context);
  add_env(root, context);
  add_doctor(root, context);
  add_keys(root, context);
  add_tokens(root, context);
  add_train(root, context);
  add_get(root, context);
  add_describe(root, context);
  add_logs(root, context);
  add_job_commands(root, context);
  add_apply(root, context);
  add_events(root, context);
  add_explain(root, context);
  add_catalog(root, context);
  add_fanout(root, context);
  add_plan(root, context);
  add_operator(root, context);
  add_regions(root, context);
  add_smlogs(root, context);
  add_s3(root, context);
  add_spot(root, context);
  add_completion(root, context, line);
}

Session& Context::session() {
  if (found) return *found;
  Installation installation = find_installation(data(), region_option, environment);
  installation.ca_bundle = ca_option.empty() ? environment("AWS_CA_BUNDLE") : ca_option;
  found = std::make_unique<Session>(std::move(installation), clock);
  return *found;
}

int run(int argc, char** argv, const Hooks& hooks) {
  auto console = Console::standard();
  const base::SystemClock clock;
  Context context{console, hooks, clock, process_environment(), "", ""};
  try {
    CommandLine line("meridian", kHelp);
    add_commands(line, context);
    auto outcome = line.parse({argv + 1, argv + argc});
    if (outcome.action) {
      const int status = outcome.action();
      std::cout.flush();
      return status;
    }
    (outcome.status == 0 ? std::cout : std::cerr) << outcome.text;
    return outcome.status;
  } catch (const std::exception& error) {
    print_error(console, error);
    return 1;
  }
}

}  // namespace meridian::cli
