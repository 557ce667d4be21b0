// SPDX-License-Identifier: Apache-2.0
#include "identity/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace meridian::identity {
namespace {

using base::Code;

class TokensTest : public testing::Test {
 protected:
  template <class F>
  static Code code_of(F&& action) {
    try {
      action();
    } catch (const base::Error& error) {
      return error.code();
    }
    return Code::internal;
  }

  std::unique_ptr<store::Store> store_ = store::open_in_memory();
  base::ManualClock clock_;
  base::SeededRandom random_{1};
  Tokens tokens_{*store_, clock_, random_};
};

TEST_F(TokensTest, ATokenIsFoundByItsSecretAlone) {
  const auto made = tokens_.add("ann", {{Role::editor, "team-a"}});
  EXPECT_EQ(tokens_.find(made.secret)->user, "ann");
  EXPECT_EQ(tokens_.find(made.secret)->id, made.token.id);
  EXPECT_FALSE(tokens_.find(made.secret + "0"));
  EXPECT_FALSE(tokens_.find(made.secret.substr(0, made.secret.size() - 1)));
  EXPECT_FALSE(tokens_.find("mk-" + made.token.id + "-"));
  EXPECT_FALSE(tokens_.find(made.token.id));
  EXPECT_FALSE(tokens_.find(""));
  std::string other = made.secret;
  other[3] = other[3] == '0' ? '1' : '0';  // another id
  EXPECT_FALSE(tokens_.find(other));
}

TEST_F(TokensTest, TheStoreHoldsNoSecret) {
  const auto made = tokens_.add("ann", {{Role::editor, ""}});
  const std::string random_part = made.secret.substr(made.secret.rfind('-') + 1);
  for (const auto& document : store_->list({}).documents) {
    EXPECT_THAT(document.body, testing::Not(testing::HasSubstr(random_part)));
  }
}

TEST_F(TokensTest, TokensSurviveReopeningTheStore) {
  const auto made = tokens_.add("ann", {{Role::editor, "a"}, {Role::viewer, "b"}});
  const Tokens again(*store_, clock_, random_);
  const auto found = again.find(made.secret);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->role_in("a"), Role::editor);
  EXPECT_EQ(found->role_in("b"), Role::viewer);
}

TEST_F(TokensTest, TheStrongestRoleOfANamespaceHolds) {
  const Token token{.grants = {{Role::viewer, ""}, {Role::admin, "a"}, {Role::editor, "a"}}};
  EXPECT_EQ(token.role_in("a"), Role::admin);
  EXPECT_EQ(token.role_in("b"), Role::viewer);
  EXPECT_EQ(token.role_in(""), Role::viewer);
  const Token narrow{.grants = {{Role::admin, "a"}}};
  EXPECT_FALSE(narrow.role_in("b"));
  EXPECT_FALSE(narrow.role_in(""));
}

TEST_F(TokensTest, RemovedAndExpiredTokensAreNotFound) {
  const auto removed = tokens_.add("ann", {{Role::editor, ""}});
  const auto brief = tokens_.add("ben", {{Role::editor, ""}}, std::chrono::minutes(5));
  tokens_.remove(removed.token.id);
  EXPECT_FALSE(tokens_.find(removed.secret));
  EXPECT_FALSE(Tokens(*store_, clock_, random_).find(removed.secret));
  EXPECT_EQ(code_of([&] { tokens_.remove(removed.token.id); }), Code::not_found);
  clock_.advance(std::chrono::minutes(4));
  EXPECT_TRUE(tokens_.find(brief.secret));
  clock_.advance(std::chrono::minutes(1));
  EXPECT_FALSE(tokens_.find(brief.secret));
}

TEST_F(TokensTest, UsersHaveProperNamesAndSomeRole) {
  EXPECT_EQ(code_of([&] { tokens_.add("a b", {{Role::editor, ""}}); }), Code::invalid_argument);
  EXPECT_EQ(code_of([&] { tokens_.add("ann", {}); }), Code::invalid_argument);
}

TEST_F(TokensTest, ListsInOrderOfCreation) {
  tokens_.add("ann", {{Role::editor, ""}});
  clock_.advance(std::chrono::seconds(1));
  tokens_.add("ben", {{Role::viewer, "x"}});
  const auto all = tokens_.list();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].user, "ann");
  EXPECT_EQ(all[1].grants[0].ns, "x");
}

}  // namespace
}  // namespace meridian::identity
