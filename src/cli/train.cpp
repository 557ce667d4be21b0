// `meridian train`: uploads what is local, creates the job, follows it.
//
// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/follow.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/train_request.h"
#include "cli/upload.h"

namespace meridian::cli {
namespace {

void upload(Context& context, const TrainPlan& plan) {
  auto& console = context.console;
  auto& session = context.session();
  if (plan.own_bucket && !session.buckets().exists(plan.bucket)) {
    session.buckets().create(plan.bucket);
    console.say("Made bucket s3://" + plan.bucket);
  }
  for (const auto& channel : plan.uploads) {
    const auto files = find_files(channel.path);
    const auto prefix = plan.job + "/input/" + channel.name + "/";
    UploadProgress last;
    upload_files(session.objects(), files, plan.bucket, prefix, [&](const UploadProgress& now) {
      last = now;
      console.draw({"Uploading channel " + channel.name + ": " + now.text()});
    });
    console.clear();
    console.say("Uploaded channel " + channel.name + ": " + count_of(files.size(), "file") + ", " +
                base::format_bytes(last.bytes_total));
  }
  if (plan.code) {
    const auto bytes = upload_code(session.objects(), *plan.code, plan.bucket, plan.code_key);
    console.say("Uploaded code: " + base::format_bytes(bytes));
  }
}

int train(Context& context, const TrainOptions& options) {
  auto& session = context.session();
  const auto plan = plan_training(options, {.account = session.account(),
                                            .region = session.installation().region,
                                            .now = context.clock.now()});
  const auto format = parse_format(options.format);
  if (options.dry_run) {
    print_value(context.console.out(), base::Json(*plan.request),
                format == Format::yaml ? Format::yaml : Format::json);
    return 0;
  }
  base::while_doing("uploading for job '" + plan.job + "'", [&] { upload(context, plan); });
  const auto answer = session.sagemaker().call("CreateTrainingJob", *plan.request);
  context.console.say("Created " + base::string_or(answer, "TrainingJobArn"));
  if (options.detach) {
    context.console.out() << plan.job << '\n';
    context.console.say("Follow it with: meridian logs -f " + plan.job);
    return 0;
  }
  const int status = follow_job(context, plan.job, plan.metrics);
  if (format == Format::json || format == Format::yaml)
    print_value(context.console.out(),
                session.sagemaker().call("DescribeTrainingJob", {{"TrainingJobName", plan.job}}),
                format);
  return status;
}

void add_program_options(Command& command, TrainOptions& o) {
  command.option("--script", o.script, "the program to run (*.py, *.sh or executable)");
  command.option("--source", o.source,
                 "directory that goes with it; requirements.txt is installed");
  command.option("--framework", o.framework, "pytorch, tensorflow, scikit-learn, xgboost");
  command.option("--image", o.image, "an OCI image, an AWS image name, or 'host'");
  command.option("--entrypoint", o.entrypoint, "words that replace the image's entry point");
  command.option("--hp,--hyperparameter", o.hyperparameters, "NAME=VALUE; may be repeated");
  command.option("--env", o.environment, "NAME=VALUE for the program's environment; repeatable");
  command.flag("--mpi", o.mpi, "start ranks by mpirun");
  command.flag("--torch", o.torch, "start ranks as torch.distributed does");
  command.option("--processes", o.processes, "ranks per instance, with --mpi or --torch");
  command.option("--mpi-options", o.mpi_options, "more options for mpirun, given as they are");
}

void add_data_options(Command& command, TrainOptions& o) {
  command.option("--channel", o.channels, "NAME=PATH or NAME=s3://bucket/prefix; may be repeated");
  command.option("--content-type", o.content_type, "of all channels (default: by file extension)");
  command.option("--input-mode", o.input_mode, "File, FastFile or Pipe");
  command.flag("--shard", o.shard, "give each instance its own part of every channel's objects");
  command.option("--output", o.output, "s3://bucket/prefix for artifacts");
  command.option("--checkpoints", o.checkpoints, "s3://bucket/prefix for /opt/ml/checkpoints");
  command.flag("--no-checkpoints", o.no_checkpoints, "do not keep /opt/ml/checkpoints");
}

void add_resource_options(Command& command, TrainOptions& o) {
  command.option("--instances", o.instances, "how many");
  command.option("--instance-type", o.instance_type, "of which kind");
  command.option("--volume-gb", o.volume_gb, "size of the volume");
  command.flag("--spot", o.spot, "managed spot capacity: may be reclaimed and resumed");
  command.option("--max-run", o.max_run, "seconds of training at most");
  command.option("--max-wait", o.max_wait, "seconds in all at most, with --spot");
  command.option("--retries", o.retries, "attempts after a failure of the platform, 1 to 30");
  command.option("--keep-alive", o.keep_alive, "seconds to keep the instances warm afterwards");
  command.flag("--isolated", o.isolated, "no network for the program");
}

}  // namespace

void add_train(Command root, Context& context) {
  auto o = std::make_shared<TrainOptions>();
  auto command = root.add("train", "Train a script or an image, and follow it",
                          "meridian train --script train.py --source . --channel train=./data \\\n"
                          "  --instances 2 --torch --processes 2 --framework pytorch \\\n"
                          "  --hp epochs=5 --metric 'loss=loss=([0-9.]+)'");
  add_program_options(command, *o);
  add_data_options(command, *o);
  add_resource_options(command, *o);
  command.option("--metric", o->metrics, "NAME=REGEX with one group for the value; repeatable");
  command.option("--job-name", o->job_name, "default: made of script or image and the time");
  command.option("--role", o->role, "role ARN (default: one of this account)");
  command.option("--tag", o->tags, "NAME=VALUE; may be repeated");
  command.flag("--detach", o->detach, "do not follow; print the job's name");
  command.flag("--dry-run", o->dry_run, "print the request and do nothing");
  command.option("-o,--format", o->format, "json or yaml: print the final description");
  command.run([o, &context] { return train(context, *o); });
}

}  // namespace meridian::cli
