// SPDX-License-Identifier: Apache-2.0
#include "run/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace meridian::run {

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw base::errno_error(errno, "cannot make a pipe");
  return {base::UniqueFd(ends[0]), base::UniqueFd(ends[1])};
}

void close_others(std::vector<int> keep) {
  std::ranges::sort(keep);
  unsigned from = 3;
  for (const int fd : keep) {
    if (fd < 3) continue;
    if (static_cast<unsigned>(fd) > from) close_range(from, static_cast<unsigned>(fd) - 1, 0);
    from = static_cast<unsigned>(fd) + 1;
  }
  close_range(from, ~0U, 0);
}

void execute(const std::vector<std::string>& argv,
             const std::map<std::string, std::string>& environment,
             const std::string& working_directory) {
  std::vector<std::string> pairs;
  for (const auto& [name, value] : environment) pairs.push_back(name + "=" + value);
  std::vector<char*> words, variables;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& pair : pairs) variables.push_back(const_cast<char*>(pair.c_str()));
  words.push_back(nullptr);
  variables.push_back(nullptr);
  if (chdir(working_directory.c_str()) != 0) {
    std::fprintf(stderr, "meridian: cannot enter %s: %s\n", working_directory.c_str(),
                 strerror(errno));
    _exit(126);
  }
  // execvpe looks the program up on this process's PATH.
  const auto path = environment.find("PATH");
  setenv("PATH", path != environment.end() ? path->second.c_str() : "/usr/local/bin:/usr/bin:/bin",
         1);
  execvpe(words[0], words.data(), variables.data());
  const int reason = errno;
  std::fprintf(stderr, "meridian: cannot run %s: %s\n", words[0], strerror(reason));
  _exit(reason == ENOENT ? 127 : 126);
}

}  // namespace meridian::run
