// `meridian stop`, `wait` and `delete`.
//
// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "cli/commands.h"
#include "cli/follow.h"
#include "cli/job_view.h"
#include "cli/resources.h"

namespace meridian::cli {
namespace {

struct JobOptions {
  std::vector<std::string> names;
  bool wait = false;
  int timeout = 0;
  ResourceOptions resources;  // of delete and wait
};

base::Json describe(Context& context, const std::string& job) {
  return context.session().sagemaker().call("DescribeTrainingJob", {{"TrainingJobName", job}});
}

void need_names(const JobOptions& options) {
  if (options.names.empty())
    throw base::Error(base::Code::invalid_argument,
                      "no job named; `meridian get` lists the jobs there are");
}

// Exit status: 0 Completed, 1 ended otherwise or too late, kDetached.
int wait_for(Context& context, const std::string& job, int timeout_seconds) {
  const Interrupt interrupt;
  const auto start = context.clock.ticks();
  for (;;) {
    const auto answer = describe(context, job);
    const auto status = base::string_or(answer, "TrainingJobStatus");
    if (is_terminal_status(status)) {
      const auto reason = base::string_or(answer, "FailureReason");
      context.console.say(job + ": " + status + (reason.empty() ? "" : ": " + reason));
      return status == "Completed" ? 0 : 1;
    }
    if (timeout_seconds > 0 &&
        context.clock.ticks() - start > base::Duration(timeout_seconds * 1000LL)) {
      context.console.say(job + ": still " + status + " (" +
                          base::string_or(answer, "SecondaryStatus") + ") after " +
                          std::to_string(timeout_seconds) + " s");
      return 1;
    }
    if (!interrupt.wait(base::Duration(300))) return kDetached;
  }
}

int stop(Context& context, const JobOptions& options) {
  need_names(options);
  for (const auto& name : options.names) {
    const auto job = job_name_of(name);
    context.session().sagemaker().call("StopTrainingJob", {{"TrainingJobName", job}});
    context.console.say(job +
                        ": stopping; its program gets SIGTERM, and SIGKILL after the grace "
                        "time");
    if (options.wait) wait_for(context, job, options.timeout);
  }
  return 0;
}

int wait(Context& context, const JobOptions& options) {
  if (means_resources(options.resources)) return wait_for_resources(context, options.resources);
  need_names(options);
  int status = 0;
  for (const auto& name : options.names) {
    const int one = wait_for(context, job_name_of(name), options.timeout);
    if (one == kDetached) return one;
    if (one != 0) status = one;
  }
  return status;
}

int remove(Context& context, const JobOptions& options) {
  if (means_resources(options.resources)) return delete_resources(context, options.resources);
  need_names(options);
  for (const auto& name : options.names) {
    const auto job = job_name_of(name);
    context.session().sagemaker().call("DeleteTrainingJob", {{"TrainingJobName", job}});
    context.console.say(job + ": deleted");
  }
  return 0;
}

}  // namespace

void add_job_commands(Command root, Context& context) {
  auto s = std::make_shared<JobOptions>();
  auto stopping = root.add("stop", "Stop training jobs; what they saved is kept",
                           "meridian stop digits-1 --wait");
  stopping.arguments("names", s->names, "NAME or trainingjob/NAME");
  stopping.flag("--wait", s->wait, "until they have ended");
  stopping.option("--timeout", s->timeout, "wait at most so many seconds; 0 = no limit");
  stopping.run([s, &context] { return stop(context, *s); });

  auto w = std::make_shared<JobOptions>();
  auto waiting = root.add("wait", "Wait until jobs have ended; exit status 0 when all completed",
                          "meridian wait digits-1 --timeout 600");
  waiting.arguments("names", w->names, "NAME or trainingjob/NAME; KIND/NAME of resources");
  waiting.option("--timeout", w->timeout, "at most so many seconds each; 0 = no limit");
  waiting.option("--for", w->resources.condition,
                 "condition of resources: Complete, Ready, Stopped, …");
  add_cluster_options(waiting, w->resources.cluster);
  waiting.run([w, &context] {
    w->resources.names = w->names;
    w->resources.timeout = w->timeout;
    return wait(context, *w);
  });

  auto d = std::make_shared<JobOptions>();
  auto deleting = root.add("delete", "Delete the records of ended training jobs, or resources",
                           "meridian delete digits-1\nmeridian delete -f training.yaml");
  deleting.arguments("names", d->names, "NAME or trainingjob/NAME; KIND/NAME of resources");
  deleting.option("-f,--filename", d->resources.files,
                  "delete the resources of this file or directory");
  add_cluster_options(deleting, d->resources.cluster);
  deleting.run([d, &context] {
    d->resources.names = d->names;
    return remove(context, *d);
  });
}

}  // namespace meridian::cli
