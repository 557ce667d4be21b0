// Carries TrainingArrays: rows to jobs in regions, and what becomes of them back to the resource.
//
// A step takes the rows of the array's run (once per generation, and per `meridian fanout retry`),
// decides by plan(), commits what it is about to ask, asks, and writes counts and first failures to
// the resource's status. It learns of the regions' changes from the feed. Promises, each tested:
//   1. One job per row and attempt, whatever crashes in between: the name says row and attempt, and
//      a name that is taken is ours exactly when its owner tag says so.
//   2. A row that a region does not answer for stays as it is and is asked again, later each time.
//   3. Pending rows go where a plan says (placement other than pinned); those it has no place or no
//      money for wait with its reason, and are planned again every minute.
//   4. A deleted array stops its jobs and waits for their ends; after `escape` it is let go.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/sync.h"
#include "control/runner.h"
#include "fleet/array_plan.h"
#include "fleet/array_planning.h"
#include "fleet/array_state.h"
#include "fleet/catalog.h"
#include "kube/client/api.h"
#include "operators/events.h"
#include "operators/feed.h"
#include "operators/remote.h"
#include "operators/resources.h"
#include "store/store.h"

namespace meridian::fleet {

inline constexpr std::string_view kRetryAnnotation = "meridian.dev/retry";
inline constexpr std::string_view kArrayFinalizer = "meridian.dev/training-array";
kube::ResourceId array_resource();

struct ArrayParts {
  kube::Api& api;
  operators::Remotes& remotes;
  operators::Feed& feed;
  operators::Events& events;
  store::Store& store;
  Catalog& catalog;
  const base::Clock& clock;
  std::function<std::string(const std::string& uri)> read_object;  // of S3
  std::function<RegionPools()> pools;  // of the regions here; for placement by plan
};

struct ArraySettings {
  std::string installation;         // first part of the owner tag
  std::filesystem::path campaigns;  // the user's database; empty = the catalog alone
  base::Duration escape{600'000};
};

class ArrayController {
 public:
  using Find = std::function<std::optional<base::Json>(const kube::ObjectKey&)>;
  // `find`: how a step reads a resource, from a cache or from the API itself.
  ArrayController(const ArrayParts& parts, ArraySettings settings, Find find);
  ~ArrayController();

  static constexpr std::string_view kStep = "trainingarrays";
  control::Outcome step(const control::Key& key);  // "trainingarrays/NAMESPACE/NAME"

  // Rows and jobs of a spec, without doing anything: what `preview` shows. Errors as parse and
  // plan_rows throw them.
  Table read_rows(const ArraySpec& spec) const;

 private:
  struct Work;
  struct Held;
  Held& hold(const std::string& uid);
  void ensure_run(Work& work);
  void place(Work& work);
  void place_again(Work& work);
  void observe(Work& work);
  void look(Work& work, std::size_t row);
  void take(Work& work, std::size_t row, const base::Json& description);
  void launch(Work& work, const std::vector<std::size_t>& rows);
  void ask(Work& work, std::size_t row);
  void create(Work& work, std::size_t row);
  bool is_ours(const Work& work, const RowState& state, const base::Json& description) const;
  void stop(Work& work, std::size_t row);
  void after_error(Work& work, std::size_t row, const base::Error& error);
  void end_without_job(Work& work, std::size_t row);
  void fail_spec(Work& work, const base::Error& error);
  control::Outcome report(Work& work, const Todo& todo);
  control::Outcome release(Work& work);
  operators::Record record_of(const RowState& state) const;

  ArrayParts parts_;
  ArraySettings settings_;
  operators::Resources resources_;
  base::Sync<std::map<std::string, std::unique_ptr<Held>>> held_;  // by uid
};

}  // namespace meridian::fleet
