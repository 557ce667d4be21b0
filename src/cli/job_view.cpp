// SPDX-License-Identifier: Apache-2.0
#include "cli/job_view.h"

#include <algorithm>
#include <regex>

#include "base/json.h"
#include "base/strings.h"
#include "cli/format.h"

namespace meridian::cli {

using base::Json;

namespace {

// std::regex recurses per character: longer lines are cut, which only the view notices.
constexpr std::size_t kLongestLine = 1000;

const base::JsonArray& array_of(const Json& object, std::string_view member) {
  static const base::JsonArray none;
  const auto* found = base::find(object, member);
  return found != nullptr && found->is_array() ? found->as_array() : none;
}

Colour colour_of(std::string_view status) {
  if (status == "Completed") return Colour::green;
  if (status == "Failed") return Colour::red;
  if (status == "Stopped" || status == "Stopping") return Colour::yellow;
  return Colour::bold;
}

std::string instance_type(const Json& answer) {
  const auto* resources = base::find(answer, "ResourceConfig");
  return resources != nullptr ? base::string_or(*resources, "InstanceType") : "";
}

// "running", "ended 1"; what the region says of the instance, else the job's own state.
std::string state_of(const Json& answer, const std::string& host) {
  const auto* own = base::find(answer, "Meridian");
  if (own != nullptr)
    for (const auto& instance : array_of(*own, "Instances")) {
      if (base::string_or(instance, "Host") != host) continue;
      const auto* code = base::find(instance, "ExitCode");
      return base::string_or(instance, "Phase") +
             (code != nullptr ? " " + base::to_text(*code) : "");
    }
  return base::to_lower(base::string_or(answer, "SecondaryStatus"));
}

// "3/40 files, 1.5 MiB of 9.8 MiB" while channels are staged, else nothing.
std::string staging_text(const Json& answer) {
  const auto* staging = base::find_path(answer, "Meridian.Staging");
  if (staging == nullptr || base::find(*staging, "FilesTotal") == nullptr) return "";
  const auto bytes = [&](std::string_view member) {
    return base::format_bytes(static_cast<std::uint64_t>(base::int_or(*staging, member, 0)));
  };
  return std::to_string(base::int_or(*staging, "FilesDone", 0)) + "/" +
         std::to_string(base::int_or(*staging, "FilesTotal", 0)) + " files, " + bytes("BytesDone") +
         " of " + bytes("BytesTotal");
}

std::string padded(std::string text, int width) {
  text.append(static_cast<std::size_t>(std::max(0, width - columns(text))), ' ');
  return text;
}

base::Duration elapsed(const Json& answer, std::optional<base::Timestamp> now) {
  const auto from = find_time(answer, "CreationTime");
  const auto to = find_time(answer, "TrainingEndTime");
  const auto end = to ? to : now ? now : find_time(answer, "LastModifiedTime");
  return from && end ? std::max(base::Duration(0), *end - *from) : base::Duration(0);
}

}  // namespace

bool is_terminal_status(std::string_view status) {
  return status == "Completed" || status == "Failed" || status == "Stopped";
}

struct MetricLines::Definition {
  std::string name;
  std::regex regex;
  bool escaped_tabs = false;  // written for lines as CloudWatch shows them
};

MetricLines::MetricLines(const std::vector<std::pair<std::string, std::string>>& definitions) {
  for (const auto& [name, text] : definitions) {
    try {
      definitions_.push_back({name, std::regex(text), text.find("#011") != std::string::npos});
    } catch (const std::regex_error&) {
      // Python-like syntax that this library lacks; the region reads it.
    }
  }
}

MetricLines::~MetricLines() = default;
MetricLines::MetricLines(MetricLines&&) noexcept = default;

std::vector<std::pair<std::string, double>> MetricLines::match(std::string_view line) const {
  std::vector<std::pair<std::string, double>> found;
  const std::string plain(line.substr(0, kLongestLine));
  for (const auto& definition : definitions_) {
    const auto text = definition.escaped_tabs ? base::replace_all(plain, "\t", "#011") : plain;
    std::smatch match;
    if (!std::regex_search(text, match, definition.regex) || match.size() < 2) continue;
    if (auto value = base::to_double(match[1].str())) found.emplace_back(definition.name, *value);
  }
  return found;
}

std::vector<std::pair<std::string, std::string>> final_metrics(const Json& answer) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& metric : array_of(answer, "FinalMetricDataList"))
    all.emplace_back(base::string_or(metric, "MetricName"),
                     format_number(base::double_or(metric, "Value", 0)));
  return all;
}

int instance_count(const Json& answer) {
  const auto* resources = base::find(answer, "ResourceConfig");
  if (resources == nullptr) return 0;
  std::int64_t count = base::int_or(*resources, "InstanceCount", 0);
  for (const auto& group : array_of(*resources, "InstanceGroups"))
    count += base::int_or(group, "InstanceCount", 0);
  return static_cast<int>(count);
}

std::string billed_line(const Json& answer) {
  const auto billed = base::int_or(answer, "BillableTimeInSeconds", 0);
  std::string line =
      "billed " + std::to_string(billed) + " s × " + std::to_string(instance_count(answer));
  if (const auto type = instance_type(answer); !type.empty()) line += " × " + type;
  return line;
}

std::string cost_line(const Json& answer) {
  const auto* cost = base::find_path(answer, "Meridian.Cost");
  if (cost == nullptr) return "";
  auto text = base::string_or(*cost, "Text");
  constexpr std::string_view unknown = "no price for ";
  if (!text.starts_with(unknown)) return text;
  return "no list price for " + text.substr(unknown.size()) +
         " (set price_per_hour in config.yaml)";
}

JobView::JobView(std::string job, const Metrics& metrics)
    : job_(std::move(job)), answer_(std::make_shared<Json>()), metrics_(metrics) {
  for (const auto& [name, regex] : metrics) metric_order_.push_back(name);
}

JobView::~JobView() = default;

void JobView::describe(Json answer) { *answer_ = std::move(answer); }

void JobView::log(const std::string& host, std::string_view line) {
  for (const auto& [name, value] : metrics_.match(line)) last_[host][name] = value;
}

std::string JobView::status() const { return base::string_or(*answer_, "TrainingJobStatus"); }

std::vector<std::string> JobView::news() {
  std::vector<std::string> lines;
  const auto& transitions = array_of(*answer_, "SecondaryStatusTransitions");
  for (std::size_t at = 0; at < transitions.size(); ++at) {
    const auto message = base::string_or(transitions[at], "StatusMessage");
    const bool fresh = at >= transitions_told_;
    const bool changed = at + 1 == transitions.size() && message != last_message_;
    if (fresh || changed)
      lines.push_back(base::string_or(transitions[at], "Status") +
                      (message.empty() ? "" : ": " + message));
    if (at + 1 == transitions.size()) last_message_ = message;
  }
  transitions_told_ = transitions.size();
  return lines;
}

std::vector<std::string> JobView::hosts() const {
  std::vector<std::string> all;
  for (int number = 1; number <= instance_count(*answer_); ++number)
    all.push_back("algo-" + std::to_string(number));
  return all;
}

std::string JobView::metrics_of(const std::string& host) const {
  const auto found = last_.find(host);
  if (found == last_.end()) return "";
  std::string text;
  for (const auto& name : metric_order_)
    if (auto value = found->second.find(name); value != found->second.end())
      text += (text.empty() ? "" : "  ") + name + " " + format_number(value->second);
  return text;
}

std::vector<std::string> JobView::block(const Console& console, base::Timestamp now) const {
  if (status().empty()) return {console.paint(Colour::bold, job_)};
  const auto& transitions = array_of(*answer_, "SecondaryStatusTransitions");
  auto message = transitions.empty() ? "" : base::string_or(transitions.back(), "StatusMessage");
  if (const auto staging = staging_text(*answer_); !staging.empty()) message += ": " + staging;
  const auto secondary = base::string_or(*answer_, "SecondaryStatus");
  std::vector<std::string> lines;
  lines.push_back(console.paint(Colour::dim, std::string(8, '-')));
  lines.push_back(console.paint(Colour::bold, job_) + "  " +
                  console.paint(colour_of(status()), secondary) + "  " +
                  base::format_duration(elapsed(*answer_, now)) + "  " + message);
  constexpr std::size_t most = 16;
  const auto all = hosts();
  for (std::size_t at = 0; at < all.size() && at < most; ++at) {
    lines.push_back("  " + padded(all[at], 8) + " " + padded(state_of(*answer_, all[at]), 12) +
                    " " + metrics_of(all[at]));
  }
  if (all.size() > most) lines.push_back("  … and " + std::to_string(all.size() - most) + " more");
  return lines;
}

std::vector<std::string> JobView::summary(const Console& console) const {
  std::vector<std::string> lines;
  const auto state = status();
  lines.push_back(console.paint(Colour::bold, job_) + " " + console.paint(colour_of(state), state) +
                  " in " + base::format_duration(elapsed(*answer_, {})));
  if (const auto reason = base::string_or(*answer_, "FailureReason"); !reason.empty())
    lines.push_back("  reason    " + reason);
  for (const auto& [name, value] : final_metrics(*answer_))
    lines.push_back("  " + padded(name, 22) + value);
  for (const auto& [host, values] : last_)
    if (last_.size() > 1) lines.push_back("  " + padded(host, 9) + " " + metrics_of(host));
  if (const auto* artifact = base::find_path(*answer_, "ModelArtifacts.S3ModelArtifacts");
      artifact != nullptr && artifact->is_string() && !artifact->as_string().empty())
    lines.push_back("  artifact  " + std::string(base::view(artifact->as_string())));
  const auto training = base::int_or(*answer_, "TrainingTimeInSeconds", 0);
  if (training > 0)
    lines.push_back("  time      " + base::format_duration(base::Duration(training * 1000)) +
                    " training, " + billed_line(*answer_));
  if (const auto cost = cost_line(*answer_); training > 0 && !cost.empty())
    lines.push_back("  cost      " + cost);
  if (const auto* own = base::find(*answer_, "Meridian"))
    for (const auto& warning : array_of(*own, "Warnings"))
      if (warning.is_string())
        lines.push_back("  " + console.paint(Colour::yellow, "note") + "      " +
                        std::string(base::view(warning.as_string())));
  return lines;
}

}  // namespace meridian::cli
