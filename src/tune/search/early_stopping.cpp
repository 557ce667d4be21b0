// SPDX-License-Identifier: Apache-2.0
#include "tune/search/early_stopping.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "tune/numeric/stream.h"
#include "tune/search/strategy.h"

namespace meridian::tune {

namespace {

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : 0.5 * values[n / 2 - 1] + 0.5 * values[n / 2];
}

class MedianRule final : public EarlyStopping {
 public:
  explicit MedianRule(const MedianRuleSettings& settings) : settings_(settings) {}

  std::optional<std::string> find_reason(const Problem& problem, const History& history,
                                         std::size_t number) const override {
    const Trial& trial = history.trials().at(number);
    if (trial.reports.empty()) return std::nullopt;
    const Report last = trial.reports.back();
    if (last.resource <= settings_.least_resource) return std::nullopt;
    std::vector<double> averages;
    for (const Trial& other : history.trials()) {
      if (other.state != TrialState::complete) continue;
      if (const auto average = average_until(other, last.resource)) averages.push_back(*average);
    }
    if (averages.size() < std::max<std::size_t>(settings_.complete_trials, 1)) return std::nullopt;
    const double bar = median(averages);
    const Direction direction = problem.directions[0];
    if (!(loss(last.value, direction) > loss(bar, direction))) return std::nullopt;
    return fmt::format(
        "its value {:.6g} at {:g} is worse than {:.6g}, the median of the running averages of {} "
        "completed trials",
        last.value, last.resource, bar, averages.size());
  }

 private:
  // Of reports up to that resource; nothing when the trial has none that early or ended before.
  static std::optional<double> average_until(const Trial& trial, double resource) {
    double sum = 0;
    std::size_t count = 0;
    for (const Report& report : trial.reports) {
      if (report.resource > resource) break;
      sum += report.value;
      ++count;
    }
    if (count == 0 || trial.reports.back().resource < resource) return std::nullopt;
    return sum / static_cast<double>(count);
  }

  MedianRuleSettings settings_;
};

// log_reduction(largest / least), rounded down with a little grace for powers that rounding missed.
std::size_t halvings(const HyperbandSettings& s) {
  return static_cast<std::size_t>(std::log(s.largest / s.least) / std::log(s.reduction) + 1e-9);
}

class HalvingRule final : public EarlyStopping {
 public:
  explicit HalvingRule(const HyperbandSettings& settings) : settings_(settings) {}

  std::optional<std::string> find_reason(const Problem& problem, const History& history,
                                         std::size_t number) const override {
    const Trial& trial = history.trials().at(number);
    if (trial.reports.empty()) return std::nullopt;
    const double reached = trial.reports.back().resource;
    if (reached >= settings_.largest)
      return fmt::format("it got its whole resource, {:g}", reached);
    const std::size_t bracket = bracket_of(settings_, problem.seed, number);
    for (const double rung : rungs_of(settings_, bracket)) {
      if (reached < rung) break;
      if (auto reason = fails_at(problem, history, number, bracket, rung)) return reason;
    }
    return std::nullopt;
  }

 private:
  // The first value at or after the rung.
  static std::optional<double> value_at(const Trial& trial, double rung) {
    for (const Report& report : trial.reports) {
      if (report.resource >= rung) return report.value;
    }
    return std::nullopt;
  }

  std::optional<std::string> fails_at(const Problem& problem, const History& history,
                                      std::size_t number, std::size_t bracket, double rung) const {
    const double own = *value_at(history.trials()[number], rung);
    std::size_t reached = 0, better = 0;
    for (std::size_t i = 0; i < history.size(); ++i) {
      if (bracket_of(settings_, problem.seed, i) != bracket) continue;
      const auto value = value_at(history.trials()[i], rung);
      if (!value) continue;
      ++reached;
      const Direction d = problem.directions[0];
      better += loss(*value, d) < loss(own, d) || (*value == own && i < number) ? 1 : 0;
    }
    const auto survivors = static_cast<std::size_t>(
        std::max(1.0, std::floor(static_cast<double>(reached) / settings_.reduction)));
    if (better < survivors) return std::nullopt;
    return fmt::format("its value {:.6g} at {:g} is place {} of {}; the first {} go on", own, rung,
                       better + 1, reached, survivors);
  }

  HyperbandSettings settings_;
};

}  // namespace

std::unique_ptr<EarlyStopping> make_median_rule(const MedianRuleSettings& settings) {
  return std::make_unique<MedianRule>(settings);
}

std::unique_ptr<EarlyStopping> make_halving_rule(const HyperbandSettings& settings) {
  if (!(settings.least > 0 && settings.least <= settings.largest && settings.reduction > 1) ||
      !std::isfinite(settings.largest)) {
    throw base::Error(base::Code::invalid_argument,
                      fmt::format("Hyperband needs 0 < least <= largest resource and a reduction "
                                  "above 1, not {}, {}, {}",
                                  settings.least, settings.largest, settings.reduction));
  }
  return std::make_unique<HalvingRule>(settings);
}

std::vector<double> rungs_of(const HyperbandSettings& settings, std::size_t bracket) {
  std::vector<double> rungs;
  for (std::size_t k = bracket; k < halvings(settings); ++k) {
    rungs.push_back(settings.least * std::pow(settings.reduction, static_cast<double>(k)));
  }
  return rungs;
}

std::size_t bracket_of(const HyperbandSettings& settings, std::uint64_t seed, std::size_t trial) {
  if (settings.single_bracket) return 0;
  // Hyperband starts ceil((h + 1) / (s + 1) * reduction^s) trials with s halvings to come.
  const std::size_t h = halvings(settings);
  std::vector<double> shares;
  double total = 0;
  for (std::size_t bracket = 0; bracket <= h; ++bracket) {
    const auto s = static_cast<double>(h - bracket);
    shares.push_back(
        std::ceil(static_cast<double>(h + 1) / (s + 1) * std::pow(settings.reduction, s)));
    total += shares.back();
  }
  Stream stream({seed, static_cast<std::uint64_t>(Purpose::bracket), trial});
  double at = stream.uniform() * total;
  for (std::size_t bracket = 0; bracket < h; ++bracket) {
    if (at < shares[bracket]) return bracket;
    at -= shares[bracket];
  }
  return h;
}

}  // namespace meridian::tune
