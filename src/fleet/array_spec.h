// What a TrainingArray asks for (meridian.dev/v1alpha1).
//
//   spec:
//     rows:                            # one of
//       sql: SELECT region, uri, lr FROM datasets
//       manifest: s3://bucket/array.txt
//       inline: [{region: us-west-2, uri: s3://b/x, lr: 0.1}]
//     key: [uri]                       # columns that tell rows apart; all of them if absent
//     parallelism: 100                 # jobs at once
//     failurePolicy: {stopAfter: 3}    # failures that end the array; none if absent
//     suspend: false                   # true: running jobs are stopped, nothing is started
//     template: {…}                    # a TrainingJob's spec with $(row.COLUMN) anywhere
//     placement: cost                  # and more of placement_spec.h; without template.region
//
// Pure; thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "fleet/placement_spec.h"
#include "fleet/table.h"

namespace meridian::fleet {

struct RowSource {
  std::string sql, manifest;  // one of these is set, or inline_rows
  std::optional<Table> inline_rows;
};

struct ArraySpec {
  RowSource rows;
  std::vector<std::string> key;
  std::size_t parallelism = 100;
  std::optional<int> stop_after;
  bool suspend = false;
  PlacementSpec placement;
  base::Json specification;  // the template
};

// Error(invalid_argument) with the field's path.
ArraySpec parse_array_spec(const base::Json& spec);

// One row as a job: what the array will ask of a region.
struct RowPlan {
  std::string key;        // as people read it: "s3://b/x", or "a | b" of several columns
  std::string id;         // 12 hexadecimal digits: of the array and the key
  std::string digest;     // of region (unless planned) and request: another one = the row changed
  std::string region;     // empty until a plan gives it (placement other than pinned)
  std::string waits_for;  // not empty: the plan has no place for it, and why
  base::JsonObject request;  // CreateTrainingJob, without name and tags
};

// Every row's job. `identity` goes into the ids (the array's uid). Error(invalid_argument) with
// the row: a column that is missing or NULL, two rows of one key, a job that the schema of a
// TrainingJob or its rules refuse.
std::vector<RowPlan> plan_rows(const ArraySpec& spec, const Table& rows,
                               const std::string& identity);

// "<array>-<id>-<attempt>", at most 63 characters: the name is the fence between attempts.
std::string job_name(const std::string& array, const std::string& id, int attempt);

}  // namespace meridian::fleet
