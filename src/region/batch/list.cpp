// ListJobs: by queue, by array; by state or by one filter.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/strings.h"
#include "region/batch/jobs/retry.h"
#include "region/batch/jobs/spec.h"
#include "region/batch/operations.h"
#include "region/batch/shelf.h"

namespace meridian::region::batch {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

void put_time(JsonObject& object, std::string_view member,
              const std::optional<base::Timestamp>& time) {
  if (time) object[member] = time->ms;
}

// `run`: of the child, or of the job that is no array; nullptr: it has none.
JsonObject summary_of(const Core& core, const JobRecord& job, std::optional<std::uint32_t> index,
                      const Run* run, const std::string& why_runnable) {
  const std::string id = index ? job.child_id(*index) : job.id;
  JsonObject out{{"jobId", id},
                 {"jobArn", core.arn("job", id)},
                 {"jobName", job.name},
                 {"jobDefinition", job.definition},
                 {"createdAt", job.created.ms}};
  if (!job.share.empty()) out["shareIdentifier"] = job.share;
  if (job.nodes > 0) out["nodeProperties"] = JsonObject{{"numNodes", std::int64_t{job.nodes}}};
  if (job.is_array() && !index) {
    out["status"] = name(job.status());
    out["arrayProperties"] = JsonObject{{"size", std::int64_t{job.size}},
                                        {"statusSummary", summary_counts(job.states)},
                                        {"statusSummaryLastUpdatedAt", job.counted.ms}};
    if (!job.reason.empty()) out["statusReason"] = job.reason;
    put_time(out, "startedAt", job.started);
    put_time(out, "stoppedAt", job.stopped);
    return out;
  }
  const std::uint32_t child = index.value_or(0);
  const Status status = job.states.at(child);
  out["status"] = name(status);
  if (index) out["arrayProperties"] = JsonObject{{"index", std::int64_t{child}}};
  std::string reason = run ? run->status_reason : job.skip_reason(child);
  if (status == Status::runnable) reason = why_runnable;
  if (!reason.empty()) out["statusReason"] = reason;
  if (run == nullptr) return out;
  put_time(out, "startedAt", run->started ? run->started : run->first_started);
  put_time(out, "stoppedAt", run->stopped);
  if (is_terminal(status) && !run->attempts.empty()) {
    const Attempt& last = run->attempts.back();
    JsonObject container;
    if (last.exit_code) container["exitCode"] = *last.exit_code;
    if (!last.reason.empty()) container["reason"] = last.reason;
    if (!container.empty()) out["container"] = std::move(container);
  }
  return out;
}

JsonObject summary_of(const Core& core, const JobRecord& job) {
  if (job.is_array()) return summary_of(core, job, std::nullopt, nullptr, "");
  const auto run = find_run(core, job.id, 0);
  const bool waits = job.status() == Status::runnable;
  return summary_of(core, job, std::nullopt, run ? &*run : nullptr,
                    waits ? why_runnable(core, job, 0) : "");
}

// One look-up for all of a page's children, most of which have none.
std::map<std::uint32_t, Run> runs_between(const Core& core, const std::string& job,
                                          std::uint32_t first, std::uint32_t last) {
  std::map<std::uint32_t, Run> runs;
  store::ListQuery query{.prefix = core.prefix + "child/" + job + "/", .limit = 1000};
  if (first > 0) query.start_after = child_key(core.prefix, job, first - 1);
  do {
    const store::Page page = core.parts.store.list(query);
    for (const auto& document : page.documents) {
      if (document.key > child_key(core.prefix, job, last)) return runs;
      Run run = parse_run(document);
      const std::uint32_t index = run.index;
      runs.emplace(index, std::move(run));
    }
    query.token = page.next_token;
  } while (!query.token.empty());
  return runs;
}

struct Filter {
  std::string name;
  std::vector<std::string> values;
};

std::optional<Filter> read_filter(const JsonObject& input) {
  const Json* filters = base::find(input, "filters");
  if (filters == nullptr || filters->as_array().empty()) return std::nullopt;
  if (filters->as_array().size() > 1) refuse("filters: only one filter can be used at a time");
  const Json& given = filters->as_array().front();
  Filter filter{.name = base::string_or(given, "name"), .values = {}};
  if (const Json* values = base::find(given, "values"))
    for (const Json& each : values->as_array())
      filter.values.emplace_back(base::view(each.as_string()));
  constexpr std::string_view kKnown[] = {"JOB_NAME", "JOB_DEFINITION", "BEFORE_CREATED_AT",
                                         "AFTER_CREATED_AT", "SHARE_IDENTIFIER"};
  if (std::ranges::find(kKnown, filter.name) == std::end(kKnown))
    refuse("filters: '" + filter.name +
           "' is none of JOB_NAME, JOB_DEFINITION, BEFORE_CREATED_AT, AFTER_CREATED_AT, "
           "SHARE_IDENTIFIER");
  return filter;
}

bool fits(const Filter& filter, const JobRecord& job) {
  const std::string definition = name_of(job.definition);
  return std::ranges::any_of(filter.values, [&](const std::string& value) {
    const std::int64_t time = base::to_int(value).value_or(0);
    if (filter.name == "JOB_NAME") return reason_matches(value, job.name);
    if (filter.name == "BEFORE_CREATED_AT") return job.created.ms < time;
    if (filter.name == "AFTER_CREATED_AT") return job.created.ms > time;
    if (filter.name == "SHARE_IDENTIFIER") return job.share == value;
    return reason_matches(value, job.definition) || reason_matches(value, definition) ||
           reason_matches(value, definition.substr(0, definition.find(':')));
  });
}

std::size_t page_size(const JsonObject& input, std::size_t most) {
  const auto wanted = base::int_or(input, "maxResults", static_cast<std::int64_t>(most));
  return static_cast<std::size_t>(std::clamp<std::int64_t>(wanted, 1, most));
}

// The children of an array in that state; the token is the index to go on from.
Json list_children(const Core& core, const JsonObject& input, Status status) {
  const std::string id = name_of(base::string_or(input, "arrayJobId"));
  const auto job = find_job(core, id);
  if (!job || !job->is_array()) refuse("there is no array job '" + id + "'");
  std::size_t from = 0;
  if (const std::string token = base::string_or(input, "nextToken"); !token.empty()) {
    const auto index = base::to_uint(token);
    if (!index || *index >= job->size) refuse("Invalid nextToken");
    from = *index;
  }
  std::vector<std::uint32_t> indexes;
  const std::size_t most = page_size(input, 1000);
  auto next = job->states.find(status, from);
  for (; next && indexes.size() < most; next = job->states.find(status, *next + 1))
    indexes.push_back(static_cast<std::uint32_t>(*next));
  JsonObject answer;
  JsonArray children;
  if (!indexes.empty()) {
    const auto runs = runs_between(core, id, indexes.front(), indexes.back());
    const std::string why = status == Status::runnable ? why_queue_waits(core, *job) : "";
    for (const std::uint32_t index : indexes) {
      const auto run = runs.find(index);
      children.push_back(
          summary_of(core, *job, index, run == runs.end() ? nullptr : &run->second, why));
    }
  }
  answer["jobSummaryList"] = std::move(children);
  if (next) answer["nextToken"] = std::to_string(*next);
  return answer;
}

Json list_nodes(const Core& core, const JsonObject& input, Status status) {
  const std::string id = name_of(base::string_or(input, "multiNodeJobId"));
  const auto job = find_job(core, id);
  if (!job || job->nodes == 0) refuse("there is no multi-node job '" + id + "'");
  JsonArray nodes;
  for (std::uint32_t node = 0; node < job->nodes && job->status() == status; ++node) {
    JsonObject summary = summary_of(core, *job);
    summary["jobId"] = id + "#" + std::to_string(node);
    summary["jobArn"] = core.arn("job", id + "#" + std::to_string(node));
    summary["nodeProperties"] = JsonObject{{"nodeIndex", std::int64_t{node}}};
    nodes.push_back(std::move(summary));
  }
  return JsonObject{{"jobSummaryList", std::move(nodes)}};
}

}  // namespace

Json list_jobs(Core& core, const JsonObject& input) {
  int roots = 0;
  for (const char* root : {"jobQueue", "arrayJobId", "multiNodeJobId"})
    roots += base::string_or(input, root).empty() ? 0 : 1;
  if (roots != 1) refuse("exactly one of jobQueue, arrayJobId and multiNodeJobId must be given");
  const auto status = parse_status(base::string_or(input, "jobStatus", "RUNNING"));
  if (!status) refuse("jobStatus '" + base::string_or(input, "jobStatus") + "' is unknown");
  if (!base::string_or(input, "arrayJobId").empty()) return list_children(core, input, *status);
  if (!base::string_or(input, "multiNodeJobId").empty()) return list_nodes(core, input, *status);

  const JsonObject queue = get_item(core, kQueues, base::string_or(input, "jobQueue"));
  const auto filter = read_filter(input);
  const bool by_status = !filter || filter->name == "SHARE_IDENTIFIER";
  store::ListQuery query{.prefix = core.prefix + "job/",
                         .equals = {{"queue", base::string_or(queue, "jobQueueName")}},
                         .order_by = "created",
                         .order = store::ListQuery::Order::descending};
  if (by_status) query.equals["status"] = std::string(name(*status));
  query.token = base::string_or(input, "nextToken");
  const std::size_t most = page_size(input, filter ? 100 : 1000);
  JsonArray jobs;
  do {
    query.limit = most - jobs.size();
    store::Page page;
    try {
      page = core.parts.store.list(query);
    } catch (const base::Error& error) {  // the token is the caller's
      if (error.code() != base::Code::invalid_argument) throw;
      refuse("Invalid nextToken: " + error.message());
    }
    for (const auto& document : page.documents) {
      const JobRecord job = parse_job(document);
      if (!filter || fits(*filter, job)) jobs.push_back(summary_of(core, job));
    }
    query.token = page.next_token;
  } while (!query.token.empty() && jobs.size() < most);
  JsonObject answer{{"jobSummaryList", std::move(jobs)}};
  if (!query.token.empty()) answer["nextToken"] = query.token;
  return answer;
}

}  // namespace meridian::region::batch
