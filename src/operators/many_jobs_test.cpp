// What many jobs cost a region (P8): requests follow changes, not jobs. bench/p8_controllers.py
// shows the same with 10,000 over HTTP.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <iostream>

#include "operators/conditions.h"
#include "operators/test_bed.h"

namespace meridian::operators {
namespace {

TEST(ManyJobs, CostRequestsForTheirChangesAndOneListingASecond) {
  const int count = 500;
  TestBed bed;
  const Kind& kind = get_kind("TrainingJob");
  JobController jobs(kind, bed.resources(kind), bed.parts, {.installation = "home"});
  bed.steps.add(kind.plural, [&](const control::Key& key) { return jobs.step(key); });
  const auto begin = bed.clock.ticks();
  for (int i = 0; i < count; ++i) {
    bed.api.create(kind.resource(),
                   {{"apiVersion", "sagemaker.aws.amazon.com/v1"},
                    {"kind", "TrainingJob"},
                    {"metadata", {{"name", "j" + std::to_string(i)}, {"namespace", "default"}}},
                    {"spec", {{"region", "us-west-2"}}}});
  }
  bed.settle({&kind}, 3);
  ASSERT_EQ(bed.remotes.size(), static_cast<std::size_t>(count));
  const std::vector<std::string> names = bed.remotes.names();
  for (const auto& name : names)
    bed.remotes.put(name, "InProgress", {{"SecondaryStatus", "Training"}});
  bed.settle({&kind}, 3);
  for (const auto& name : names) bed.remotes.put(name, "Completed");
  bed.settle({&kind}, 3);
  int observed = 0;
  for (const base::Json& object : bed.api.list(kind.resource(), "").items)
    observed += condition_status(object, "Complete") == "True";
  EXPECT_EQ(observed, count);

  const auto seconds = (bed.clock.ticks() - begin).count() / 1'000;
  const int listings = bed.remotes.calls["ListTrainingJobs"];
  int requests = -listings;
  for (const auto& [_, calls] : bed.remotes.calls) requests += calls;
  const int changes = 3 * count;  // made, training, completed
  std::cout << count << " jobs, " << changes << " changes: " << requests << " requests ("
            << static_cast<double>(requests) / changes << " per change) and " << listings
            << " listings in " << seconds << " s\n";
  EXPECT_LE(requests, 2 * changes);
  EXPECT_LE(listings, seconds + 1);
}

}  // namespace
}  // namespace meridian::operators
