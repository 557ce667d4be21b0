// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "base/strings.h"

namespace meridian::cli {
namespace {

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* sub : app.get_subcommands({})) names.push_back(sub->get_name());
  return names;
}

// The options that may follow `app`, its parents' included.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* at = &app; at != nullptr; at = at->get_parent())
    for (const auto* option : at->get_options())
      for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// The deepest command that was parsed.
const CLI::App* innermost(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().back();
  return at;
}

std::string full_name(const CLI::App& app) {
  return (app.get_parent() ? full_name(*app.get_parent()) + " " : "") + app.get_name();
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  const auto found = base::nearest(word, candidates);
  return found ? "; did you mean '" + *found + "'?" : "";
}

std::string explain_extra(const CLI::App& command, const std::string& extra) {
  if (extra.starts_with("-")) {
    const auto word = extra.substr(0, extra.find('='));
    return "unknown option '" + word + "' of '" + full_name(command) + "'" +
           suggestion(word, option_names(command));
  }
  const auto names = command_names(command);
  if (names.empty()) return "'" + full_name(command) + "' takes no argument '" + extra + "'";
  const auto hint = suggestion(extra, names);
  return "unknown command '" + extra + "' of '" + full_name(command) + "'" +
         (hint.empty() ? "; one of " + base::join(names, ", ") : hint);
}

std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const auto* command = innermost(app);
  std::string why = error.what();
  auto extras = app.remaining(true);
  if (!extras.empty()) {
    why = explain_extra(*command, extras.front());
  } else if (error.get_name() == "RequiredError" && !command_names(*command).empty()) {
    why = "'" + full_name(*command) +
          "' needs a command: " + base::join(command_names(*command), ", ");
  }
  return "meridian: " + why + "\nTry '" + full_name(*command) + " --help'.\n";
}

CommandTree tree_of(const CLI::App& app) {
  CommandTree tree{app.get_name(), app.get_description(), {}, {}};
  for (const auto* option : app.get_options())
    for (const auto& name : option->get_lnames()) tree.options.push_back("--" + name);
  for (const auto* sub : app.get_subcommands({})) tree.commands.push_back(tree_of(*sub));
  return tree;
}

}  // namespace

Command Command::add(const std::string& name, const std::string& help, const std::string& example) {
  app_->require_subcommand(1);
  auto* sub = app_->add_subcommand(name, help);
  if (!example.empty()) sub->footer("\nExample:\n  " + base::replace_all(example, "\n", "\n  "));
  return {sub, chosen_};
}

void Command::option(const std::string& names, std::string& target, const std::string& help) {
  app_->add_option(names, target, help)->take_last()->capture_default_str();
}

void Command::option(const std::string& names, int& target, const std::string& help) {
  app_->add_option(names, target, help)->take_last()->capture_default_str();
}

void Command::option(const std::string& names, double& target, const std::string& help) {
  app_->add_option(names, target, help)->take_last()->capture_default_str();
}

void Command::option(const std::string& names, std::vector<std::string>& target,
                     const std::string& help) {
  app_->add_option(names, target, help)->allow_extra_args(false);
}

void Command::flag(const std::string& names, bool& target, const std::string& help) {
  app_->add_flag(names, target, help);
}

void Command::argument(const std::string& name, std::string& target, const std::string& help,
                       Need need) {
  app_->add_option(name, target, help)->required(need == Need::required);
}

void Command::arguments(const std::string& name, std::vector<std::string>& target,
                        const std::string& help) {
  app_->add_option(name, target, help);
}

void Command::run(Action action) {
  app_->callback([chosen = chosen_, action = std::move(action)] { *chosen = action; });
}

CommandLine::CommandLine(const std::string& name, const std::string& help)
    : app_(std::make_unique<CLI::App>(help, name)) {
  app_->fallthrough();
  app_->set_help_flag("-h,--help", "Print this and exit");
}

CommandLine::~CommandLine() = default;

Command CommandLine::root() { return {app_.get(), &chosen_}; }

CommandLine::Outcome CommandLine::parse(std::vector<std::string> args) {
  std::reverse(args.begin(), args.end());  // as the parser takes them
  try {
    app_->parse(args);
    return {chosen_, 0, ""};
  } catch (const CLI::CallForHelp&) {
    return {{}, 0, innermost(*app_)->help()};
  } catch (const CLI::ParseError& error) {
    return {{}, 2, explain(*app_, error)};
  }
}

CommandTree CommandLine::tree() const { return tree_of(*app_); }

}  // namespace meridian::cli
