// The contract of list, for every back end.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>

#include "store/contract.h"

namespace meridian::store {
namespace {

using Keys = std::vector<std::string>;
using Order = ListQuery::Order;

class ListContract : public StoreContract {
 protected:
  Keys listed(ListQuery query) { return keys_of(list_all(store(), std::move(query))); }
};
INSTANTIATE_TEST_SUITE_P(Every, ListContract, testing::ValuesIn(quick_backends()), backend_name);

TEST_P(ListContract, KeysComeInOrderOfTheirBytesBelowThePrefix) {
  must({put("b/2", ""), put("b/10", ""), put("a/1", ""), put("b", ""), put("b0", ""),
        put("b/\xff", ""), put("b/\xff\xff", "")});
  EXPECT_EQ(listed({.prefix = "b/"}), (Keys{"b/10", "b/2", "b/\xff", "b/\xff\xff"}));
  EXPECT_EQ(listed({.prefix = "b/\xff"}), (Keys{"b/\xff", "b/\xff\xff"}));
  EXPECT_EQ(listed({.prefix = "b"}).size(), 6u);
  EXPECT_EQ(listed({.prefix = "c"}), Keys{});
  EXPECT_EQ(listed({.prefix = "b/", .order = Order::descending}),
            (Keys{"b/\xff\xff", "b/\xff", "b/2", "b/10"}));
}

TEST_P(ListContract, StartAfterSkipsToTheNextKey) {
  for (const char* key : {"p/a", "p/b", "p/b/c", "p/c", "q"}) must({put(key, "", {{"f", "1"}})});
  EXPECT_EQ(listed({.prefix = "p/", .start_after = "p/b"}), (Keys{"p/b/c", "p/c"}));
  EXPECT_EQ(listed({.prefix = "p/", .start_after = "p/b", .limit = 1}), (Keys{"p/b/c", "p/c"}));
  EXPECT_EQ(listed({.prefix = "p/", .start_after = "a"}).size(), 4u);
  EXPECT_EQ(listed({.prefix = "p/", .start_after = "z"}), Keys{});
  EXPECT_EQ(listed({.start_after = "p/b", .equals = {{"f", "1"}}}), (Keys{"p/b/c", "p/c", "q"}));
  EXPECT_EQ(listed({.prefix = "p/", .start_after = "p/b", .order_by = "f", .limit = 1}),
            (Keys{"p/b/c", "p/c"}));
  EXPECT_EQ(listed({.prefix = "p/", .start_after = "p/b", .order = Order::descending, .limit = 1}),
            (Keys{"p/c", "p/b/c"}));
}

TEST_P(ListContract, AnEarlierInstantIsShownAsItWas) {
  must({put("p/a", "1"), put("p/b", "1"), put("p/d", "1")});
  must({put("p/b", "2"), put("p/c", "1")});
  must({remove("p/a")});
  const auto shown = [&](Revision at, std::string start_after, std::size_t limit) {
    std::vector<std::string> found;
    const Page page =
        store().list({.prefix = "p/", .start_after = start_after, .limit = limit, .at = at});
    EXPECT_EQ(page.revision, at);
    for (const Document& d : page.documents) found.push_back(d.key + "=" + d.body);
    return found;
  };
  EXPECT_EQ(shown(1, "", 100), (Keys{"p/a=1", "p/b=1", "p/d=1"}));
  EXPECT_EQ(shown(2, "", 100), (Keys{"p/a=1", "p/b=2", "p/c=1", "p/d=1"}));
  EXPECT_EQ(shown(3, "", 100), (Keys{"p/b=2", "p/c=1", "p/d=1"}));
  EXPECT_EQ(shown(1, "p/a", 1), Keys{"p/b=1"});
  EXPECT_EQ(shown(1, "p/b", 1), Keys{"p/d=1"});
  EXPECT_EQ(listed({.prefix = "p/", .limit = 1, .at = 1}), (Keys{"p/a", "p/b", "p/d"}));
  EXPECT_EQ(code_of_error([&] { store().list({.prefix = "p/", .at = 4}); }),
            base::Code::invalid_argument);
  open(2);
  if (GetParam().durable) {
    for (int i = 0; i < 20; ++i) must({put("q", std::to_string(i))});
    EXPECT_EQ(code_of_error([&] { store().list({.prefix = "p/", .at = 1}); }),
              base::Code::failed_precondition);
  }
}

TEST_P(ListContract, AllConditionsOnFieldsMustHold) {
  must({put("a", "", {{"state", "Done"}, {"time", index_number(5)}})});
  must({put("b", "", {{"state", "Done"}, {"time", index_number(7)}})});
  must({put("c", "", {{"state", "Failed"}, {"time", index_number(6)}})});
  must({put("d", "", {{"state", "Done"}})});
  EXPECT_EQ(listed({.equals = {{"state", "Done"}}}), (Keys{"a", "b", "d"}));
  EXPECT_EQ(listed({.equals = {{"state", "Done"}},
                    .ranges = {{.field = "time", .at_least = index_number(5)}}}),
            (Keys{"a", "b"}));
  EXPECT_EQ(listed({.ranges = {{"time", index_number(6), index_number(7)}}}), (Keys{"c"}));
  EXPECT_EQ(listed({.ranges = {{.field = "time", .below = index_number(6)}}}), (Keys{"a"}));
  EXPECT_EQ(listed({.equals = {{"state", "Gone"}}}), Keys{});
  EXPECT_EQ(listed({.equals = {{"nothing", ""}}}), Keys{});
}

TEST_P(ListContract, OrdersByAFieldWithTiesByKey) {
  must({put("c", "", {{"n", index_number(-1)}}), put("a", "", {{"n", index_number(2)}}),
        put("b", "", {{"n", index_number(2)}}), put("d", "", {{"n", index_number(10)}}),
        put("without", "")});
  for (const std::size_t limit : {1u, 2u, 100u}) {
    EXPECT_EQ(listed({.order_by = "n", .limit = limit}), (Keys{"c", "a", "b", "d"}));
    EXPECT_EQ(listed({.order_by = "n", .order = Order::descending, .limit = limit}),
              (Keys{"d", "b", "a", "c"}));
    EXPECT_EQ(listed({.ranges = {{.field = "n", .at_least = index_number(2)}},
                      .order_by = "n",
                      .order = Order::descending,
                      .limit = limit}),
              (Keys{"d", "b", "a"}));
  }
}

TEST_P(ListContract, AChangedFieldMovesItsDocument) {
  must({put("a", "", {{"state", "Starting"}, {"x", "1"}})});
  must({put("a", "", {{"state", "Done"}})});
  EXPECT_EQ(listed({.equals = {{"state", "Starting"}}}), Keys{});
  EXPECT_EQ(listed({.equals = {{"state", "Done"}}}), Keys{"a"});
  EXPECT_EQ(listed({.order_by = "x"}), Keys{});
  must({remove("a")});
  EXPECT_EQ(listed({.equals = {{"state", "Done"}}}), Keys{});
}

TEST_P(ListContract, PagesFillTheirLimitAndTheLastHasNoToken) {
  for (int i = 0; i < 6; ++i) must({put(std::to_string(i), "")});
  const Page first = store().list({.limit = 3});
  EXPECT_EQ(keys_of(first.documents), (Keys{"0", "1", "2"}));
  ASSERT_FALSE(first.next_token.empty());
  const Page second = store().list({.limit = 3, .token = first.next_token});
  EXPECT_EQ(keys_of(second.documents), (Keys{"3", "4", "5"}));
  EXPECT_TRUE(second.next_token.empty());
  EXPECT_EQ(store().list({.limit = SIZE_MAX}).documents.size(), 6u);
  EXPECT_EQ(code_of_error([&] { store().list({.limit = 0}); }), base::Code::invalid_argument);
}

TEST_P(ListContract, PagesOfOneListingShowOneRevision) {
  must({put("a", "old", {{"n", "1"}}), put("b", "old", {{"n", "2"}}), put("c", "old", {{"n", "3"}}),
        put("d", "old", {{"n", "4"}}), put("e", "old", {{"n", "5"}})});
  for (const std::string order_by : {"", "n"}) {
    for (const Order order : {Order::ascending, Order::descending}) {
      ListQuery query{.order_by = order_by, .order = order, .limit = 1};
      const auto expected = list_all(store(), query);
      std::vector<Document> seen;
      for (int step = 0;; ++step) {
        const Page page = store().list(query);
        seen.insert(seen.end(), page.documents.begin(), page.documents.end());
        if (page.next_token.empty()) break;
        EXPECT_EQ(page.revision, store().revision() - 2 * step);
        query.token = page.next_token;
        // Every kind of change: a new body, a new place in the order, creation and removal.
        must({remove("d"), put("b", "new", {{"n", "9"}}), put("a", "new", {{"n", "3"}})});
        must({put("d", "again", {{"n", "0"}}), put("bb", "new", {{"n", "3"}})});
      }
      ASSERT_EQ(keys_of(seen), keys_of(expected));
      for (std::size_t i = 0; i < seen.size(); ++i) {
        EXPECT_EQ(seen[i].body, expected[i].body);
        EXPECT_EQ(seen[i].revision, expected[i].revision);
        EXPECT_EQ(seen[i].created_revision, expected[i].created_revision);
      }
    }
  }
}

TEST_P(ListContract, AListingOlderThanTheChangeLogSaysSo) {
  open(5);
  must({put("a", ""), put("b", ""), put("c", "")});
  const Page page = store().list({.limit = 1});
  for (int i = 0; i < 3; ++i) must({put("x", std::to_string(i))});
  EXPECT_EQ(keys_of(store().list({.limit = 9, .token = page.next_token}).documents),
            (Keys{"b", "c"}));
  for (int i = 0; i < 20; ++i) must({put("x", std::to_string(i))});
  EXPECT_EQ(code_of_error([&] { store().list({.limit = 1, .token = page.next_token}); }),
            base::Code::failed_precondition);
}

TEST_P(ListContract, ABadTokenIsRefused) {
  must({put("a", ""), put("b", "")});
  const std::string token = store().list({.limit = 1}).next_token;
  const auto refused = [&](ListQuery query) {
    return code_of_error([&] { store().list(query); }) == base::Code::invalid_argument;
  };
  EXPECT_TRUE(refused({.prefix = "a", .token = token}));
  EXPECT_TRUE(refused({.order = Order::descending, .token = token}));
  EXPECT_TRUE(refused({.token = "x"}));
  EXPECT_TRUE(refused({.token = "!!!!"}));
  EXPECT_TRUE(refused({.token = token + "AAAA"}));
  for (std::size_t i = 0; i < token.size(); ++i) {
    std::string damaged = token;
    damaged[i] = damaged[i] == 'A' ? 'B' : 'A';
    EXPECT_TRUE(refused({.token = damaged})) << i;
  }
  EXPECT_FALSE(refused({.limit = 7, .token = token}));  // the limit may change
}

// More documents than one walk sorts by itself: the other plan must give the same answer, also
// while the documents change between its pages.
TEST_P(ListContract, BroadConditionsPageLikeNarrowOnes) {
  constexpr int kDocuments = 2500;
  std::vector<Write> writes;
  for (int i = 0; i < kDocuments; ++i) {
    writes.push_back(put("k/" + index_number(i * 7919 % kDocuments), "",
                         {{"all", "same"}, {"n", index_number(i / 3)}}));
  }
  writes.push_back(put("other", "", {{"all", "same"}, {"n", index_number(5)}}));
  must(std::move(writes));
  std::mt19937 random(1);
  for (const std::string order_by : {"", "n"}) {
    for (const Order order : {Order::ascending, Order::descending}) {
      ListQuery query{.prefix = "k/",
                      .equals = {{"all", "same"}},
                      .ranges = {{.field = "n", .at_least = index_number(0)}},
                      .order_by = order_by,
                      .order = order,
                      .limit = 10'000};
      const Page whole = store().list(query);
      std::vector<std::pair<std::string, std::string>> positions;
      for (const Document& d : whole.documents) {
        positions.emplace_back(order_by.empty() ? "" : d.index.at("n"), d.key);
      }
      if (order == Order::descending) std::ranges::reverse(positions);
      EXPECT_GT(positions.size(), 2000u);
      EXPECT_TRUE(std::ranges::is_sorted(positions));
      EXPECT_EQ(std::ranges::adjacent_find(positions), positions.end());

      query.limit = 700;
      Keys paged;
      while (true) {
        const Page page = store().list(query);
        for (const Document& d : page.documents) paged.push_back(d.key);
        if (page.next_token.empty()) break;
        query.token = page.next_token;
        for (int i = 0; i < 5; ++i) {
          const std::string key = "k/" + index_number(random() % kDocuments);
          must({random() % 3 == 0
                    ? remove(key)
                    : put(key, "", {{"all", "same"}, {"n", index_number(random() % 800)}})});
        }
      }
      EXPECT_EQ(paged, keys_of(whole.documents));
    }
  }
}

}  // namespace
}  // namespace meridian::store
