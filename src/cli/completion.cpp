// `meridian completion bash|zsh`: a script made from the commands and options there are.
//
// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "base/strings.h"
#include "cli/commands.h"
#include "cli/completion.h"

namespace meridian::cli {
namespace {

// "train get keys" cases of the words that may follow each command.
void add_cases(std::string& script, const CommandTree& tree, const std::string& path) {
  std::vector<std::string> words;
  for (const auto& command : tree.commands) words.push_back(command.name);
  for (const auto& option : tree.options) words.push_back(option);
  script += "    '" + path + "') words='" + base::join(words, " ") + "' ;;\n";
  for (const auto& command : tree.commands)
    add_cases(script, command, path + (path.empty() ? "" : " ") + command.name);
}

// The command words typed so far, matched against the known paths.
void add_paths(std::string& script, const CommandTree& tree, const std::string& path) {
  for (const auto& command : tree.commands) {
    const auto below = path + (path.empty() ? "" : " ") + command.name;
    script += "      '" + below + "') path=$try ;;\n";
    add_paths(script, command, below);
  }
}

std::string function_text(const CommandTree& tree) {
  std::string script =
      "_meridian_words() {\n"
      "  local path= try word words\n"
      "  for word in \"$@\"; do\n"
      "    case $word in -*) continue ;; esac\n"
      "    try=\"${path:+$path }$word\"\n"
      "    case $try in\n";
  add_paths(script, tree, "");
  script +=
      "    esac\n"
      "  done\n"
      "  case $path in\n";
  add_cases(script, tree, "");
  script +=
      "  esac\n"
      "  case $path in\n"
      "    describe | logs | stop | wait | delete | get | 'spot reclaim')\n"
      "      words=\"$words $(meridian get -o name --limit 100 2>/dev/null)\" ;;\n"
      "  esac\n"
      "  printf '%s\\n' $words\n"
      "}\n";
  return script;
}

}  // namespace

std::string bash_completion(const CommandTree& tree) {
  return "# bash completion for meridian; load with: source <(meridian completion bash)\n" +
         function_text(tree) +
         "_meridian() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]}\n"
         "  local before=(\"${COMP_WORDS[@]:1:COMP_CWORD-1}\")\n"
         "  COMPREPLY=($(compgen -W \"$(_meridian_words \"${before[@]}\")\" -- \"$current\"))\n"
         "}\n"
         "complete -o default -F _meridian meridian\n";
}

std::string zsh_completion(const CommandTree& tree) {
  return "#compdef meridian\n"
         "# zsh completion for meridian; load with: source <(meridian completion zsh)\n"
         "setopt localoptions 2>/dev/null\n" +
         function_text(tree) +
         "_meridian() {\n"
         "  local -a found\n"
         "  found=(${(f)\"$(_meridian_words ${words[2,CURRENT-1]})\"})\n"
         "  found=(${=found})\n"
         "  compadd -- $found\n"
         "  _files\n"
         "}\n"
         "compdef _meridian meridian\n";
}

void add_completion(Command root, Context& context, const CommandLine& line) {
  auto shell = std::make_shared<std::string>();
  auto command = root.add("completion", "Print a completion script for bash or zsh",
                          "source <(meridian completion bash)");
  command.argument("shell", *shell, "bash or zsh");
  command.run([shell, &context, &line] {
    if (*shell != "bash" && *shell != "zsh")
      throw base::Error(base::Code::invalid_argument,
                        "no completion for '" + *shell + "'; there is bash and zsh");
    context.console.out() << (*shell == "bash" ? bash_completion(line.tree())
                                               : zsh_completion(line.tree()));
    return 0;
  });
}

}  // namespace meridian::cli
