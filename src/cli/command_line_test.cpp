// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <gmock/gmock.h>

#include <sstream>

#include "cli/commands.h"

namespace meridian::cli {
namespace {

using testing::HasSubstr;

struct Example {
  std::string name;
  std::vector<std::string> pairs;
  int count = 1;
  bool flag = false;
};

// A parser with a command `copy` and a group `keys` with `add`.
class CommandLineTest : public testing::Test {
 protected:
  CommandLineTest() {
    auto root = line.root();
    root.option("--data", data, "directory");
    auto copy = root.add("copy", "Copies", "tool copy a");
    copy.argument("name", example.name, "what");
    copy.option("--pair", example.pairs, "pairs");
    copy.option("-n,--count", example.count, "how often");
    copy.flag("--verbose", example.flag, "more words");
    copy.run([this] { return example.count; });
    auto keys = root.add("keys", "Keys", "");
    keys.add("add", "Adds", "tool keys add").run([] { return 7; });
  }
  std::string error_of(std::vector<std::string> args) {
    auto outcome = line.parse(std::move(args));
    EXPECT_FALSE(outcome.action);
    EXPECT_EQ(outcome.status, 2);
    return outcome.text;
  }

  std::string data;
  Example example;
  CommandLine line{"tool", "A tool."};
};

TEST_F(CommandLineTest, OptionsAndArgumentsReachTheirTargets) {
  auto outcome = line.parse({"copy", "--pair", "a=1", "x", "--pair=b=2", "-n", "3", "--verbose"});
  ASSERT_TRUE(outcome.action);
  EXPECT_EQ(outcome.action(), 3);
  EXPECT_EQ(example.name, "x");
  EXPECT_EQ(example.pairs, (std::vector<std::string>{"a=1", "b=2"}));
  EXPECT_TRUE(example.flag);
}

TEST_F(CommandLineTest, GlobalOptionsMayFollowTheCommand) {
  ASSERT_TRUE(line.parse({"copy", "x", "--data", "/d"}).action);
  EXPECT_EQ(data, "/d");
}

TEST_F(CommandLineTest, TheLastOfARepeatedOptionWins) {
  ASSERT_TRUE(line.parse({"copy", "x", "-n", "2", "-n", "5"}).action);
  EXPECT_EQ(example.count, 5);
}

TEST_F(CommandLineTest, ACommandOfAGroupRuns) {
  auto outcome = line.parse({"keys", "add"});
  ASSERT_TRUE(outcome.action);
  EXPECT_EQ(outcome.action(), 7);
}

TEST_F(CommandLineTest, AnUnknownCommandGetsASuggestion) {
  EXPECT_THAT(error_of({"coppy", "x"}), HasSubstr("unknown command 'coppy'"));
  EXPECT_THAT(error_of({"coppy", "x"}), HasSubstr("did you mean 'copy'?"));
}

TEST_F(CommandLineTest, AnUnknownCommandLikeNoOtherGetsTheList) {
  EXPECT_THAT(error_of({"zzzzzz"}), HasSubstr("one of copy, keys"));
}

TEST_F(CommandLineTest, AnUnknownOptionGetsASuggestion) {
  const auto text = error_of({"copy", "x", "--verbos"});
  EXPECT_THAT(text, HasSubstr("unknown option '--verbos' of 'tool copy'"));
  EXPECT_THAT(text, HasSubstr("did you mean '--verbose'?"));
}

TEST_F(CommandLineTest, AGroupWithoutACommandNamesItsCommands) {
  EXPECT_THAT(error_of({"keys"}), HasSubstr("'tool keys' needs a command: add"));
}

TEST_F(CommandLineTest, AMissingArgumentIsNamed) {
  EXPECT_THAT(error_of({"copy"}), HasSubstr("name is required"));
}

TEST_F(CommandLineTest, AWrongNumberIsRefused) {
  EXPECT_THAT(error_of({"copy", "x", "-n", "many"}), HasSubstr("many"));
}

TEST_F(CommandLineTest, HelpIsOfTheInnermostCommand) {
  auto outcome = line.parse({"copy", "--help"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.text, HasSubstr("tool copy a"));
}

void expect_examples(const CommandTree& tree, CommandLine& line, std::vector<std::string> path) {
  for (const auto& command : tree.commands) {
    auto below = path;
    below.push_back(command.name);
    expect_examples(command, line, below);
    if (!command.commands.empty()) continue;
    below.push_back("--help");
    EXPECT_THAT(line.parse(below).text, HasSubstr("Example:\n  ")) << testing::PrintToString(below);
  }
}

TEST(Commands, EveryCommandShowsAnExampleInItsHelp) {
  std::ostringstream out, err;
  Console console(out, err, {});
  const Hooks hooks;
  const base::SystemClock clock;
  Context context{console, hooks, clock, [](const std::string&) { return ""; }, "", ""};
  CommandLine line("meridian", "");
  add_commands(line, context);
  const auto tree = line.tree();
  EXPECT_GE(tree.commands.size(), 16u);
  expect_examples(tree, line, {});
}

TEST(Commands, AKindInFrontOfANameIsChecked) {
  EXPECT_EQ(job_name_of("digits"), "digits");
  EXPECT_EQ(job_name_of("trainingjob/digits"), "digits");
  EXPECT_EQ(job_name_of("TrainingJob/digits"), "digits");
  try {
    job_name_of("trainingjub/digits");
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'trainingjob/digits'?"));
  }
}

}  // namespace
}  // namespace meridian::cli
