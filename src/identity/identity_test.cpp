// SPDX-License-Identifier: Apache-2.0
#include "identity/identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace meridian::identity {
namespace {

using base::Code;
using base::Error;

class IdentityTest : public testing::Test {
 protected:
  template <class F>
  static Code code_of(F&& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.code();
    }
    return Code::internal;
  }

  std::unique_ptr<store::Store> store_ = store::open_in_memory();
  base::ManualClock clock_;
  base::SeededRandom random_{1};
  Identity identity_{*store_, clock_, random_};
};

TEST_F(IdentityTest, TheFirstKeyIsAnAdminsAndIsMadeOnce) {
  const auto key = identity_.ensure_first_key();
  EXPECT_THAT(key.id, testing::MatchesRegex("AKIA[A-Z2-7]{16}"));
  EXPECT_EQ(key.secret.size(), 40u);
  EXPECT_EQ(key.principal.role, Role::admin);
  EXPECT_EQ(key.principal.arn, "arn:aws:iam::000000000000:user/admin");
  EXPECT_EQ(identity_.ensure_first_key().id, key.id);
  EXPECT_EQ(identity_.ensure_first_key().secret, key.secret);
}

TEST_F(IdentityTest, KeysSurviveReopeningTheStore) {
  const auto first = identity_.ensure_first_key();
  const auto viewer = identity_.add_key("ann", Role::viewer);
  const auto temporary = identity_.add_temporary_key({.name = "role/s", .scope = Scope::job},
                                                     std::chrono::hours(1), "job/r/a");
  Identity again(*store_, clock_, random_);
  EXPECT_EQ(again.find_key(first.id)->secret, first.secret);
  EXPECT_EQ(again.find_key(viewer.id)->principal.role, Role::viewer);
  const auto found = again.find_key(temporary.id);
  EXPECT_EQ(found->session_token, temporary.session_token);
  EXPECT_EQ(found->expires, temporary.expires);
  EXPECT_EQ(found->principal.scope, Scope::job);
  EXPECT_EQ(found->owner, "job/r/a");
}

TEST_F(IdentityTest, ListsPermanentKeysWithoutSecrets) {
  identity_.ensure_first_key();
  clock_.advance(std::chrono::seconds(1));
  identity_.add_key("ann", Role::editor);
  identity_.add_temporary_key({}, std::chrono::hours(1), "");
  const auto keys = identity_.list_keys();
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_EQ(keys[0].principal.name, "admin");
  EXPECT_EQ(keys[1].principal.name, "ann");
  for (const auto& key : keys) EXPECT_EQ(key.secret, "");
}

TEST_F(IdentityTest, OneKeyPerUserAndUsersHaveProperNames) {
  identity_.add_key("ann", Role::editor);
  EXPECT_EQ(code_of([&] { identity_.add_key("ann", Role::admin); }), Code::already_exists);
  for (const auto& name : std::vector<std::string>{"", "a b", "a/b", std::string(65, 'a')}) {
    EXPECT_EQ(code_of([&] { identity_.add_key(name, Role::admin); }), Code::invalid_argument);
  }
}

TEST_F(IdentityTest, TheLastAdminKeyStays) {
  const auto first = identity_.ensure_first_key();
  const auto viewer = identity_.add_key("ann", Role::viewer);
  EXPECT_EQ(code_of([&] { identity_.remove_key(first.id); }), Code::failed_precondition);
  identity_.remove_key(viewer.id);
  EXPECT_FALSE(identity_.find_key(viewer.id));
  const auto second = identity_.add_key("bob", Role::admin);
  identity_.remove_key(first.id);
  EXPECT_FALSE(Identity(*store_, clock_, random_).find_key(first.id));
  EXPECT_EQ(code_of([&] { identity_.remove_key(second.id); }), Code::failed_precondition);
  EXPECT_EQ(code_of([&] { identity_.remove_key("AKIANOBODY"); }), Code::not_found);
}

TEST_F(IdentityTest, TemporaryAdminKeysDoNotCountAsTheLastOne) {
  const auto first = identity_.ensure_first_key();
  identity_.add_temporary_key(first.principal, std::chrono::hours(1), "");
  EXPECT_EQ(code_of([&] { identity_.remove_key(first.id); }), Code::failed_precondition);
}

TEST_F(IdentityTest, TemporaryKeysHaveATokenAndAnEnd) {
  const auto key = identity_.add_temporary_key({}, std::chrono::minutes(30), "job/r/a");
  EXPECT_THAT(key.id, testing::MatchesRegex("ASIA[A-Z2-7]{16}"));
  EXPECT_GE(key.session_token.size(), 64u);
  EXPECT_EQ(*key.expires, clock_.now() + std::chrono::minutes(30));
}

TEST_F(IdentityTest, AJobsKeysEndWithTheJob) {
  const auto a = identity_.add_temporary_key({}, std::chrono::hours(1), "job/r/a");
  const auto b = identity_.add_temporary_key({}, std::chrono::hours(1), "job/r/ab");
  identity_.remove_keys_of("job/r/a");
  EXPECT_FALSE(identity_.find_key(a.id));
  EXPECT_TRUE(identity_.find_key(b.id));
  EXPECT_FALSE(Identity(*store_, clock_, random_).find_key(a.id));
}

TEST_F(IdentityTest, KeysMadeWithAKeyGoWithIt) {
  identity_.ensure_first_key();
  const auto ann = identity_.add_key("ann", Role::editor);
  const auto session =
      identity_.add_temporary_key(ann.principal, std::chrono::hours(1), owner_of_key(ann.id));
  identity_.remove_key(ann.id);
  EXPECT_FALSE(identity_.find_key(session.id));
  EXPECT_FALSE(Identity(*store_, clock_, random_).find_key(session.id));
}

TEST_F(IdentityTest, NobodysKeysAreNotEverybodys) {
  const auto first = identity_.ensure_first_key();
  identity_.remove_keys_of("");
  EXPECT_TRUE(identity_.find_key(first.id));
}

TEST_F(IdentityTest, EndedKeysAreForgottenADayLater) {
  const auto key = identity_.add_temporary_key({}, std::chrono::hours(1), "");
  clock_.advance(std::chrono::hours(2));
  identity_.add_temporary_key({}, std::chrono::hours(1), "");
  EXPECT_TRUE(identity_.find_key(key.id));  // still there to be called expired
  clock_.advance(std::chrono::hours(24));
  identity_.add_temporary_key({}, std::chrono::hours(1), "");
  EXPECT_FALSE(identity_.find_key(key.id));
  EXPECT_FALSE(Identity(*store_, clock_, random_).find_key(key.id));
}

TEST_F(IdentityTest, KeysAreFoundWhileOthersComeAndGo) {
  const auto first = identity_.ensure_first_key();
  std::vector<std::thread> writers;
  for (int w = 0; w < 4; ++w) {
    writers.emplace_back([this, w] {
      for (int i = 0; i < 20; ++i) {
        const std::string owner = "job/r/" + std::to_string(w);
        const auto key = identity_.add_temporary_key({}, std::chrono::hours(1), owner);
        EXPECT_TRUE(identity_.find_key(key.id));
        identity_.remove_keys_of(owner);
        EXPECT_FALSE(identity_.find_key(key.id));
      }
    });
  }
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(identity_.find_key(first.id));
  for (auto& writer : writers) writer.join();
}

TEST_F(IdentityTest, RolesAreKeptByName) {
  const auto made = identity_.create_role({.name = "trainer", .assume_role_policy = "{}"});
  EXPECT_EQ(made.arn, "arn:aws:iam::000000000000:role/trainer");
  EXPECT_THAT(made.id, testing::StartsWith("AROA"));
  EXPECT_EQ(code_of([&] { identity_.create_role({.name = "trainer"}); }), Code::already_exists);
  Identity again(*store_, clock_, random_);
  EXPECT_EQ(again.find_role("000000000000", "trainer")->assume_role_policy, "{}");
  EXPECT_FALSE(again.find_role("000000000000", "other"));
  EXPECT_EQ(again.list_roles("000000000000").size(), 1u);
  EXPECT_TRUE(again.list_roles("111111111111").empty());
}

}  // namespace
}  // namespace meridian::identity
