// ListTrainingJobs, with AWS's order of things: MaxResults jobs are taken first (by the time and
// name filters), then StatusEquals is applied to them; a page may so be short or empty while a
// NextToken follows. The last page has none.
//
// SPDX-License-Identifier: Apache-2.0
#include "aws/service.h"
#include "base/strings.h"
#include "region/training/operations.h"

namespace meridian::region::training {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

std::optional<std::string> index_of_time(const JsonObject& input, std::string_view member,
                                         std::int64_t add_ms) {
  const Json* value = base::find(input, member);
  if (!value || !value->is_number()) return std::nullopt;
  auto ms = static_cast<std::int64_t>(value->to_number<double>() * 1000);
  return store::index_number(ms + add_ms);
}

void add_range(const JsonObject& input, const std::string& field, const std::string& stem,
               store::ListQuery& query) {
  // "After" and "Before" both exclude the instant itself.
  store::ListQuery::Range range{field, index_of_time(input, stem + "After", 1),
                                index_of_time(input, stem + "Before", 0)};
  if (range.at_least || range.below) query.ranges.push_back(range);
}

JsonObject summary_of(const JobRecord& record) {
  JsonObject summary{
      {"TrainingJobName", record.name},           {"TrainingJobArn", record.arn},
      {"CreationTime", record.created.seconds()}, {"LastModifiedTime", record.modified.seconds()},
      {"TrainingJobStatus", record.status},       {"SecondaryStatus", record.secondary}};
  if (record.ended) summary["TrainingEndTime"] = record.ended->seconds();
  if (!record.warm_pool.empty()) summary["WarmPoolStatus"] = record.warm_pool;
  return summary;
}

store::ListQuery query_for(const Core& core, const JsonObject& input) {
  store::ListQuery query{.prefix = core.records.prefix()};
  std::string by = base::string_or(input, "SortBy", "CreationTime");
  query.order_by = by == "Name" ? "name" : by == "Status" ? "status" : "creation";
  if (base::string_or(input, "SortOrder", "Ascending") == "Descending")
    query.order = store::ListQuery::Order::descending;
  add_range(input, "creation", "CreationTime", query);
  add_range(input, "modified", "LastModifiedTime", query);
  query.token = base::string_or(input, "NextToken");
  return query;
}

store::Page list_or_refuse(Core& core, const store::ListQuery& query) {
  try {
    return core.parts.store.list(query);
  } catch (const base::Error& error) {
    if (error.code() != base::Code::invalid_argument) throw;
    throw aws::ApiError("ValidationException", "Invalid NextToken: " + error.message());
  }
}

bool has_warm_pool_status(const JobRecord& record, const std::string& wanted) {
  return wanted.empty() || base::string_or(record.warm_pool, "Status") == wanted;
}

}  // namespace

Json list_training_jobs(Core& core, const JsonObject& input) {
  const auto most = static_cast<std::size_t>(base::int_or(input, "MaxResults", 10));
  const std::string contains = base::string_or(input, "NameContains");
  const std::string status = base::string_or(input, "StatusEquals");
  const std::string warm = base::string_or(input, "WarmPoolStatusEquals");
  store::ListQuery query = query_for(core, input);
  std::vector<JobRecord> taken;
  std::string next;
  do {
    query.limit = most - taken.size();
    store::Page page = list_or_refuse(core, query);
    for (const auto& document : page.documents) {
      JobRecord record = parse_record(document);
      if (record.name.find(contains) != std::string::npos && has_warm_pool_status(record, warm))
        taken.push_back(std::move(record));
    }
    query.token = next = page.next_token;
  } while (!next.empty() && taken.size() < most);

  JsonArray summaries;
  for (const JobRecord& record : taken)
    if (status.empty() || record.status == status) summaries.push_back(summary_of(record));
  JsonObject answer{{"TrainingJobSummaries", summaries}};
  if (!next.empty()) answer["NextToken"] = next;
  return answer;
}

}  // namespace meridian::region::training
