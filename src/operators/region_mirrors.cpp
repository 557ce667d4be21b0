// SPDX-License-Identifier: Apache-2.0
#include "operators/region_mirrors.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/log.h"
#include "kube/object.h"
#include "operators/job_controller.h"
#include "operators/mirror_object.h"

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr base::Duration kPause{1'000};        // between batches
constexpr base::Duration kPrune{60'000};       // by count and age
constexpr base::Duration kCompare{3'600'000};  // with the region's own list
constexpr std::size_t kMostDone = 20'000;      // names that are remembered
constexpr double kForGood = std::numeric_limits<double>::infinity();
// When the job was made: the mirror itself may be younger.
constexpr std::string_view kMadeAnnotation = "meridian.dev/job-created";

const Kind& training() { return get_kind("TrainingJob"); }

base::Timestamp made_at(const Json& mirror) {
  const auto text = kube::find_annotation(mirror, kMadeAnnotation);
  return kube::parse_time(text.value_or("")).value_or(base::Timestamp{});
}

std::string job_of(const Json& mirror) {
  const Json* name = base::find_path(mirror, "spec.trainingJobName");
  return name != nullptr && name->is_string() ? std::string(base::view(name->get_string())) : "";
}

double created(const Json& summary) { return base::double_or(summary, "CreationTime", 0); }
double modified(const Json& summary) {
  return base::double_or(summary, "LastModifiedTime", created(summary));
}

}  // namespace

std::string namespace_of_region(const std::string& region) { return "region-" + region; }

std::vector<Json> outdated(std::vector<Json> mirrors, base::Timestamp now,
                           const MirrorLimits& limits) {
  std::ranges::sort(mirrors, std::ranges::greater{}, made_at);
  const auto too_old = [&](const Json& mirror) { return now - made_at(mirror) > limits.age; };
  auto first = std::ranges::find_if(mirrors, too_old);
  const auto full =
      mirrors.begin() + static_cast<std::ptrdiff_t>(std::min(limits.most, mirrors.size()));
  return {std::min(first, full), mirrors.end()};
}

RegionMirrors::RegionMirrors(Resources& jobs, Remotes& remotes, Feed& feed, control::Runner& runner,
                             const base::Clock& clock, MirrorLimits limits)
    : jobs_(jobs),
      remotes_(remotes),
      feed_(feed),
      runner_(runner),
      clock_(clock),
      limits_(limits) {}

void RegionMirrors::start(const std::vector<std::string>& regions) {
  for (const std::string& region : regions) {
    (*regions_.lock())[region].compare = clock_.ticks() + kCompare;
    feed_.observe({region, ""}, training(), clock_.now() - limits_.age,
                  [this, region](const Json& summary) { seen(region, summary); });
    runner_.add(std::string(kStep) + "/" + region);
  }
}

void RegionMirrors::seen(const std::string& region, const Json& summary) {
  const std::string name = base::string_or(summary, training().name_member);
  {
    auto regions = regions_.lock();
    Region& r = regions->at(region);
    const auto done = r.done.find(name);
    if (name.empty() || (done != r.done.end() && done->second >= modified(summary))) return;
    r.waiting[name] = summary;
    if (r.waiting.size() > limits_.most) {  // the oldest would not be shown anyway
      r.waiting.erase(std::ranges::min_element(
          r.waiting, {}, [](const auto& entry) { return created(entry.second); }));
    }
  }
  runner_.add(std::string(kStep) + "/" + region);
}

std::vector<Json> RegionMirrors::take(Region& region) const {
  std::vector<Json> batch;
  while (!region.waiting.empty() && batch.size() < limits_.batch) {
    batch.push_back(std::move(region.waiting.begin()->second));
    region.waiting.erase(region.waiting.begin());
  }
  return batch;
}

control::Outcome RegionMirrors::step(const control::Key& key) {
  const std::string region = key.substr(kStep.size() + 1);
  std::vector<Json> batch;
  bool prune_now = false, compare_now = false;
  {
    auto regions = regions_.lock();
    Region& r = regions->at(region);
    batch = take(r);
    const base::Ticks now = clock_.ticks();
    prune_now = now >= r.prune;
    if (prune_now) r.prune = now + kPrune;
    compare_now = now >= r.compare;
    if (compare_now) r.compare = now + kCompare;
  }
  for (const Json& summary : batch) show(region, summary);
  if (prune_now) prune(region);
  if (compare_now) compare(region);
  const bool more = !regions_.lock()->at(region).waiting.empty();
  return control::Outcome::again(more ? kPause : kPrune);
}

void RegionMirrors::show(const std::string& region, const Json& summary) {
  const std::string name = base::string_or(summary, training().name_member);
  const base::Timestamp made{static_cast<std::int64_t>(created(summary) * 1'000)};
  const kube::ObjectKey key{namespace_of_region(region), mirror_name(name)};
  remember(region, summary, modified(summary));
  if (clock_.now() - made > limits_.age || jobs_.find(key)) return;
  try {
    if (is_tagged(region, summary)) return;
    const Json job = remotes_.get({region, ""})
                         .call("sagemaker", training().describe, {{training().name_member, name}});
    Json object = mirror_object(training(), {region, ""}, job, key.ns, kOfRegion);
    kube::set_annotation(object, kMadeAnnotation, kube::time_text(made));
    ensure_namespace(region);
    jobs_.create(object);
  } catch (const base::Error& error) {
    // Shown at its next change. One job must not hold up the others.
    const auto* answer = dynamic_cast<const kube::StatusError*>(&error);
    const bool there = answer != nullptr && answer->reason() == "AlreadyExists";
    if (there || has_no_record(error)) return;
    base::log_warn("a job has no mirror",
                   {{"region", region}, {"job", name}, {"why", error.message()}});
  }
}

bool RegionMirrors::is_tagged(const std::string& region, const Json& summary) {
  const Json tags = remotes_.get({region, ""})
                        .call("sagemaker", "ListTags",
                              {{"ResourceArn", base::string_or(summary, training().arn_member)}});
  const Json* list = base::find(tags, "Tags");
  const bool tagged = list != nullptr && list->is_array() &&
                      std::ranges::any_of(list->get_array(), [](const Json& tag) {
                        return base::string_or(tag, "Key") == kOwnerTag;
                      });
  if (tagged) remember(region, summary, kForGood);
  return tagged;
}

void RegionMirrors::remember(const std::string& region, const Json& summary, double until) {
  auto regions = regions_.lock();
  auto& done = regions->at(region).done;
  if (done.size() >= kMostDone) done.clear();  // looked at again, at worst
  done[base::string_or(summary, training().name_member)] = until;
}

void RegionMirrors::ensure_namespace(const std::string& region) {
  if (regions_.lock()->at(region).has_namespace) return;
  try {
    jobs_.api().create({"", "v1", "namespaces"},
                       {{"apiVersion", "v1"},
                        {"kind", "Namespace"},
                        {"metadata", {{"name", namespace_of_region(region)}}}});
  } catch (const kube::StatusError& error) {
    if (error.reason() != "AlreadyExists") throw;
  }
  regions_.lock()->at(region).has_namespace = true;
}

std::vector<Json> RegionMirrors::mirrors(const std::string& region) const {
  std::vector<Json> objects = jobs_.list(namespace_of_region(region));
  std::erase_if(objects, [](const Json& object) {
    return kube::find_label(object, kMirrorLabel) != kOfRegion;
  });
  return objects;
}

void RegionMirrors::prune(const std::string& region) {
  for (const Json& mirror : outdated(mirrors(region), clock_.now(), limits_)) jobs_.remove(mirror);
}

// Listings of what changed do not show what was deleted.
void RegionMirrors::compare(const std::string& region) {
  const std::vector<Json> shown = mirrors(region);
  if (shown.empty()) return;
  const auto oldest = std::ranges::min_element(shown, {}, made_at);
  const std::vector<std::string> names = names_since(region, made_at(*oldest));
  const std::set<std::string> there(names.begin(), names.end());
  for (const Json& mirror : shown) {
    if (!there.contains(job_of(mirror))) jobs_.remove(mirror);
  }
}

std::vector<std::string> RegionMirrors::names_since(const std::string& region,
                                                    base::Timestamp since) {
  std::vector<std::string> names;
  // Annotations have whole seconds, and "after" leaves out the instant itself.
  JsonObject input{{"MaxResults", 100}, {"CreationTimeAfter", since.seconds() - 2}};
  while (true) {
    const Json page = remotes_.get({region, ""}).call("sagemaker", training().list, input);
    const Json* summaries = base::find(page, training().summaries_member);
    if (summaries != nullptr && summaries->is_array()) {
      for (const Json& summary : summaries->get_array())
        names.push_back(base::string_or(summary, training().name_member));
    }
    const std::string token = base::string_or(page, "NextToken");
    if (token.empty()) return names;
    input["NextToken"] = token;
  }
}

}  // namespace meridian::operators
