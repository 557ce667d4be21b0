// The states of jobs, and of the children of an array: one byte each in memory, runs of equal
// states in the document, so that indexes nobody has touched cost next to nothing.
//
//   SUBMITTED ─► PENDING ─► RUNNABLE ─► STARTING ─► RUNNING ─► SUCCEEDED
//       │           │         ▲ │           │          │
//       └───────────┼─────────┼─┼───────────┴──────────┴─────► FAILED
//                   └─────────┼─┘ (a dependency failed, cancelled)
//                             └── a failed attempt with attempts left
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace meridian::region::batch {

enum class Status : std::uint8_t {
  submitted,
  pending,
  runnable,
  starting,
  running,
  succeeded,
  failed
};
inline constexpr std::size_t kStatuses = 7;
std::string_view name(Status status);  // "SUBMITTED"
std::optional<Status> parse_status(std::string_view text);
inline bool is_terminal(Status status) { return status >= Status::succeeded; }
// The table behind the diagram.
bool may_follow(Status from, Status to);

class States {
 public:
  States() : States(1) {}
  explicit States(std::size_t size, Status all = Status::submitted);
  // "S3 R9997"; nothing for anything else, or for more than `most` states.
  static std::optional<States> parse(std::string_view text, std::size_t most = 10'000);
  std::string text() const;

  std::size_t size() const { return states_.size(); }
  Status at(std::size_t index) const { return states_.at(index); }
  std::size_t count(Status status) const { return counts_[static_cast<std::size_t>(status)]; }
  bool all_ended() const;
  void set(std::size_t index, Status status);  // aborts on a move that the table does not have
  // The first index from `from` on in that state.
  std::optional<std::size_t> find(Status status, std::size_t from = 0) const;

 private:
  std::vector<Status> states_;
  std::array<std::size_t, kStatuses> counts_{};
};

// The state of a job whose children stand so: an array's parent is only ever SUBMITTED, PENDING,
// SUCCEEDED or FAILED.
Status status_of_array(const States& children);

}  // namespace meridian::region::batch
