// SPDX-License-Identifier: Apache-2.0
#include "operators/plan.h"

namespace meridian::operators {
namespace {

constexpr auto kYes = Observed::Flag::yes;
constexpr auto kNo = Observed::Flag::no;

Act plan_deletion(const Observed& seen) {
  if (seen.finalizer == kNo) return Act::nothing;
  if (seen.settled == kYes) return Act::release;
  switch (seen.remote) {
    case Presence::not_asked:
      return seen.deleting == Observed::Deleting::overdue ? Act::release_overdue : Act::look;
    case Presence::absent:
    case Presence::finished:
    case Presence::foreign: return Act::release;
    case Presence::active:
      if (seen.deleting == Observed::Deleting::overdue) return Act::release_overdue;
      return seen.ending == kYes ? Act::record : Act::stop;
  }
  return Act::nothing;
}

}  // namespace

Act plan(const Observed& seen) {
  if (seen.deleting != Observed::Deleting::no) return plan_deletion(seen);
  if (seen.settled == kYes) return Act::nothing;
  if (seen.finalizer == kNo) return Act::add_finalizer;
  if (seen.first_status == kNo) return Act::write_first_status;
  switch (seen.remote) {
    case Presence::not_asked:
      // What was never made is created without asking first: the name answers whether it is there.
      return seen.made == kYes ? Act::look : Act::create;
    case Presence::absent: return seen.made == kYes ? Act::fail_deleted : Act::create;
    case Presence::active:
    case Presence::finished: return Act::record;
    case Presence::foreign: return Act::fail_in_use;
  }
  return Act::nothing;
}

std::string_view name(Act act) {
  switch (act) {
    case Act::nothing: return "nothing";
    case Act::add_finalizer: return "add_finalizer";
    case Act::write_first_status: return "write_first_status";
    case Act::look: return "look";
    case Act::create: return "create";
    case Act::record: return "record";
    case Act::fail_deleted: return "fail_deleted";
    case Act::fail_in_use: return "fail_in_use";
    case Act::stop: return "stop";
    case Act::release: return "release";
    case Act::release_overdue: return "release_overdue";
  }
  return "?";
}

}  // namespace meridian::operators
