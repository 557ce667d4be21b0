// `meridian logs`: what a training job printed; with -f, what it prints.
//
// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/follow.h"
#include "cli/job_view.h"
#include "cli/log_reader.h"

namespace meridian::cli {
namespace {

struct LogsOptions {
  std::string name;
  bool follow = false;
  LogStyle style;
};

void print(Context& context, const LogLine& line, const LogStyle& style) {
  auto& out = context.console.out();
  if (style.timestamps) out << base::format_iso8601(line.at) << ' ';
  if (!style.no_prefix) out << line.host << " | ";
  out << line.text << '\n';
}

int logs(Context& context, const LogsOptions& options) {
  const auto job = job_name_of(options.name);
  auto& sagemaker = context.session().sagemaker();
  const auto answer = sagemaker.call("DescribeTrainingJob", {{"TrainingJobName", job}});
  if (options.follow) return follow_job(context, job, metric_definitions(answer), options.style);
  LogReader reader(context.session().logs(), job, options.style.instance);
  const auto lines = reader.poll();
  const auto from = first_shown(lines.size(), options.style.tail);
  for (auto at = from; at < lines.size(); ++at) print(context, lines[at], options.style);
  if (lines.empty())
    context.console.say(job + " has printed nothing; it is " +
                        base::string_or(answer, "SecondaryStatus") + ".");
  return 0;
}

}  // namespace

void add_logs(Command root, Context& context) {
  auto o = std::make_shared<LogsOptions>();
  auto command =
      root.add("logs", "Print the log of a training job",
               "meridian logs -f digits-1\nmeridian logs digits-1 --instance algo-2 --tail 20");
  command.argument("name", o->name, "NAME or trainingjob/NAME");
  command.flag("-f,--follow", o->follow, "go on until the job ends; exit status as of `train`");
  command.option("--instance", o->style.instance, "only of this one, like algo-1");
  command.option("--tail", o->style.tail, "only the last so many lines");
  command.flag("--timestamps", o->style.timestamps, "with the time of each line");
  command.flag("--no-prefix", o->style.no_prefix, "without the name of the instance");
  command.run([o, &context] { return logs(context, *o); });
}

}  // namespace meridian::cli
