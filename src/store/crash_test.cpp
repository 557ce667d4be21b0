// Kills a writing process at random instants, many times over one file, and looks at what is left.
//
// The writer prints a line for every commit that was acknowledged; after the kill, each of these
// must be there and every transaction whole. 40 rounds; MERIDIAN_SOAK in the environment makes it
// 800. The seed is printed; MERIDIAN_SEED repeats it.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/strings.h"
#include "store/store.h"

namespace meridian::store {
namespace {

constexpr int kWriters = 4;
constexpr std::size_t kLog = 300;  // small, so that kills fall into trimming too

std::string name(int writer, std::int64_t n, std::string_view part) {
  return "w" + std::to_string(writer) + "/" + std::to_string(n) + "/" + std::string(part);
}

// One writer: transaction n puts a and b together, moves the writer's counter, and takes away
// transaction n - 20. So the whole world follows from each writer's last number.
void write_for_ever(Store& store, int writer, int acknowledgements) {
  const std::string counter = "counter/" + std::to_string(writer);
  const auto last = store.find(counter);
  for (std::int64_t n = last ? *base::to_int(last->body) + 1 : 1;; ++n) {
    const std::string body(static_cast<std::size_t>(n * 37 % 5000), 'x');
    const auto result = store.commit({
        put(name(writer, n, "a"), body, {{"n", index_number(n)}}, 0),
        put(name(writer, n, "b"), body, {{"n", index_number(n)}}, 0),
        put(counter, std::to_string(n)),
        remove(name(writer, n - 20, "a")),
        remove(name(writer, n - 20, "b")),
    });
    if (!result.ok()) _exit(3);
    const std::string line =
        std::to_string(writer) + " " + std::to_string(n) + " " + std::to_string(*result) + "\n";
    if (write(acknowledgements, line.data(), line.size()) < 0) _exit(4);
  }
}

[[noreturn]] void writer_process(const SqliteSettings& settings, int acknowledgements) {
  try {
    const auto store = open_sqlite(settings);
    std::vector<std::jthread> threads;
    for (int w = 0; w < kWriters; ++w) {
      threads.emplace_back([&, w] { write_for_ever(*store, w, acknowledgements); });
    }
    threads.clear();
  } catch (const std::exception& error) {
    dprintf(STDERR_FILENO, "writer: %s\n", error.what());
  }
  _exit(5);
}

struct Acknowledged {
  std::array<std::int64_t, kWriters> last{};  // number of each writer's last transaction
  Revision revision = 0;
};

// Runs a writer process for a while and kills it; adds what it acknowledged.
void run_and_kill(const SqliteSettings& settings, std::chrono::microseconds life,
                  Acknowledged& known) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) writer_process(settings, ends[1]);
  close(ends[1]);
  const base::UniqueFd reading(ends[0]);
  std::string first(1, ' ');  // the life begins with the first acknowledgement
  ASSERT_EQ(read(reading.get(), first.data(), 1), 1) << "the writer ended by itself";
  std::this_thread::sleep_for(life);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself: " << WEXITSTATUS(status);
  std::string all = first;
  char buffer[65536];
  for (ssize_t n; (n = read(reading.get(), buffer, sizeof buffer)) > 0;) all.append(buffer, n);
  for (const std::string& line : base::split(all, '\n')) {
    const auto parts = base::split(line, ' ');
    if (parts.size() != 3) continue;
    auto& last = known.last[*base::to_uint(parts[0])];
    last = std::max(last, *base::to_int(parts[1]));
    known.revision = std::max(known.revision, *base::to_int(parts[2]));
  }
}

// Every acknowledged transaction is there, every transaction is whole, and nothing else is.
void verify(Store& store, Acknowledged& known) {
  EXPECT_GE(store.revision(), known.revision);
  std::map<std::string, Document> world;
  for (ListQuery query{.limit = 1000};;) {
    Page page = store.list(query);
    for (Document& d : page.documents) world.emplace(d.key, std::move(d));
    if (page.next_token.empty()) break;
    query.token = page.next_token;
  }
  std::size_t expected = 0;
  for (int w = 0; w < kWriters; ++w) {
    const auto counter = world.find("counter/" + std::to_string(w));
    const std::int64_t last = counter == world.end() ? 0 : *base::to_int(counter->second.body);
    EXPECT_GE(last, known.last[w]) << "writer " << w << " lost acknowledged transactions";
    known.last[w] = last;
    expected += counter == world.end() ? 0 : 1;
    for (std::int64_t n = std::max<std::int64_t>(1, last - 19); n <= last; ++n) {
      for (const char* part : {"a", "b"}) {
        const auto it = world.find(name(w, n, part));
        ASSERT_NE(it, world.end()) << "writer " << w << " transaction " << n << " part " << part;
        EXPECT_EQ(it->second.body.size(), static_cast<std::size_t>(n * 37 % 5000));
        ++expected;
      }
      EXPECT_EQ(world.at(name(w, n, "a")).revision, world.at(name(w, n, "b")).revision);
    }
    const Page by_field = store.list({.prefix = "w" + std::to_string(w), .order_by = "n"});
    EXPECT_EQ(by_field.documents.size(), std::min<std::size_t>(40, 2 * last));
  }
  EXPECT_EQ(world.size(), expected);
}

// The change log leads from what it still reaches to the present.
void verify_change_log(Store& store) {
  for (Revision after = store.revision(); after > 0; --after) {
    try {
      const auto watch = store.watch("counter/", after - 1);
      const auto changes = watch->wait_next({}, std::chrono::milliseconds(0));
      ASSERT_FALSE(changes.empty());
      EXPECT_EQ(changes.front().document.revision, after) << "a change is missing in the log";
      if (store.revision() - after > 40) return;
    } catch (const base::Error& error) {
      ASSERT_EQ(error.code(), base::Code::failed_precondition) << error.what();
      return;
    }
  }
}

void kill_many_times(SqliteSettings::Sync sync, int rounds) {
  const char* given = std::getenv("MERIDIAN_SEED");
  const std::uint64_t seed = given != nullptr ? *base::to_uint(given) : std::random_device()();
  if (std::getenv("MERIDIAN_SOAK") != nullptr) rounds *= 20;
  std::printf("MERIDIAN_SEED=%llu, %d rounds\n", static_cast<unsigned long long>(seed), rounds);
  std::mt19937_64 random(seed);
  const base::TempDir directory("crash");
  const SqliteSettings settings{
      .path = (directory.path() / "s.db").string(), .sync = sync, .change_log_entries = kLog};
  Acknowledged known;
  for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
    run_and_kill(settings, std::chrono::microseconds(random() % 12'000), known);
    if (testing::Test::HasFatalFailure()) return;
    // Often the next writer finds the kill's remains itself; the last round always looks.
    if (random() % 2 == 0 && round + 1 < rounds) continue;
    const auto store = open_sqlite(settings);
    verify(*store, known);
    verify_change_log(*store);
  }
  EXPECT_GT(known.revision, rounds);
}

TEST(StoreCrash, AStoreWhoseCreationWasKilledOpens) {
  std::mt19937_64 random(std::random_device{}());
  for (int round = 0; round < 12; ++round) {
    const base::TempDir directory("crash");
    const SqliteSettings settings{.path = (directory.path() / "s.db").string()};
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto store = open_sqlite(settings);
      pause();
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 30'000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_EQ(*open_sqlite(settings)->commit({put("a", "1", {}, 0)}), 1);
  }
}

TEST(StoreCrash, NothingAcknowledgedIsLostWhenTheWriterIsKilled) {
  kill_many_times(SqliteSettings::Sync::process, 30);
}

TEST(StoreCrash, NothingAcknowledgedIsLostWhenASyncingWriterIsKilled) {
  kill_many_times(SqliteSettings::Sync::synced, 10);
}

}  // namespace
}  // namespace meridian::store
