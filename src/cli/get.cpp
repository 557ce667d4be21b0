// `meridian get`: lists training jobs, or one; other kinds through the Kubernetes face.
//
// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "base/json.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/format.h"
#include "cli/job_view.h"
#include "cli/output.h"
#include "cli/resources.h"

namespace meridian::cli {
namespace {

using base::Json;

struct GetOptions {
  std::string status, contains, format = "table";
  int limit = 50;
  ResourceOptions resources;
  const std::string& what() const {
    static const std::string kNothing;
    return resources.names.empty() ? kNothing : resources.names[0];
  }
};

const std::vector<std::string> kKindNames{"trainingjob", "trainingjobs", "tj"};

bool is_kind(const std::string& word) {
  for (const auto& name : kKindNames)
    if (base::equals_ignoring_case(word, name)) return true;
  return false;
}

base::JsonArray list_jobs(Context& context, const GetOptions& options) {
  base::JsonArray jobs;
  base::JsonObject input{{"SortBy", "CreationTime"}, {"SortOrder", "Descending"}};
  if (!options.status.empty()) input["StatusEquals"] = options.status;
  if (!options.contains.empty()) input["NameContains"] = options.contains;
  const auto limit = static_cast<std::size_t>(std::max(1, options.limit));
  while (jobs.size() < limit) {
    input["MaxResults"] =
        static_cast<std::int64_t>(std::min<std::size_t>(100, limit - jobs.size()));
    const auto page = context.session().sagemaker().call("ListTrainingJobs", input);
    if (const auto* found = base::find(page, "TrainingJobSummaries"))
      for (const auto& job : found->as_array()) jobs.push_back(job);
    const auto next = base::string_or(page, "NextToken");
    if (next.empty()) break;
    input["NextToken"] = next;
  }
  return jobs;
}

std::vector<std::string> row_of(const Json& job, base::Timestamp now, Format format) {
  const auto created = find_time(job, "CreationTime");
  const auto ended = find_time(job, "TrainingEndTime");
  std::vector<std::string> row{
      base::string_or(job, "TrainingJobName"), base::string_or(job, "TrainingJobStatus"),
      base::string_or(job, "SecondaryStatus"), created ? format_age(now - *created) : "-",
      created && ended ? base::format_duration(*ended - *created) : "-"};
  if (format == Format::wide) {
    row.push_back(created ? base::format_iso8601_seconds(*created) : "-");
    row.push_back(base::string_or(job, "TrainingJobArn"));
  }
  return row;
}

void print_jobs(Context& context, const base::JsonArray& jobs, Format format) {
  auto& out = context.console.out();
  if (format == Format::name) {
    for (const auto& job : jobs) out << base::string_or(job, "TrainingJobName") << '\n';
  } else if (format == Format::json || format == Format::yaml) {
    print_value(out, Json(jobs), format);
  } else if (jobs.empty()) {
    context.console.say("No training jobs in " + context.session().installation().region + ".");
  } else {
    std::vector<std::string> header{"NAME", "STATUS", "SECONDARY", "AGE", "DURATION"};
    if (format == Format::wide) header.insert(header.end(), {"CREATED", "ARN"});
    Table table(header);
    for (const auto& job : jobs) table.add(row_of(job, context.clock.now(), format));
    table.print(out);
  }
}

int get(Context& context, const GetOptions& options) {
  const auto format = parse_format(options.format);
  if (means_resources(options.resources)) return get_resources(context, options.resources, format);
  if (options.what().empty() || is_kind(options.what())) {
    print_jobs(context, list_jobs(context, options), format);
    return 0;
  }
  const auto job = context.session().sagemaker().call(
      "DescribeTrainingJob", {{"TrainingJobName", job_name_of(options.what())}});
  if (format == Format::json || format == Format::yaml)
    print_value(context.console.out(), job, format);
  else
    print_jobs(context, {job}, format);
  return 0;
}

}  // namespace

std::string job_name_of(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == std::string::npos) return text;
  const auto kind = text.substr(0, slash);
  if (!is_kind(kind)) {
    const auto near = base::nearest(base::to_lower(kind), kKindNames);
    throw base::Error(
        base::Code::invalid_argument,
        "unknown kind '" + kind + "'; there is trainingjob" +
            (near ? "; did you mean '" + *near + "/" + text.substr(slash + 1) + "'?" : ""));
  }
  return text.substr(slash + 1);
}

void add_get(Command root, Context& context) {
  auto o = std::make_shared<GetOptions>();
  auto command =
      root.add("get", "List training jobs, newest first, or show one; or other resources",
               "meridian get\nmeridian get trainingjobs --status Failed -o json\n"
               "meridian get models -n team-a");
  command.arguments(
      "what", o->resources.names,
      "trainingjobs, NAME or trainingjob/NAME; KIND, KIND NAME or KIND/NAME of resources");
  add_cluster_options(command, o->resources.cluster);
  command.option("--status", o->status, "InProgress, Completed, Failed, Stopping or Stopped");
  command.option("--contains", o->contains, "only names that hold this text");
  command.option("--limit", o->limit, "at most so many");
  command.option("-o,--format", o->format, "table, wide, json, yaml or name");
  command.run([o, &context] { return get(context, *o); });
}

}  // namespace meridian::cli
