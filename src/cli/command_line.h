// Commands, options and arguments, with the parser behind them hidden in one file.
//
//   auto options = std::make_shared<StopOptions>();
//   Command stop = parent.add("stop", "Stop a training job", "meridian stop digits-1");
//   stop.argument("name", options->name, "the job");
//   stop.run([options, &context] { return stop_job(context, *options); });
//
// Targets must live as long as parsing does; the closure given to run() keeps them alive.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace meridian::cli {

using Action = std::function<int()>;

enum class Need { required, optional };

class Command {
 public:
  Command(CLI::App* app, Action* chosen) : app_(app), chosen_(chosen) {}

  Command add(const std::string& name, const std::string& help, const std::string& example);

  // names: "-n,--name". The last of repeated options wins; a vector collects all.
  void option(const std::string& names, std::string& target, const std::string& help);
  void option(const std::string& names, int& target, const std::string& help);
  void option(const std::string& names, double& target, const std::string& help);
  void option(const std::string& names, std::vector<std::string>& target, const std::string& help);
  void flag(const std::string& names, bool& target, const std::string& help);
  void argument(const std::string& name, std::string& target, const std::string& help,
                Need need = Need::required);
  void arguments(const std::string& name, std::vector<std::string>& target,
                 const std::string& help);
  // What the command does; without it a subcommand must follow.
  void run(Action action);

 private:
  CLI::App* app_;
  Action* chosen_;
};

// A command with everything below it, for completion scripts.
struct CommandTree {
  std::string name, help;
  std::vector<std::string> options;
  std::vector<CommandTree> commands;
};

class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& help);
  ~CommandLine();
  Command root();

  struct Outcome {
    Action action;   // what to do; empty: print `text`
    int status = 0;  // 0 for help, 2 for wrong usage
    std::string text;
  };
  // args without the program's name.
  Outcome parse(std::vector<std::string> args);
  CommandTree tree() const;

 private:
  std::unique_ptr<CLI::App> app_;
  Action chosen_;
};

}  // namespace meridian::cli
