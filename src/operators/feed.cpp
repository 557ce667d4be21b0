// SPDX-License-Identifier: Apache-2.0
#include "operators/feed.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonObject;

// Listings start this far back, so that a clock that differs from ours hides nothing.
constexpr double kFirstLookBack = 300;
constexpr double kOverlap = 1;
constexpr base::Duration kLongestPause{60'000};
constexpr base::Duration kSweep{3'600'000};

double modified_of(const Json& summary) {
  return base::double_or(summary, "LastModifiedTime", base::double_or(summary, "CreationTime", 0));
}

}  // namespace

Feed::Feed(Remotes& remotes, control::Runner& runner, const base::Clock& clock)
    : remotes_(remotes), runner_(runner), clock_(clock) {}

control::Key Feed::key_of(const Place& place, const Kind& kind) {
  return fmt::format("{}/{}/{}/{}", kStep, kind.plural, place.region, place.endpoint);
}

Feed::Source& Feed::source(Sources& sources, const Place& place, const Kind& kind) const {
  Source& source = sources[key_of(place, kind)];
  if (source.kind == nullptr) {
    source.place = place;
    source.kind = &kind;
    source.since = clock_.now().seconds() - kFirstLookBack;
    source.sweep = clock_.ticks() + kSweep;
  }
  return source;
}

void Feed::schedule(const control::Key& key, Source& source) {
  if (source.scheduled || source.kind->list.empty()) return;
  source.scheduled = true;
  runner_.add_after(key, remotes_.get(source.place).listing_interval());
}

void Feed::follow(const Record& record, const control::Key& key) {
  auto sources = sources_.lock();
  Source& s = source(*sources, record.place, *record.kind);
  s.records.try_emplace(record.name, Followed{.key = key});
  schedule(key_of(record.place, *record.kind), s);
}

void Feed::forget(const Record& record) {
  auto sources = sources_.lock();
  const auto found = sources->find(key_of(record.place, *record.kind));
  if (found != sources->end()) found->second.records.erase(record.name);
}

bool Feed::changed(const Record& record) const {
  auto sources = sources_.lock();
  const auto found = sources->find(key_of(record.place, *record.kind));
  if (found == sources->end()) return true;
  const auto followed = found->second.records.find(record.name);
  return followed == found->second.records.end() ||
         followed->second.described < followed->second.listed;
}

void Feed::described(const Record& record, double modified) {
  auto sources = sources_.lock();
  auto& records = source(*sources, record.place, *record.kind).records;
  if (auto found = records.find(record.name); found != records.end()) {
    found->second.described = std::max(found->second.described, modified);
  }
}

void Feed::observe(const Place& place, const Kind& kind, base::Timestamp since, Stranger stranger) {
  auto sources = sources_.lock();
  Source& s = source(*sources, place, kind);
  s.since = since.seconds();
  s.stranger = std::move(stranger);
  schedule(key_of(place, kind), s);
}

void Feed::take_summary(const control::Key& key, const Json& summary) {
  control::Key changed;
  Stranger stranger;
  {
    auto sources = sources_.lock();
    Source& s = sources->at(key);
    const std::string name = base::string_or(summary, s.kind->name_member);
    const double modified = modified_of(summary);
    s.since = std::max(s.since, modified);
    if (auto followed = s.records.find(name); followed != s.records.end()) {
      followed->second.listed = std::max(followed->second.listed, modified);
      if (followed->second.described < followed->second.listed) changed = followed->second.key;
    } else {
      stranger = s.stranger;
    }
  }
  if (!changed.empty()) runner_.add(changed);
  if (stranger) stranger(summary);
}

void Feed::sweep(Source& source) {
  if (clock_.ticks() < source.sweep) return;
  source.sweep = clock_.ticks() + kSweep;
  for (auto& [name, followed] : source.records) {
    followed.described = -1;
    runner_.add(followed.key);
  }
}

void Feed::list_pages(const control::Key& key, const Source& source) {
  Remote& remote = remotes_.get(source.place);
  JsonObject input{{"MaxResults", 100}};
  if (source.since > kOverlap) input["LastModifiedTimeAfter"] = source.since - kOverlap;
  while (true) {
    const Json page = remote.call("sagemaker", source.kind->list, input);
    if (const Json* summaries = base::find(page, source.kind->summaries_member)) {
      for (const Json& summary : summaries->as_array()) take_summary(key, summary);
    }
    const std::string token = base::string_or(page, "NextToken");
    if (token.empty()) return;
    input["NextToken"] = token;
  }
}

control::Outcome Feed::step(const control::Key& key) {
  Source copy;  // without the records: a listing does not hold the lock
  {
    auto sources = sources_.lock();
    const auto found = sources->find(key);
    if (found == sources->end()) return control::Outcome::done();
    Source& s = found->second;
    if (s.records.empty() && !s.stranger) {
      sources->erase(found);
      return control::Outcome::done();
    }
    sweep(s);
    copy.place = s.place;
    copy.kind = s.kind;
    copy.since = s.since;
  }
  const base::Duration interval = remotes_.get(copy.place).listing_interval();
  int failures = 0;
  try {
    list_pages(key, copy);
  } catch (const base::Error& error) {
    failures = sources_.lock()->at(key).failures + 1;
    if (failures == 1) {
      base::log_warn(
          "cannot list a region's records",
          {{"region", copy.place.text()}, {"kind", copy.kind->name}, {"why", error.what()}});
    }
  }
  sources_.lock()->at(key).failures = failures;
  const base::Duration pause = interval * (1 << std::min(failures, 6));
  return control::Outcome::again(std::clamp(pause, interval, std::max(interval, kLongestPause)));
}

}  // namespace meridian::operators
