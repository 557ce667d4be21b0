// `meridian describe`: everything there is to know of one training job.
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

struct DescribeOptions {
  ResourceOptions resources;
  std::string name, format = "table";
};

std::string text_at(const Json& value, std::string_view path) {
  const auto* found = base::find_path(value, path);
  if (found == nullptr) return "";
  return found->is_string() ? std::string(base::view(found->as_string())) : base::to_text(*found);
}

class Sheet {
 public:
  explicit Sheet(std::ostream& out) : out_(out) {}
  void line(std::string_view name, std::string_view value) {
    if (value.empty()) return;
    std::string label(name);
    label += ':';
    label.resize(std::max<std::size_t>(18, label.size() + 1), ' ');
    out_ << label << value << '\n';
  }
  void time(std::string_view name, const Json& answer, std::string_view member) {
    if (auto at = find_time(answer, member)) line(name, base::format_iso8601_seconds(*at));
  }
  void heading(std::string_view name) { out_ << name << ":\n"; }
  void item(const std::string& text) { out_ << "  " << text << '\n'; }

 private:
  std::ostream& out_;
};

const base::JsonArray* find_array(const Json& value, std::string_view path) {
  const auto* found = base::find_path(value, path);
  return found != nullptr && found->is_array() && !found->as_array().empty() ? &found->as_array()
                                                                             : nullptr;
}

void print_channels(Sheet& sheet, const Json& job) {
  const auto* channels = find_array(job, "InputDataConfig");
  if (channels == nullptr) return;
  sheet.heading("Channels");
  for (const auto& channel : *channels) {
    auto uri = text_at(channel, "DataSource.S3DataSource.S3Uri");
    if (uri.empty()) uri = text_at(channel, "DataSource.FileSystemDataSource.FileSystemId");
    const auto type = base::string_or(channel, "ContentType");
    sheet.item(base::string_or(channel, "ChannelName") + "  " + uri +
               (type.empty() ? "" : "  (" + type + ")"));
  }
}

void print_hyperparameters(Sheet& sheet, const Json& job) {
  const auto* all = base::find(job, "HyperParameters");
  if (all == nullptr || !all->is_object() || all->as_object().empty()) return;
  sheet.heading("Hyperparameters");
  for (const auto& [name, value] : all->as_object())
    sheet.item(
        std::string(name) + " = " +
        (value.is_string() ? std::string(base::view(value.as_string())) : base::to_text(value)));
}

void print_transitions(Sheet& sheet, const Json& job) {
  const auto* transitions = find_array(job, "SecondaryStatusTransitions");
  if (transitions == nullptr) return;
  sheet.heading("Transitions");
  for (const auto& transition : *transitions) {
    const auto start = find_time(transition, "StartTime");
    const auto end = find_time(transition, "EndTime");
    sheet.item((start ? base::format_iso8601_seconds(*start) : "-") + "  " +
               base::string_or(transition, "Status") +
               (start && end ? " (" + base::format_duration(*end - *start) + ")" : "") + "  " +
               base::string_or(transition, "StatusMessage"));
  }
}

void print_notes(Sheet& sheet, const Json& job) {
  const auto* warnings = find_array(job, "Meridian.Warnings");
  if (warnings == nullptr) return;
  sheet.heading("Notes");
  for (const auto& warning : *warnings)
    if (warning.is_string()) sheet.item(std::string(base::view(warning.as_string())));
}

void print_job(std::ostream& out, const Json& job) {
  Sheet sheet(out);
  sheet.line("Name", base::string_or(job, "TrainingJobName"));
  sheet.line("ARN", base::string_or(job, "TrainingJobArn"));
  sheet.line("Status", base::string_or(job, "TrainingJobStatus") + " (" +
                           base::string_or(job, "SecondaryStatus") + ")");
  sheet.line("Failure reason", base::string_or(job, "FailureReason"));
  sheet.line("Image", text_at(job, "AlgorithmSpecification.TrainingImage"));
  sheet.line("Runs", text_at(job, "Meridian.Program.explanation"));
  sheet.line("Instances",
             std::to_string(instance_count(job)) + " × " +
                 text_at(job, "ResourceConfig.InstanceType") +
                 (base::bool_or(job, "EnableManagedSpotTraining", false) ? " (spot)" : ""));
  sheet.line("Artifact", text_at(job, "ModelArtifacts.S3ModelArtifacts"));
  sheet.line("Checkpoints", text_at(job, "CheckpointConfig.S3Uri"));
  sheet.time("Created", job, "CreationTime");
  sheet.time("Started", job, "TrainingStartTime");
  sheet.time("Ended", job, "TrainingEndTime");
  if (base::find(job, "TrainingTimeInSeconds") != nullptr)
    sheet.line("Time", std::to_string(base::int_or(job, "TrainingTimeInSeconds", 0)) +
                           " s training, " + billed_line(job));
  sheet.line("Cost", cost_line(job));
  for (const char* counter : {"Reclaims", "Retries"})
    if (const auto* own = base::find(job, "Meridian"); own && base::int_or(*own, counter, 0) > 0)
      sheet.line(counter, std::to_string(base::int_or(*own, counter, 0)));
  print_channels(sheet, job);
  print_hyperparameters(sheet, job);
  if (const auto metrics = final_metrics(job); !metrics.empty()) {
    sheet.heading("Final metrics");
    for (const auto& [name, value] : metrics) sheet.item(name + " = " + value);
  }
  print_transitions(sheet, job);
  print_notes(sheet, job);
}

int describe(Context& context, const DescribeOptions& options) {
  if (means_resources(options.resources)) return describe_resource(context, options.resources);
  const auto format = parse_format(options.format);
  const auto job = context.session().sagemaker().call(
      "DescribeTrainingJob", {{"TrainingJobName", job_name_of(options.name)}});
  if (format == Format::json || format == Format::yaml)
    print_value(context.console.out(), job, format);
  else
    print_job(context.console.out(), job);
  return 0;
}

}  // namespace

void add_describe(Command root, Context& context) {
  auto o = std::make_shared<DescribeOptions>();
  auto command = root.add("describe", "Show a training job in full",
                          "meridian describe digits-1\nmeridian describe digits-1 -o yaml");
  command.argument("name", o->name, "NAME or trainingjob/NAME; KIND/NAME of a resource");
  command.option("-o,--format", o->format, "table, json or yaml");
  add_cluster_options(command, o->resources.cluster);
  command.run([o, &context] {
    o->resources.names = {o->name};
    return describe(context, *o);
  });
}

}  // namespace meridian::cli
