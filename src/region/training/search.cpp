// Search over training jobs. The answer is computed whole and cut into pages; the token names the
// place in the order, so that jobs that appear meanwhile are not lost or doubled more than an
// order by a changing property must allow.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aws/service.h"
#include "base/strings.h"
#include "region/training/match.h"
#include "region/training/operations.h"

namespace meridian::region::training {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

std::vector<Json> matching_jobs(Core& core, const Json& expression) {
  std::vector<Json> jobs;
  store::ListQuery query{.prefix = core.records.prefix(), .limit = 1000};
  for (;;) {
    store::Page page = core.parts.store.list(query);
    for (const auto& document : page.documents) {
      JobRecord record = parse_record(document);
      JsonObject job = description_of(record, core);
      job.erase("Meridian");
      job["Tags"] = record.tags;
      Json value(std::move(job));
      if (matches_expression(value, expression)) jobs.push_back(std::move(value));
    }
    if (page.next_token.empty()) return jobs;
    query.token = page.next_token;
  }
}

std::size_t first_of_page(const JsonObject& input) {
  std::string token = base::string_or(input, "NextToken");
  if (token.empty()) return 0;
  auto text = base::unbase64(token);
  auto offset = text ? base::to_uint(*text) : std::nullopt;
  if (!offset) throw aws::ApiError("ValidationException", "Invalid NextToken: " + token);
  return static_cast<std::size_t>(*offset);
}

}  // namespace

Json search(Core& core, const JsonObject& input) {
  std::string resource = base::string_or(input, "Resource");
  if (resource != "TrainingJob")
    throw aws::ApiError("ValidationException",
                        "Search knows the resource TrainingJob only, not " + resource);
  const Json* expression = base::find(input, "SearchExpression");
  std::vector<Json> jobs = matching_jobs(core, expression ? *expression : Json(JsonObject{}));
  std::string by = base::string_or(input, "SortBy", "LastModifiedTime");
  bool ascending = base::string_or(input, "SortOrder", "Descending") == "Ascending";
  std::stable_sort(jobs.begin(), jobs.end(), [&](const Json& a, const Json& b) {
    return ascending ? property_less(a, b, by) : property_less(b, a, by);
  });
  std::size_t first = std::min(first_of_page(input), jobs.size());
  std::size_t most = static_cast<std::size_t>(base::int_or(input, "MaxResults", 10));
  std::size_t last = std::min(jobs.size(), first + most);
  JsonArray results;
  for (std::size_t i = first; i < last; ++i)
    results.push_back(JsonObject{{"TrainingJob", std::move(jobs[i])}});
  JsonObject answer{{"Results", results},
                    {"TotalHits", JsonObject{{"Value", jobs.size()}, {"Relation", "EqualTo"}}}};
  if (last < jobs.size()) answer["NextToken"] = base::base64(std::to_string(last));
  return answer;
}

}  // namespace meridian::region::training
