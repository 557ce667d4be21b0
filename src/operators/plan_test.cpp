// SPDX-License-Identifier: Apache-2.0
#include "operators/plan.h"

#include <gtest/gtest.h>

namespace meridian::operators {
namespace {

constexpr auto kYes = Observed::Flag::yes;
constexpr auto kNo = Observed::Flag::no;
using Deleting = Observed::Deleting;

struct Row {
  const char* what;
  Observed seen;
  Act act;
};

TEST(Plan, IsATable) {
  const Observed accepted{.finalizer = kYes, .first_status = kYes};
  const auto with = [&](auto change) {
    Observed seen = accepted;
    change(seen);
    return seen;
  };
  const Row rows[] = {
      {"new", {}, Act::add_finalizer},
      {"guarded", {.finalizer = kYes}, Act::write_first_status},
      {"accepted: create without asking", accepted, Act::create},
      {"made before: look", with([](Observed& s) { s.made = kYes; }), Act::look},
      {"there is a record", with([](Observed& s) { s.remote = Presence::active; }), Act::record},
      {"at its end", with([](Observed& s) { s.remote = Presence::finished; }), Act::record},
      {"the name is someone's", with([](Observed& s) { s.remote = Presence::foreign; }),
       Act::fail_in_use},
      {"made and gone", with([](Observed& s) { s.made = kYes, s.remote = Presence::absent; }),
       Act::fail_deleted},
      {"never made and gone", with([](Observed& s) { s.remote = Presence::absent; }), Act::create},
      {"settled", with([](Observed& s) { s.settled = kYes; }), Act::nothing},
      {"deleted without our finalizer", {.deleting = Deleting::yes}, Act::nothing},
      {"deleted, settled", with([](Observed& s) { s.deleting = Deleting::yes, s.settled = kYes; }),
       Act::release},
      {"deleted: look first", with([](Observed& s) { s.deleting = Deleting::yes; }), Act::look},
      {"deleted, runs",
       with([](Observed& s) { s.deleting = Deleting::yes, s.remote = Presence::active; }),
       Act::stop},
      {"deleted, is stopping", with([](Observed& s) {
         s.deleting = Deleting::yes, s.remote = Presence::active, s.ending = kYes;
       }),
       Act::record},
      {"deleted, over",
       with([](Observed& s) { s.deleting = Deleting::yes, s.remote = Presence::finished; }),
       Act::release},
      {"deleted, someone else's",
       with([](Observed& s) { s.deleting = Deleting::yes, s.remote = Presence::foreign; }),
       Act::release},
      {"deleted long ago, region silent", with([](Observed& s) { s.deleting = Deleting::overdue; }),
       Act::release_overdue},
      {"deleted long ago, still runs",
       with([](Observed& s) { s.deleting = Deleting::overdue, s.remote = Presence::active; }),
       Act::release_overdue},
  };
  for (const Row& row : rows) EXPECT_EQ(name(plan(row.seen)), name(row.act)) << row.what;
}

TEST(Plan, ADeletionAlwaysEnds) {
  for (auto remote : {Presence::not_asked, Presence::absent, Presence::active, Presence::finished,
                      Presence::foreign}) {
    const Act act = plan({.deleting = Deleting::overdue, .finalizer = kYes, .remote = remote});
    EXPECT_TRUE(act == Act::release || act == Act::release_overdue) << name(act);
  }
  EXPECT_EQ(plan({.deleting = Deleting::yes, .finalizer = kNo}), Act::nothing);
}

}  // namespace
}  // namespace meridian::operators
