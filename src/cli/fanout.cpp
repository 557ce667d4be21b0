// `meridian fanout`: an array of trainings over regions, from a file that describes a
// TrainingArray.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <ostream>

#include "base/strings.h"
#include "cli/array_view.h"
#include "cli/cluster.h"
#include "cli/follow.h"
#include "cli/format.h"
#include "cli/manifest_files.h"
#include "cli/output.h"
#include "cli/tables.h"
#include "kube/object.h"

namespace meridian::cli {
namespace {

using base::Json;
using base::JsonObject;

const kube::ResourceId kArrays{"meridian.dev", "v1alpha1", "trainingarrays"};

struct FanoutOptions {
  std::string file, name, format = "table";
  int shown = 3;
  bool detach = false;
  std::shared_ptr<ClusterOptions> cluster = std::make_shared<ClusterOptions>();
};

int preview(Context& context, const FanoutOptions& o) {
  const Json array = read_array(o.file);
  const Json answer = context.session().sagemaker().call_meridian(
      "arrays-preview", {{"Spec", *base::find(array, "spec")}, {"Shown", o.shown}});
  if (o.format != "table") {
    print_value(context.console.out(), answer, parse_format(o.format));
    return 0;
  }
  auto& out = context.console.out();
  Table columns({"COLUMN", "TYPE"});
  for (const Json& column : base::find(answer, "Columns")->as_array())
    columns.add({base::string_or(column, "Name"), base::string_or(column, "Type")});
  columns.print(out);
  out << "\n";
  Table regions({"REGION", "JOBS"});
  for (const auto& [region, count] : base::find(answer, "Regions")->as_object())
    regions.add({std::string(std::string_view(region)), base::to_text(count)});
  regions.print(out);
  for (const Json& row : base::find(answer, "Shown")->as_array()) {
    out << fmt::format("\n# {} in {}\n", base::string_or(row, "Key"),
                       base::string_or(row, "Region"));
    out << to_yaml(*base::find(row, "Request"));
  }
  context.console.say(
      fmt::format("{}; nothing was started", count_of(base::int_or(answer, "Rows", 0), "row")));
  return 0;
}

std::string where(const kube::ObjectKey& key) {
  return fmt::format("namespace = {} AND array = {}", sql_quote(key.ns), sql_quote(key.name));
}

// One look; whether the array has ended.
bool look(Context& context, Cluster& cluster, const kube::ObjectKey& key, ArrayView& view) {
  view.resource(cluster.api().get(kArrays, key));
  view.rows(ask_catalog(context,
                        "SELECT region, state, count(*) AS jobs, sum(cost_usd) AS cost, "
                        "sum(metrics ->> 'images_per_second') AS images_per_second "
                        "FROM array_results WHERE " +
                            where(key) + " GROUP BY region, state"));
  return view.ended();
}

int follow(Context& context, Cluster& cluster, const kube::ObjectKey& key) {
  const Interrupt interrupt;
  ArrayView view;
  while (!look(context, cluster, key, view)) {
    for (const std::string& line : view.news()) context.console.say("* " + line);
    context.console.draw(view.block());
    if (!interrupt.wait(base::Duration(500))) {
      context.console.clear();
      context.console.say(
          fmt::format("Detached; {} goes on.\n  meridian fanout status {}   look at it again\n"
                      "  meridian fanout cancel {}   stop it",
                      key.name, key.name, key.name));
      return 130;
    }
  }
  for (const std::string& line : view.news()) context.console.say("* " + line);
  context.console.clear();
  for (const std::string& line : view.block()) context.console.out() << line << "\n";
  context.console.say(
      fmt::format("  meridian fanout results {}   every row with its metrics and cost", key.name));
  return view.succeeded() ? 0 : 1;
}

int submit(Context& context, const FanoutOptions& o) {
  Json array = read_array(o.file);
  Cluster cluster(context, *o.cluster);
  if (kube::namespace_of(array).empty()) kube::metadata_of(array)["namespace"] = cluster.ns();
  const kube::ObjectKey key = kube::key_of(array);
  const bool known = cluster.api().find(kArrays, key).has_value();
  cluster.api().patch(kArrays, key, kube::PatchType::apply, array, {.field_manager = "meridian"});
  context.console.say(
      fmt::format("trainingarrays/{} {}", key.name, known ? "configured" : "created"));
  return o.detach ? 0 : follow(context, cluster, key);
}

int status(Context& context, const FanoutOptions& o) {
  Cluster cluster(context, *o.cluster);
  ArrayView view;
  look(context, cluster, {cluster.ns(), o.name}, view);
  for (const std::string& line : view.block()) context.console.out() << line << "\n";
  return 0;
}

int results(Context& context, const FanoutOptions& o) {
  Cluster cluster(context, *o.cluster);
  const kube::ObjectKey key{cluster.ns(), o.name};
  cluster.api().get(kArrays, key);  // a name that is wrong is told
  const bool all = o.format != "table";
  print_answer(
      context,
      spread_metrics(ask_catalog(
          context, fmt::format("SELECT key, region, state, job, "
                               "(ended_ms - started_ms) / 1000.0 AS seconds, "
                               "billable_seconds AS billable, cost_usd AS cost, metrics, {} "
                               "FROM array_results WHERE {} ORDER BY row",
                               all ? "columns, reason, attempt" : "substr(reason, 1, 60) AS reason",
                               where(key)))),
      o.format);
  return 0;
}

// A new run: rows that failed, were stopped, or changed at their source.
int retry(Context& context, const FanoutOptions& o) {
  Cluster cluster(context, *o.cluster);
  const kube::ObjectKey key{cluster.ns(), o.name};
  cluster.api().patch(
      kArrays, key, kube::PatchType::merge,
      {{"metadata",
        {{"annotations", {{"meridian.dev/retry", kube::micro_time_text(context.clock.now())}}}}},
       {"spec", {{"suspend", nullptr}}}});
  context.console.say(
      fmt::format("{}: rows that are new, changed, failed or stopped run again", o.name));
  return o.detach ? 0 : follow(context, cluster, key);
}

int cancel(Context& context, const FanoutOptions& o) {
  Cluster cluster(context, *o.cluster);
  cluster.api().patch(kArrays, {cluster.ns(), o.name}, kube::PatchType::merge,
                      {{"spec", {{"suspend", true}}}});
  context.console.say(fmt::format(
      "{}: its jobs are being stopped; `meridian fanout retry {}` goes on", o.name, o.name));
  return 0;
}

}  // namespace

void add_fanout(Command root, Context& context) {
  auto fanout = root.add("fanout", "Arrays of trainings over regions, a job per row", "");
  auto o = std::make_shared<FanoutOptions>();
  const auto with_file = [&](Command command) {
    command.option("-f,--filename", o->file, "YAML file with a TrainingArray");
    return command;
  };
  const auto with_name = [&](Command command) {
    command.argument("name", o->name, "the array");
    add_cluster_options(command, o->cluster);
    return command;
  };
  auto previewing = with_file(fanout.add("preview", "Show rows and jobs, and start nothing",
                                         "meridian fanout preview -f grid.yaml"));
  previewing.option("--shown", o->shown, "how many jobs are shown whole");
  previewing.option("-o,--format", o->format, "table, json or yaml");
  previewing.run([o, &context] { return preview(context, *o); });
  auto submitting = with_file(
      fanout.add("submit", "Apply the array and follow it", "meridian fanout submit -f grid.yaml"));
  submitting.flag("-d,--detach", o->detach, "return at once");
  add_cluster_options(submitting, o->cluster);
  submitting.run([o, &context] { return submit(context, *o); });
  with_name(
      fanout.add("status", "Show how an array stands, by region", "meridian fanout status grid"))
      .run([o, &context] { return status(context, *o); });
  auto showing = with_name(fanout.add("results", "Show every row: job, metrics, cost",
                                      "meridian fanout results grid -o csv"));
  showing.option("-o,--format", o->format, "table, csv, json or yaml");
  showing.run([o, &context] { return results(context, *o); });
  auto again = with_name(
      fanout.add("retry", "Run what failed, was stopped or changed", "meridian fanout retry grid"));
  again.flag("-d,--detach", o->detach, "return at once");
  again.run([o, &context] { return retry(context, *o); });
  with_name(fanout.add("cancel", "Stop an array's jobs", "meridian fanout cancel grid"))
      .run([o, &context] { return cancel(context, *o); });
}

}  // namespace meridian::cli
