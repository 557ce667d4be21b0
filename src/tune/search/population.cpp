// SPDX-License-Identifier: Apache-2.0
#include "tune/search/population.h"

#include <algorithm>
#include <cmath>

#include "tune/numeric/stream.h"
#include "tune/search/designs.h"
#include "tune/search/observations.h"

namespace meridian::tune {

namespace {

class Population final : public Strategy {
 public:
  explicit Population(const PopulationSettings& settings) : settings_(settings) {}

  std::optional<Proposal> propose(const Problem& problem, const History& history) override {
    const std::vector<Member> members = observe_members(history);
    // The member that has waited longest: no trial yet, or the earliest tell.
    const Member* next = nullptr;
    for (const Member& member : members) {
      if (member.is_running || member.stretches >= settings_.stretches) continue;
      if (next == nullptr || member.told < next->told) next = &member;
    }
    if (next == nullptr) return std::nullopt;
    Proposal out;
    out.member = static_cast<std::size_t>(next - members.data());
    out.budget = settings_.stretch * static_cast<double>(next->stretches + 1);
    Stream stream({problem.seed, static_cast<std::uint64_t>(Purpose::population), history.size()});
    if (next->stretches == 0) {
      out.point = sobol_->propose(problem, history)->point;
      return out;
    }
    out.parent = next->last;
    out.point = history.trials()[next->last].point;
    if (const auto better = find_to_copy(problem, history, members, *next, stream)) {
      out.parent = better;
      out.point = changed(problem.space, history.trials()[*better].point, stream);
    }
    return out;
  }

 private:
  struct Member {
    bool is_running = false;
    std::size_t stretches = 0;
    std::size_t told = 0;  // of the last stretch; 0 = none yet
    std::size_t last = 0;  // its trial
  };

  std::vector<Member> observe_members(const History& history) const {
    std::vector<Member> members(settings_.members);
    for (std::size_t i = 0; i < history.size(); ++i) {
      const Trial& trial = history.trials()[i];
      if (!trial.member || *trial.member >= members.size()) continue;
      Member& member = members[*trial.member];
      ++member.stretches;
      member.is_running = trial.state == TrialState::pending;
      member.told = trial.told;
      member.last = i;
    }
    return members;
  }

  // A trial of the first share when this member is in the last share, or has failed.
  std::optional<std::size_t> find_to_copy(const Problem& problem, const History& history,
                                          const std::vector<Member>& members, const Member& own,
                                          Stream& stream) const {
    std::vector<std::size_t> ended;  // last trials with a value, best first
    for (const Member& member : members) {
      const bool has_value = member.told > 0 && !history.trials()[member.last].values.empty();
      if (has_value) ended.push_back(member.last);
    }
    std::ranges::stable_sort(ended, {}, [&](std::size_t i) {
      return loss(history.trials()[i].values[0], problem.directions[0]);
    });
    if (ended.empty()) return std::nullopt;
    const auto count =
        static_cast<std::size_t>(std::ceil(settings_.share * static_cast<double>(ended.size())));
    const auto place = std::ranges::find(ended, own.last) - ended.begin();
    const bool is_last = static_cast<std::size_t>(place) >= ended.size() - count;
    if (!is_last) return std::nullopt;
    const std::size_t chosen = ended[stream.below(count)];
    if (chosen == own.last) return std::nullopt;
    return chosen;
  }

  Point changed(const Space& space, Point point, Stream& stream) const {
    std::vector<double> x = coordinates_of(space, point);
    for (std::size_t d = 0; d < x.size(); ++d) {
      const Parameter& p = space.parameter(d);
      const bool redraw = stream.uniform() < settings_.redraw;
      const double factor = stream.uniform() < 0.5 ? 0.8 : 1.2;
      const double fresh = stream.uniform();
      if (p.is_categorical()) {
        if (redraw) x[d] = std::floor(fresh * static_cast<double>(p.categories.size()));
      } else if (redraw || is_inactive(point[d])) {
        x[d] = fresh;
      } else {
        x[d] = to_unit(std::clamp(point[d] * factor, p.range.min, p.range.max), p.range,
                       space.scaling(d));
      }
    }
    return point_at(space, x);
  }

  PopulationSettings settings_;
  std::unique_ptr<Strategy> sobol_ = make_sobol();
};

}  // namespace

std::unique_ptr<Strategy> make_population(const PopulationSettings& settings) {
  return std::make_unique<Population>(settings);
}

}  // namespace meridian::tune
