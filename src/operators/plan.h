// What a job resource needs next: a table from what was seen to one act. Pure.
//
//   accepted ──finalizer, first status──▶ create ──▶ follow ──terminal──▶ settled
//       │                                   │ name taken, ours: adopt      ▲
//       │                                   │ name taken, foreign ─────────┤ (Failed NameInUse)
//       │                                   └ input refused ───────────────┤ (Failed)
//       └ deleted ──▶ stop ──▶ wait for its end ──▶ release (finalizer off)
//
// A record that was seen and is gone makes the resource Failed with reason RemoteDeleted; it is
// never created again by itself (design D2).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace meridian::operators {

enum class Presence {
  not_asked,  // nobody looked yet
  absent,     // the region has no such record
  active,     // it has one that is not at its end
  finished,   // it has one at its end
  foreign,    // it has one of this name that is not ours
};

struct Observed {
  enum class Deleting {
    no,
    yes,
    overdue
  } deleting = Deleting::no;  // overdue: past the escape time
  enum class Flag { no, yes };
  Flag finalizer = Flag::no;     // ours is on
  Flag first_status = Flag::no;  // status has been written once
  Flag settled = Flag::no;       // status is terminal for this generation
  Flag made = Flag::no;          // status says that the region had the record
  Flag ending = Flag::no;        // the region is stopping it already
  Presence remote = Presence::not_asked;
};

enum class Act {
  nothing,  // wait for a change
  add_finalizer,
  write_first_status,
  look,  // describe the record
  create,
  record,           // copy the description into status
  fail_deleted,     // Failed, RemoteDeleted
  fail_in_use,      // Failed, NameInUse
  stop,             // end the record
  release,          // finalizer off
  release_overdue,  // finalizer off although the region did not confirm
};

Act plan(const Observed& seen);
std::string_view name(Act act);

}  // namespace meridian::operators
