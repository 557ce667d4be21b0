// What the contract tests need of a back end. A new back end adds itself to backends() and must
// then pass every test of the contract_*_test.cpp files.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "store/store.h"

namespace meridian::store {

struct Backend {
  std::string name;
  bool durable = false;  // opening the same directory again finds the same documents
  std::function<std::unique_ptr<Store>(const std::string& directory, std::size_t log_entries)> open;
};

inline std::vector<Backend> backends() {
  using Sync = SqliteSettings::Sync;
  const auto sqlite = [](Sync sync, std::size_t tail) {
    return [=](const std::string& directory, std::size_t log_entries) {
      return open_sqlite({.path = directory + "/test.db",
                          .sync = sync,
                          .change_log_entries = log_entries,
                          .tail_changes = tail});
    };
  };
  return {
      {"Memory", false, [](const std::string&, std::size_t n) { return open_in_memory(n); }},
      {"SqliteProcess", true, sqlite(Sync::process, SqliteSettings().tail_changes)},
      {"SqliteShortTail", true, sqlite(Sync::process, 3)},
      {"SqliteSynced", true, sqlite(Sync::synced, 0)},
  };
}

// Without the one that differs from another only in its fsyncs, which take their time.
inline std::vector<Backend> quick_backends() {
  auto all = backends();
  std::erase_if(all, [](const Backend& b) { return b.name == "SqliteSynced"; });
  return all;
}

inline std::ostream& operator<<(std::ostream& out, const Backend& b) { return out << b.name; }

class StoreContract : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override { open(); }

  Store& store() { return *store_; }
  // Opens the same directory again.
  void open(std::size_t log_entries = 200'000) {
    store_.reset();
    store_ = GetParam().open(directory_.path().string(), log_entries);
  }

  // Commits what cannot conflict.
  Revision must(std::vector<Write> writes) {
    const auto result = store().commit(std::move(writes));
    EXPECT_TRUE(result.ok());
    return result.ok() ? *result : -1;
  }

  base::TempDir directory_;

 private:
  std::unique_ptr<Store> store_;
};

inline std::vector<std::string> keys_of(const std::vector<Document>& documents) {
  std::vector<std::string> keys;
  for (const Document& d : documents) keys.push_back(d.key);
  return keys;
}

// All pages of a listing, one after the other.
inline std::vector<Document> list_all(Store& store, ListQuery query) {
  std::vector<Document> all;
  while (true) {
    Page page = store.list(query);
    for (Document& d : page.documents) all.push_back(std::move(d));
    if (page.next_token.empty()) return all;
    query.token = page.next_token;
  }
}

template <class F>
std::optional<base::Code> code_of_error(F work) {
  try {
    work();
  } catch (const base::Error& error) {
    return error.code();
  }
  return std::nullopt;
}

inline std::string backend_name(const testing::TestParamInfo<Backend>& info) {
  return info.param.name;
}

}  // namespace meridian::store
