// `meridian plan`: where and when the rows of an array would run, what that would cost, and why.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <ostream>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/format.h"
#include "cli/manifest_files.h"
#include "cli/output.h"
#include "kube/object.h"

namespace meridian::cli {
namespace {

using base::Json;

struct PlanOptions {
  std::string file, format = "table";
  std::vector<std::string> why;
  int shown = 50;
};

std::string duration_text(double seconds) {
  if (seconds >= 2 * 3'600) return fmt::format("{:.1f} h", seconds / 3'600);
  if (seconds >= 120) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.0f} s", seconds);
}

std::string time_text(const Json& object, std::string_view field) {
  return base::find(object, field) == nullptr ? "-"
                                              : duration_text(base::double_or(object, field, 0));
}

std::string term(const Json& object, const std::string& field) {
  return format_money(base::double_or(*base::find(object, "Cost"), field, 0));
}

// An unpriced row may still pay for a copy.
std::string cost_text(const Json& object) {
  return base::bool_or(object, "Priced", false) ? term(object, "Total") : "no price";
}

std::string market_text(const Json& object) {
  const std::string zone = base::string_or(object, "Zone");
  return base::string_or(object, "Market", "-") + (zone.empty() ? "" : " " + zone);
}

std::string copy_text(const Json& row) {
  const std::string from = base::string_or(row, "CopiedFrom");
  if (from.empty()) return "-";
  return base::bool_or(row, "MakesCopy", false)
             ? fmt::format("from {}, {}", from, time_text(row, "CopyEnd"))
             : "made by another row";
}

void print_rows(std::ostream& out, const base::JsonArray& rows, std::size_t shown) {
  Table table({"ROW", "REGION", "MARKET", "COPY", "START", "END", "COST", "IMAGES/S"});
  for (std::size_t i = 0; i < std::min(shown, rows.size()); ++i) {
    const Json& row = rows[i];
    const bool waits = base::find(row, "WaitsFor") != nullptr;
    const double rate = base::double_or(row, "ImagesPerSecond", 0);
    table.add({base::string_or(row, "Key"), waits ? "waits" : base::string_or(row, "Region"),
               market_text(row), waits ? "-" : copy_text(row), time_text(row, "Start"),
               time_text(row, "End"), waits ? "-" : cost_text(row),
               rate > 0 ? format_number(rate) : "-"});
  }
  table.print(out);
  if (rows.size() > shown)
    out << fmt::format("… and {}; -o json has all\n",
                       count_of(static_cast<std::int64_t>(rows.size() - shown), "row"));
}

// One line for each reason.
void print_waiting(std::ostream& out, const base::JsonArray& rows) {
  std::vector<std::pair<std::string, std::int64_t>> reasons;
  for (const Json& row : rows) {
    const std::string reason = base::string_or(row, "WaitsFor");
    if (reason.empty()) continue;
    const auto known = std::ranges::find(reasons, reason, [](const auto& r) { return r.first; });
    if (known == reasons.end()) {
      reasons.emplace_back(reason, 1);
    } else {
      ++known->second;
    }
  }
  for (const auto& [reason, count] : reasons)
    out << fmt::format("{} waits: {}\n", count_of(count, "row"), reason);
}

std::string how_good(const Json& plan) {
  if (base::bool_or(plan, "Exact", false)) return "no plan is better";
  return fmt::format("at most {:.1f} % from the best", 100 * base::double_or(plan, "Gap", 0));
}

void print_totals(std::ostream& out, const Json& plan) {
  const auto& rows = base::find(plan, "Rows")->as_array();
  const auto waiting = base::int_or(plan, "Waiting", 0);
  out << fmt::format("\n{} of {} placed; done in {}; {}\n",
                     static_cast<std::int64_t>(rows.size()) - waiting,
                     count_of(static_cast<std::int64_t>(rows.size()), "row"),
                     duration_text(base::double_or(plan, "End", 0)), how_good(plan));
  out << fmt::format("expected cost {}: instances {}, copies {}, work lost to reclaims {}\n",
                     term(plan, "Total"), term(plan, "Instances"), term(plan, "Copy"),
                     term(plan, "LostWork"));
  if (const auto unpriced = base::int_or(plan, "Unpriced", 0); unpriced > 0)
    out << fmt::format("no price is known for {}: the cost is without them\n",
                       count_of(unpriced, "row"));
  if (const double rate = base::double_or(plan, "ImagesPerSecond", 0); rate > 0)
    out << fmt::format("{} images/s at once, at most\n", format_number(rate));
  for (const Json& note : base::find(plan, "Notes")->as_array())
    out << std::string(base::view(note.as_string())) << "\n";
  print_waiting(out, rows);
}

void print_why(std::ostream& out, const Json& row) {
  out << fmt::format("\n{}: {} x {}\n", base::string_or(row, "Key"),
                     base::int_or(row, "InstanceCount", 1), base::string_or(row, "InstanceType"));
  Table table({"REGION", "MARKET", "INSTANCES", "COPY", "LOST WORK", "TOTAL", "END", "WHY"});
  for (const Json& c : base::find(row, "Candidates")->as_array()) {
    const std::string ruled_out = base::string_or(c, "RuledOut");
    const std::string flip = base::string_or(c, "Flip");
    const bool chosen = base::bool_or(c, "Chosen", false);
    const bool priced = base::bool_or(c, "Priced", false);
    table.add({base::string_or(c, "Region"), market_text(c),
               priced ? term(c, "Instances") : "no price", term(c, "Copy"),
               priced ? term(c, "LostWork") : "-", cost_text(c), time_text(c, "End"),
               chosen                              ? "chosen"
               : ruled_out.empty() || flip.empty() ? ruled_out + flip
                                                   : ruled_out + "; " + flip});
  }
  table.print(out);
}

int plan(Context& context, const PlanOptions& o) {
  const Json array = read_array(o.file);
  const kube::ObjectKey key = kube::key_of(array);
  const Json answer = context.session().sagemaker().call_meridian(
      "arrays-plan", {{"Spec", *base::find(array, "spec")},
                      {"Namespace", key.ns.empty() ? "default" : key.ns},
                      {"Name", key.name},
                      {"Why", base::JsonArray(o.why.begin(), o.why.end())}});
  auto& out = context.console.out();
  if (o.format != "table") {
    print_value(out, answer, parse_format(o.format));
    return 0;
  }
  const auto& rows = base::find(answer, "Rows")->as_array();
  print_rows(out, rows, static_cast<std::size_t>(std::max(0, o.shown)));
  print_totals(out, answer);
  for (const Json& row : base::find(answer, "Why")->as_array()) print_why(out, row);
  return 0;
}

}  // namespace

void add_plan(Command root, Context& context) {
  auto o = std::make_shared<PlanOptions>();
  auto command = root.add("plan", "Show where rows of an array would run, at what cost, and why",
                          "meridian plan -f grid.yaml --why s3://bucket/drive-7");
  command.option("-f,--filename", o->file, "YAML file with a TrainingArray");
  command.option("--why", o->why, "the key of a row: every region for it, and what decided");
  command.option("--shown", o->shown, "how many rows are shown");
  command.option("-o,--format", o->format, "table, json or yaml");
  command.run([o, &context] { return plan(context, *o); });
}

}  // namespace meridian::cli
