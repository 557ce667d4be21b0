// Runs a fuzz target over a corpus directory: each file as it is, then with small repeatable
// mutations, so that every ordinary test run visits the neighbourhood of every past finding.
//
//   fuzz_replay_json tests/fuzz/corpus/json [mutations per file, default 100]
//
// Fails when the target crashes and when there is nothing to run.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void run(const std::string& input) {
  // A copy of exactly this size, so that AddressSanitizer sees a read past its end.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

std::string mutated(std::string input, std::mt19937_64& random) {
  for (auto changes = 1 + random() % 4; changes > 0 && !input.empty(); --changes) {
    const std::size_t at = random() % input.size();
    switch (random() % 5) {
      case 0: input[at] = static_cast<char>(random()); break;
      case 1: input[at] = static_cast<char>(input[at] ^ (1 << random() % 8)); break;
      case 2: input.erase(at, 1 + random() % 8); break;
      case 3: input.insert(at, input.substr(random() % input.size(), 1 + random() % 16)); break;
      default: input.resize(at); break;
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s DIRECTORY [MUTATIONS]\n", argv[0]);
    return 2;
  }
  const int mutations = argc > 2 ? std::atoi(argv[2]) : 100;
  std::size_t files = 0;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1], failure)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::string input((std::istreambuf_iterator<char>(stream)), {});
    ++files;
    // Printed first and flushed: after a crash the last line names the input.
    std::printf("%s\n", entry.path().filename().c_str());
    std::fflush(stdout);
    run(input);
    std::mt19937_64 random(input.size());
    for (int i = 0; i < mutations; ++i) run(mutated(input, random));
  }
  if (files == 0) std::fprintf(stderr, "no input in %s\n", argv[1]);
  return files == 0 ? 1 : 0;
}
