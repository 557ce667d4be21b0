// The contract of commit and find, for every back end.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <thread>

#include "store/contract.h"

namespace meridian::store {
namespace {

using CommitContract = StoreContract;
INSTANTIATE_TEST_SUITE_P(Every, CommitContract, testing::ValuesIn(backends()), backend_name);

TEST_P(CommitContract, WhatWasPutIsFound) {
  const std::string body("{\"a\":1}\0\xff", 9);
  const Revision r = must({put("jobs/a", body, {{"state", "Starting"}, {"empty", ""}})});
  const auto found = store().find("jobs/a");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->key, "jobs/a");
  EXPECT_EQ(found->body, body);
  EXPECT_EQ(found->index, (IndexFields{{"state", "Starting"}, {"empty", ""}}));
  EXPECT_EQ(found->revision, r);
  EXPECT_EQ(found->created_revision, r);
  EXPECT_FALSE(store().find("jobs/b"));
  EXPECT_FALSE(store().find("jobs/"));
}

TEST_P(CommitContract, EveryCommitHasTheNextRevisionAndItsDocumentsShareIt) {
  EXPECT_EQ(store().revision(), 0);
  EXPECT_EQ(must({put("a", "1"), put("b", "1")}), 1);
  EXPECT_EQ(must({put("b", "2")}), 2);
  EXPECT_EQ(store().revision(), 2);
  EXPECT_EQ(store().find("a")->revision, 1);
  EXPECT_EQ(store().find("b")->revision, 2);
  EXPECT_EQ(store().find("b")->created_revision, 1);
}

TEST_P(CommitContract, ADocumentCreatedAgainHasANewCreation) {
  must({put("a", "1")});
  must({remove("a")});
  EXPECT_FALSE(store().find("a"));
  must({put("a", "2")});
  EXPECT_EQ(store().find("a")->created_revision, 3);
}

TEST_P(CommitContract, ACommitThatChangesNothingTakesNoRevision) {
  must({put("a", "1")});
  EXPECT_EQ(must({remove("absent"), check("a", 1)}), 1);
  EXPECT_EQ(must({}), 1);
  EXPECT_EQ(store().revision(), 1);
  EXPECT_EQ(must({put("a", "1")}), 2);  // the same body again is a change
}

TEST_P(CommitContract, PreconditionsHoldAtTheCommit) {
  const Revision r = must({put("a", "1", {}, 0)});
  const auto again = store().commit({put("a", "2", {}, 0)});
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().key, "a");
  EXPECT_EQ(again.error().expected, 0);
  EXPECT_EQ(again.error().actual, r);

  EXPECT_FALSE(store().commit({put("a", "2", {}, r + 1)}).ok());
  EXPECT_FALSE(store().commit({remove("a", r + 1)}).ok());
  EXPECT_FALSE(store().commit({remove("b", r)}).ok());
  EXPECT_FALSE(store().commit({check("b", r)}).ok());
  EXPECT_EQ(store().find("a")->body, "1");
  EXPECT_EQ(store().revision(), r);

  const Revision second = must({put("a", "2", {}, r), check("b", 0)});
  EXPECT_EQ(must({remove("a", second)}), second + 1);
}

TEST_P(CommitContract, ATransactionIsAllOrNothing) {
  must({put("a", "1")});
  const auto result = store().commit({put("b", "1"), remove("a"), check("c", 7), put("d", "1")});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().key, "c");
  EXPECT_EQ(result.error().actual, 0);
  EXPECT_EQ(keys_of(list_all(store(), {})), std::vector<std::string>{"a"});
}

TEST_P(CommitContract, ACheckAndAWriteOfOneKeySeeTheStateBefore) {
  const Revision r = must({put("a", "1")});
  EXPECT_EQ(must({put("a", "2"), check("a", r)}), r + 1);
}

TEST_P(CommitContract, BadCommitsAreRefusedWhole) {
  const auto refused = [&](std::vector<Write> writes) {
    return code_of_error([&] { (void)store().commit(writes); }) == base::Code::invalid_argument;
  };
  EXPECT_TRUE(refused({put("", "x")}));
  EXPECT_TRUE(refused({put(std::string(5000, 'k'), "x")}));
  EXPECT_TRUE(refused({put("a", "x"), put("a", "y")}));
  EXPECT_TRUE(refused({put("a", "x"), remove("a")}));
  EXPECT_TRUE(refused(std::vector<Write>(100'001, check("a", 0))));
  EXPECT_EQ(store().revision(), 0);
}

TEST_P(CommitContract, KeysAndValuesMayHoldAnyBytes) {
  const std::string odd("a\0b\xff'\"%_", 8);
  must({put(odd, odd, {{odd, odd}})});
  EXPECT_EQ(store().find(odd)->index.at(odd), odd);
  EXPECT_EQ(keys_of(list_all(store(), {.prefix = odd.substr(0, 4), .equals = {{odd, odd}}})),
            std::vector<std::string>{odd});
}

TEST_P(CommitContract, OneOfManyWritersWinsACompareAndSet) {
  constexpr int kThreads = 8, kSteps = 10;
  must({put("counter", "0")});
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kSteps;) {
        const auto now = store().find("counter");
        const int value = std::stoi(now->body) + 1;
        if (store().commit({put("counter", std::to_string(value), {}, now->revision)}).ok()) ++i;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(store().find("counter")->body, std::to_string(kThreads * kSteps));
}

TEST_P(CommitContract, OneCallersConflictFailsNoOther) {
  constexpr int kThreads = 8, kSteps = 20;
  std::atomic<int> failures = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kSteps; ++i) {
        const std::string key = std::to_string(t) + "/" + std::to_string(i);
        const bool doomed = t % 2 == 0;
        const auto result = store().commit({put(key, "x"), check("absent", doomed ? 99 : 0)});
        if (result.ok() == doomed) ++failures;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(list_all(store(), {}).size(), std::size_t{kThreads / 2 * kSteps});
  EXPECT_EQ(store().revision(), kThreads / 2 * kSteps);
}

TEST_P(CommitContract, AcknowledgedMeansDurable) {
  if (!GetParam().durable) GTEST_SKIP() << GetParam().name << " keeps nothing by design";
  must({put("a", "1", {{"f", "x"}}), put("b", "2")});
  must({remove("b")});
  open();
  EXPECT_EQ(store().revision(), 2);
  EXPECT_EQ(store().find("a")->index, (IndexFields{{"f", "x"}}));
  EXPECT_EQ(keys_of(list_all(store(), {.equals = {{"f", "x"}}})), std::vector<std::string>{"a"});
  EXPECT_EQ(must({put("c", "3")}), 3);
  EXPECT_EQ(store().watch("", 0)->wait_next({}, std::chrono::seconds(10)).size(), 4u);
}

}  // namespace
}  // namespace meridian::store
