// What the store costs: opening, commits by one and by many threads, finds, lists, restart.
//
//   store_bench [directory] [documents]     prints a table; nothing is asserted
//
// Beside each figure stands the floor of the same run: what plain fsync of a file costs here.
//
// LINK: store
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "store/store.h"

namespace {

using namespace meridian;
using Clock = std::chrono::steady_clock;

template <class F>
double seconds(F work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void print(const std::string& what, double value, const std::string& unit) {
  fmt::print("{:<58} {:>12.1f} {}\n", what, value, unit);
}

std::string body() {
  return "{\"TrainingJobStatus\":\"InProgress\",\"pad\":\"" + std::string(3000, 'x') + "\"}";
}

std::string key(int i) { return fmt::format("000000000000/r/sagemaker/job/{:08}", i); }

store::IndexFields fields(int i) {
  return {{"state", i % 50 == 0 ? "InProgress" : "Completed"},
          {"created", store::index_number(1'700'000'000'000 + i)},
          {"modified", store::index_number(1'700'000'000'000 + i * 3)}};
}

double fsyncs_per_second(const std::filesystem::path& directory) {
  const base::UniqueFd fd = base::open_file(directory / "floor", O_CREAT | O_WRONLY);
  constexpr int n = 300;
  const std::string page(4096, 'x');
  return n / seconds([&] {
           for (int i = 0; i < n; ++i) {
             base::write_all(fd.get(), page);
             fdatasync(fd.get());
           }
         });
}

double creates_per_second(store::Store& store, int first, int count, int threads) {
  return count / seconds([&] {
           std::vector<std::jthread> workers;
           for (int t = 0; t < threads; ++t) {
             workers.emplace_back([&, t] {
               for (int i = first + t; i < first + count; i += threads) {
                 (void)store.commit({store::put(key(i), body(), fields(i), 0)});
               }
             });
           }
         });
}

void measure_lists(store::Store& store, int n) {
  constexpr int rounds = 50;
  const auto milliseconds = [&](const store::ListQuery& query) {
    return 1000 / static_cast<double>(rounds) * seconds([&] {
             for (int i = 0; i < rounds; ++i) store.list(query);
           });
  };
  using Order = store::ListQuery::Order;
  const std::string prefix = "000000000000/r/sagemaker/job/";
  print("list 500 by key", milliseconds({.prefix = prefix, .limit = 500}), "ms");
  print("list 100 newest first",
        milliseconds({.prefix = prefix, .order_by = "created", .order = Order::descending}), "ms");
  print("list 100 of a state that 2 % have, newest first",
        milliseconds({.prefix = prefix,
                      .equals = {{"state", "InProgress"}},
                      .order_by = "created",
                      .order = Order::descending}),
        "ms");
  print("list what changed last (10 of all)",
        milliseconds({.prefix = prefix,
                      .ranges = {{.field = "modified",
                                  .at_least = store::index_number(1'700'000'000'000 + n * 3 - 30)}},
                      .order_by = "created"}),
        "ms");
}

void measure(const std::string& name, store::SqliteSettings::Sync sync,
             const std::filesystem::path& directory, int n) {
  fmt::print("-- {}\n", name);
  const store::SqliteSettings settings{.path = (directory / (name + ".db")).string(), .sync = sync};
  std::unique_ptr<store::Store> store;
  print("open a new store", 1000 * seconds([&] { store = store::open_sqlite(settings); }), "ms");
  print("creates by one thread", creates_per_second(*store, 0, n / 4, 1), "/s");
  print("creates by 16 threads", creates_per_second(*store, n / 4, n - n / 4, 16), "/s");
  print("finds", n / seconds([&] {
                   for (int i = 0; i < n; ++i) store->find(key(i * 7919 % n));
                 }),
        "/s");
  measure_lists(*store, n);
  print("close", 1000 * seconds([&] { store.reset(); }), "ms");
  print(fmt::format("open with {} documents", n),
        1000 * seconds([&] { store = store::open_sqlite(settings); }), "ms");
  std::size_t seen = 0;
  print("walk over all of them", 1000 * seconds([&] {
                                   store::ListQuery query{.prefix = "000000000000/", .limit = 1000};
                                   do {
                                     auto page = store->list(query);
                                     seen += page.documents.size();
                                     query.token = page.next_token;
                                   } while (!query.token.empty());
                                 }),
        "ms");
  if (seen != static_cast<std::size_t>(n)) fmt::print("BROKEN: {} of {} documents\n", seen, n);
}

}  // namespace

int main(int argc, char** argv) {
  base::TempDir own("store-bench");
  const std::filesystem::path directory = argc > 1 ? std::filesystem::path(argv[1]) : own.path();
  const int n = argc > 2 ? std::stoi(argv[2]) : 10'000;
  print("floor: write 4 KiB and fdatasync", fsyncs_per_second(directory), "/s");
  measure("synced", store::SqliteSettings::Sync::synced, directory, n);
  measure("process", store::SqliteSettings::Sync::process, directory, n);
}
