// SPDX-License-Identifier: Apache-2.0
#include "region/batch/jobs/states.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/strings.h"

namespace meridian::region::batch {
namespace {

constexpr std::array<std::string_view, kStatuses> kNames{
    "SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED"};
constexpr std::string_view kLetters = "SPRTNOF";  // in the order of Status

}  // namespace

std::string_view name(Status status) { return kNames[static_cast<std::size_t>(status)]; }

std::optional<Status> parse_status(std::string_view text) {
  const auto found = std::ranges::find(kNames, text);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Status>(found - kNames.begin());
}

bool may_follow(Status from, Status to) {
  switch (from) {
    case Status::submitted:
      return to == Status::pending || to == Status::runnable || to == Status::failed;
    case Status::pending: return to == Status::runnable || to == Status::failed;
    case Status::runnable: return to == Status::starting || to == Status::failed;
    case Status::starting:
    case Status::running:
      return to == Status::runnable || is_terminal(to) ||
             (from == Status::starting && to == Status::running);
    case Status::succeeded:
    case Status::failed: return false;
  }
  return false;
}

States::States(std::size_t size, Status all) : states_(size, all) {
  counts_[static_cast<std::size_t>(all)] = size;
}

std::optional<States> States::parse(std::string_view text, std::size_t most) {
  States states(0);
  for (const std::string& piece : base::split(text, ' ')) {
    const auto status = piece.empty() ? std::string_view::npos : kLetters.find(piece[0]);
    const auto count = base::to_uint(std::string_view(piece).substr(piece.empty() ? 0 : 1));
    if (status == std::string_view::npos || !count || *count == 0) return std::nullopt;
    if (*count > most - states.size()) return std::nullopt;
    states.states_.insert(states.states_.end(), *count, static_cast<Status>(status));
    states.counts_[status] += *count;
  }
  return states;
}

std::string States::text() const {
  std::string text;
  for (auto from = states_.begin(); from != states_.end();) {
    const auto to = std::find_if(from, states_.end(), [&](Status each) { return each != *from; });
    if (!text.empty()) text += ' ';
    text += kLetters[static_cast<std::size_t>(*from)];
    text += std::to_string(to - from);
    from = to;
  }
  return text;
}

bool States::all_ended() const {
  return count(Status::succeeded) + count(Status::failed) == size();
}

void States::set(std::size_t index, Status status) {
  Status& state = states_.at(index);
  if (state == status) return;
  if (!may_follow(state, status)) {
    std::fprintf(stderr, "batch job: no way from %s to %s\n", std::string(name(state)).c_str(),
                 std::string(name(status)).c_str());
    std::abort();
  }
  --counts_[static_cast<std::size_t>(state)];
  ++counts_[static_cast<std::size_t>(status)];
  state = status;
}

std::optional<std::size_t> States::find(Status status, std::size_t from) const {
  if (count(status) == 0 || from >= size()) return std::nullopt;
  const auto found =
      std::find(states_.begin() + static_cast<std::ptrdiff_t>(from), states_.end(), status);
  if (found == states_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - states_.begin());
}

Status status_of_array(const States& children) {
  if (children.all_ended())
    return children.count(Status::failed) > 0 ? Status::failed : Status::succeeded;
  return children.count(Status::submitted) == children.size() ? Status::submitted : Status::pending;
}

}  // namespace meridian::region::batch
