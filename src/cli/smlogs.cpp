// `meridian smlogs`, which is also `kubectl smlogs`: the log of what a resource runs, by the words
// of the original operator's plug-in, and for processing jobs and endpoints too.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <ostream>

#include "aws/client.h"
#include "aws/credential_chain.h"
#include "base/strings.h"
#include "cli/cluster.h"
#include "cli/follow.h"
#include "cli/regions.h"
#include "kube/object.h"

namespace meridian::cli {
namespace {

using base::Json;
using base::JsonObject;

struct SmlogsOptions {
  std::shared_ptr<ClusterOptions> cluster = std::make_shared<ClusterOptions>();
  std::vector<std::string> words;  // KIND NAME, or KIND/NAME
  std::string prefix;
  bool follow = false, hide_stream = false;
};

// Where a kind's logs are.
struct LogPlace {
  const char* group;
  const char* name_field;    // of status
  const char* status_field;  // of status
};
const std::map<std::string, LogPlace> kPlaces = {
    {"TrainingJob",
     {"/aws/sagemaker/TrainingJobs", "sageMakerTrainingJobName", "trainingJobStatus"}},
    {"ProcessingJob",
     {"/aws/sagemaker/ProcessingJobs", "sageMakerProcessingJobName", "processingJobStatus"}},
    {"BatchTransformJob",
     {"/aws/sagemaker/TransformJobs", "sageMakerTransformJobName", "transformJobStatus"}},
    {"HostingDeployment", {"/aws/sagemaker/Endpoints/", "endpointName", "endpointStatus"}},
};

[[noreturn]] void refuse(const std::string& text) {
  throw base::Error(base::Code::invalid_argument, text);
}

std::string status_text(const Json& object, std::string_view field) {
  const Json* status = base::find(object, "status");
  return status != nullptr ? base::string_or(*status, field) : "";
}

// Streams of several instances arrive one behind the other: asked for again from this long before
// the newest line; what was printed is known by its id.
constexpr std::int64_t kLate = 10'000;

class Tail {
 public:
  Tail(Context& context, const Json& object, const LogPlace& place, const SmlogsOptions& options)
      : context_(context), options_(options) {
    const Json& spec = *base::find(object, "spec");
    const std::string region = base::string_or(spec, "region");
    const RegionAccess access =
        find_region(context, region, base::string_or(spec, "sageMakerEndpoint"));
    http_ = std::make_unique<net::HttpClient>(access.ca_file);
    aws::ClientSettings settings{
        .endpoint = access.endpoint.empty() ? fmt::format("https://logs.{}.amazonaws.com", region)
                                            : access.endpoint,
        .region = region,
        .service = "logs",
        .target_prefix = "Logs_20140328",
        .credentials = access.credentials};
    if (access.credentials.access_key_id.empty()) {
      chain_ = std::make_unique<aws::CredentialChain>(*http_, context.clock);
      settings.credentials_now = [this] { return chain_->current(); };
    }
    logs_ = std::make_unique<aws::ServiceClient>(*http_, context.clock, std::move(settings));
    const std::string name = status_text(object, place.name_field);
    const bool endpoint = std::string_view(place.group).ends_with('/');
    group_ = endpoint ? place.group + name : place.group;
    prefix_ = endpoint ? options.prefix : name + "/" + options.prefix;
  }

  // Prints what came since the last call.
  void print_new() {
    const std::int64_t from = std::max<std::int64_t>(0, newest_ - kLate);
    std::erase_if(seen_, [&](const auto& event) { return event.second < from; });
    JsonObject input{{"logGroupName", group_}, {"startTime", from}};
    if (!prefix_.empty()) input["logStreamNamePrefix"] = prefix_;
    while (true) {
      const Json page = call(input);
      if (const Json* events = base::find(page, "events"); events && events->is_array()) {
        for (const Json& event : events->get_array()) print(event);
      }
      const std::string token = base::string_or(page, "nextToken");
      if (token.empty()) return;
      input["nextToken"] = token;
    }
  }

 private:
  Json call(const JsonObject& input) {
    try {
      return logs_->call("FilterLogEvents", input);
    } catch (const aws::ApiError& error) {
      if (error.aws_code() != "ResourceNotFoundException") throw;
      return JsonObject{};  // nothing was written yet
    }
  }

  void print(const Json& event) {
    const std::int64_t time = base::int_or(event, "timestamp", 0);
    if (!seen_.emplace(base::string_or(event, "eventId"), time).second) return;
    newest_ = std::max(newest_, time);
    auto& out = context_.console.out();
    if (!options_.hide_stream) out << base::string_or(event, "logStreamName") << ' ';
    out << base::format_iso8601({time}) << ' ' << base::string_or(event, "message") << std::endl;
  }

  Context& context_;
  const SmlogsOptions& options_;
  std::unique_ptr<net::HttpClient> http_;
  std::unique_ptr<aws::CredentialChain> chain_;
  std::unique_ptr<aws::ServiceClient> logs_;
  std::string group_, prefix_;
  std::int64_t newest_ = 0;                   // milliseconds
  std::map<std::string, std::int64_t> seen_;  // event id → its time
};

std::pair<const Served*, std::string> parse_words(Cluster& cluster,
                                                  const std::vector<std::string>& words) {
  if (words.empty() || words.size() > 2) refuse("give KIND NAME, like trainingjob digits");
  auto [served, name] = cluster.parse_name(words[0]);
  if (words.size() == 2) name = words[1];
  if (name.empty()) refuse(fmt::format("which {}? give KIND NAME", served->kind));
  return {served, name};
}

bool has_ended(const Json& object, const LogPlace& place) {
  const std::string status = status_text(object, place.status_field);
  return status == "Completed" || status == "Failed" || status == "Stopped";
}

int smlogs(Context& context, const SmlogsOptions& options) {
  Cluster cluster(context, *options.cluster);
  const auto [served, name] = parse_words(cluster, options.words);
  const auto place = kPlaces.find(served->kind);
  if (place == kPlaces.end()) {
    if (served->kind != "HyperparameterTuningJob") refuse(served->kind + " has no log");
    refuse(
        fmt::format("a tuning job has no log; its trials have: "
                    "kubectl get trainingjobs -n {} -l meridian.dev/tuning-job={}",
                    cluster.ns(), name));
  }
  const kube::ObjectKey key{cluster.ns(), name};
  const Interrupt interrupt;
  Json object = cluster.api().get(served->id, key);
  while (status_text(object, place->second.name_field).empty()) {
    if (!options.follow || has_ended(object, place->second)) {
      refuse(fmt::format("{}/{} is not in its region: {}", served->id.plural, name,
                         status_text(object, "additional")));
    }
    if (!interrupt.wait(base::Duration(500))) return kDetached;
    object = cluster.api().get(served->id, key);
  }
  context.console.say(fmt::format("{} {} is {}", served->kind,
                                  status_text(object, place->second.name_field),
                                  status_text(object, place->second.status_field)));
  Tail tail(context, object, place->second, options);
  while (true) {
    const bool ended = has_ended(object, place->second);  // seen before: then nothing is missed
    tail.print_new();
    if (!options.follow || ended) return 0;
    if (!interrupt.wait(base::Duration(500))) return kDetached;
    object = cluster.api().get(served->id, key);
  }
}

}  // namespace

std::string smlogs_plugin_script(const std::filesystem::path& program,
                                 const std::filesystem::path& data) {
  return fmt::format(
      "#!/bin/sh\n# Made by `meridian up`; changes are overwritten.\n"
      "exec '{}' --data '{}' smlogs \"$@\"\n",
      base::replace_all(program.string(), "'", "'\\''"),
      base::replace_all(data.string(), "'", "'\\''"));
}

void add_smlogs(Command root, Context& context) {
  auto o = std::make_shared<SmlogsOptions>();
  auto command =
      root.add("smlogs", "Print the log of what a resource runs; also `kubectl smlogs`",
               "kubectl smlogs trainingjob digits -f\nkubectl smlogs trainingjob digits -p algo-2");
  command.arguments("resource", o->words,
                    "KIND NAME: trainingjob, processingjob, batchtransformjob, hostingdeployment");
  command.flag("-f,--follow", o->follow, "go on until it ends");
  command.flag("--hide-log-stream-name", o->hide_stream, "without the name of the stream");
  command.option("-p,--logSearchPrefix", o->prefix, "only streams that begin so, like algo-4");
  add_cluster_options(command, o->cluster);
  command.run([o, &context] { return smlogs(context, *o); });
}

}  // namespace meridian::cli
