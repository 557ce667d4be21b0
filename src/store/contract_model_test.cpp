// Every back end against the simplest possible store, under random commits: a map per revision.
//
// Listings are taken page by page while commits go on, and compared with what the model says the
// revision of the first page looked like. The seed is printed; MERIDIAN_SEED repeats it.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>

#include "base/strings.h"
#include "store/contract.h"

namespace meridian::store {
namespace {

using World = std::map<std::string, Document>;
using Order = ListQuery::Order;

bool operator==(const Document& a, const Document& b) {
  return a.key == b.key && a.revision == b.revision && a.created_revision == b.created_revision &&
         a.body == b.body && a.index == b.index;
}

bool matches(const ListQuery& query, const Document& d) {
  if (!d.key.starts_with(query.prefix)) return false;
  if (!query.start_after.empty() && d.key <= query.start_after) return false;
  if (!query.order_by.empty() && !d.index.contains(query.order_by)) return false;
  for (const auto& [field, value] : query.equals) {
    if (!d.index.contains(field) || d.index.at(field) != value) return false;
  }
  for (const auto& range : query.ranges) {
    if (!d.index.contains(range.field)) return false;
    const std::string& value = d.index.at(range.field);
    if ((range.at_least && value < *range.at_least) || (range.below && value >= *range.below)) {
      return false;
    }
  }
  return true;
}

std::vector<Document> expected(const World& world, const ListQuery& query) {
  std::vector<Document> found;
  for (const auto& [key, d] : world) {
    if (matches(query, d)) found.push_back(d);
  }
  std::ranges::stable_sort(found, [&](const Document& a, const Document& b) {
    if (query.order_by.empty()) return a.key < b.key;
    return std::pair(a.index.at(query.order_by), a.key) <
           std::pair(b.index.at(query.order_by), b.key);
  });
  if (query.order == Order::descending) std::ranges::reverse(found);
  return found;
}

class ModelContract : public StoreContract {
 protected:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  std::string digit(std::size_t bound) { return std::to_string(below(bound)); }
  std::string any_key() { return std::string(1, "abc"[below(3)]) + "/" + digit(12); }

  IndexFields any_fields() {
    IndexFields fields;
    if (below(4) != 0) fields["n"] = digit(5);
    if (below(3) != 0) fields["state"] = digit(2);
    return fields;
  }

  Write any_write(const std::string& key) {
    std::optional<Revision> expect;
    if (below(3) == 0) expect = world().contains(key) ? world().at(key).revision : 0;
    if (below(12) == 0) expect = below(10);
    switch (below(4)) {
      case 0: return remove(key, expect);
      case 1: return check(key, expect.value_or(0));
      default: return put(key, digit(1000), any_fields(), expect);
    }
  }

  // A random commit to the store and to the model.
  void commit() {
    std::map<std::string, Write> writes;
    for (std::size_t i = below(4); i < 4; ++i) {
      const std::string key = any_key();
      writes.insert_or_assign(key, any_write(key));
    }
    std::vector<Write> list;
    for (const auto& [key, write] : writes) list.push_back(write);
    const auto result = store().commit(list);
    World next = world();
    const Revision revision = static_cast<Revision>(history_.size());
    std::optional<std::string> conflict;
    bool changed = false;
    for (const Write& w : list) {
      const Revision actual = world().contains(w.key) ? world().at(w.key).revision : 0;
      if (w.expect && *w.expect != actual && !conflict) conflict = w.key;
      if (w.kind == Write::Kind::remove) changed |= next.erase(w.key) > 0;
      if (w.kind != Write::Kind::put) continue;
      changed = true;
      const Revision created = actual == 0 ? revision : next.at(w.key).created_revision;
      next.insert_or_assign(w.key, Document{w.key, revision, created, w.body, w.index});
    }
    ASSERT_EQ(result.ok(), !conflict);
    if (conflict) {
      EXPECT_EQ(result.error().key, *conflict);
      return;
    }
    EXPECT_EQ(*result, changed ? revision : revision - 1);
    if (changed) history_.push_back(std::move(next));
  }

  ListQuery any_query() {
    ListQuery query{.prefix = below(2) ? std::string(1, "abcd"[below(4)]) : ""};
    if (below(4) == 0) query.start_after = any_key();
    if (below(3) == 0) query.equals["state"] = digit(2);
    if (below(3) == 0) query.ranges.push_back({.field = "n", .at_least = digit(5)});
    if (below(4) == 0) query.ranges.push_back({.field = "n", .below = digit(5)});
    if (below(2) == 0) query.order_by = below(2) ? "n" : "state";
    query.order = below(2) ? Order::ascending : Order::descending;
    query.limit = 1 + below(6);
    return query;
  }

  void compare_one_listing() {
    ListQuery query = any_query();
    const World then = world();
    const Revision revision = static_cast<Revision>(history_.size()) - 1;
    std::vector<Document> seen;
    while (true) {
      const Page page = store().list(query);
      ASSERT_EQ(page.revision, revision);
      ASSERT_LE(page.documents.size(), query.limit);
      seen.insert(seen.end(), page.documents.begin(), page.documents.end());
      if (page.next_token.empty()) break;
      ASSERT_EQ(page.documents.size(), query.limit);
      query.token = page.next_token;
      query.limit = 1 + below(6);
      for (std::size_t i = below(4); i > 0; --i) commit();
    }
    const auto wanted = expected(then, query);
    ASSERT_EQ(keys_of(seen), keys_of(wanted));
    EXPECT_TRUE(std::ranges::equal(seen, wanted, [](auto& a, auto& b) { return a == b; }));
  }

  // Changes from a random revision lead from that world to the present one.
  void compare_one_watch() {
    const std::size_t from = below(history_.size());
    const std::string prefix = below(2) ? "a" : "";
    World replayed = history_[from];
    const auto watch = store().watch(prefix, static_cast<Revision>(from));
    while (true) {
      const auto changes = watch->wait_next({}, std::chrono::milliseconds(0));
      if (changes.empty()) break;
      for (const Change& c : changes) {
        if (c.kind == Change::Kind::put) {
          replayed.insert_or_assign(c.document.key, c.document);
        } else {
          ASSERT_EQ(c.document.body, replayed.at(c.document.key).body);
          replayed.erase(c.document.key);
        }
      }
      const World& then = history_[changes.back().document.revision];
      EXPECT_GE(watch->position(), changes.back().document.revision);
      for (const auto& [key, d] : then) {
        if (!key.starts_with(prefix)) continue;
        ASSERT_TRUE(replayed.contains(key) && replayed.at(key) == d);
      }
    }
    for (const auto& [key, d] : replayed) {
      if (!key.starts_with(prefix)) continue;
      ASSERT_TRUE(world().contains(key) && world().at(key) == d);
    }
  }

  const World& world() const { return history_.back(); }

  std::mt19937_64 random_;
  std::vector<World> history_{{}};  // by revision
};
INSTANTIATE_TEST_SUITE_P(Every, ModelContract, testing::ValuesIn(quick_backends()), backend_name);

TEST_P(ModelContract, BehavesLikeAMapPerRevision) {
  const char* given = std::getenv("MERIDIAN_SEED");
  const std::uint64_t seed = given != nullptr ? *base::to_uint(given) : std::random_device()();
  std::printf("MERIDIAN_SEED=%llu\n", static_cast<unsigned long long>(seed));
  random_.seed(seed);
  const int steps = std::getenv("MERIDIAN_SOAK") != nullptr ? 2000 : 60;
  for (int i = 0; i < steps && !HasFailure(); ++i) {
    for (int c = 0; c < 3; ++c) commit();
    compare_one_listing();
    compare_one_watch();
    const std::string key = any_key();
    const auto found = store().find(key);
    ASSERT_EQ(found.has_value(), world().contains(key));
    EXPECT_TRUE(!found || *found == world().at(key));
  }
}

}  // namespace
}  // namespace meridian::store
