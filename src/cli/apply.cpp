// `meridian apply`: server-side apply of files; what is refused is shown with file and line.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>

#include "cli/coverage.h"
#include "cli/manifest_files.h"
#include "cli/resources.h"
#include "kube/object.h"

namespace meridian::cli {
namespace {

using base::Json;

// A cluster that meets a wrong type before it validates has no causes; the field is in its message:
// "failed to create typed patch object (…): .spec.size: expected numeric, got string".
std::vector<kube::Cause> causes_of(const kube::StatusError& error) {
  if (!error.details().causes.empty()) return error.details().causes;
  const std::string& message = error.message();
  const std::size_t from = message.find(": .");
  const std::size_t to = from == std::string::npos ? from : message.find(": ", from + 3);
  if (to == std::string::npos) return {};
  return {{message.substr(from + 3, to - from - 3), "", message.substr(to + 2)}};
}

// "file.yaml:12: spec.x: message" for each cause of a refusal, where the file has that field.
std::string located(const SourceDocument& source, const kube::StatusError& error) {
  const std::vector<kube::Cause> causes = causes_of(error);
  if (causes.empty()) return fmt::format("{}: {}", source.file, error.message());
  std::string text;
  for (const kube::Cause& cause : causes) {
    const base::Position position = source.document.position_of(cause.field);
    text += fmt::format("{}{}:{}: {}: {}", text.empty() ? "" : "\n", source.file, position.line,
                        cause.field, cause.message);
  }
  return text;
}

constexpr base::Duration kFirstStatus{3'000};  // until an operator has looked

struct Applied {
  const Served* served;
  kube::ObjectKey key;
};

int apply_one(Context& context, Cluster& cluster, const SourceDocument& source,
              const ClusterOptions& options, std::vector<Applied>& applied) {
  Json object = source.document.value;
  const Served& served = cluster.serving(object);
  if (served.scope == kube::Scope::namespaced && kube::namespace_of(object).empty()) {
    kube::metadata_of(object)["namespace"] = cluster.ns();
  } else if (!options.ns.empty() && kube::namespace_of(object) != options.ns) {
    throw base::Error(base::Code::invalid_argument,
                      fmt::format("{}: namespace {} of the object is not {} of --namespace",
                                  source.file, kube::namespace_of(object), options.ns));
  }
  const std::optional<Json> before = cluster.api().find(served.id, kube::key_of(object));
  try {
    const Json after = cluster.api().patch(served.id, kube::key_of(object), kube::PatchType::apply,
                                           object, {.field_manager = "meridian"});
    const bool same =
        before && kube::resource_version_of(*before) == kube::resource_version_of(after);
    context.console.say(fmt::format("{}/{} {}", served.id.plural, kube::name_of(object),
                                    !before ? "created"
                                    : same  ? "unchanged"
                                            : "configured"));
    applied.push_back({&served, kube::key_of(object)});
    return 0;
  } catch (const kube::StatusError& error) {  // the file has the lines that the server cannot know
    context.console.say(located(source, error));
    return 1;
  }
}

std::vector<Applied> first_of_each_namespace(const std::vector<Applied>& applied) {
  std::vector<Applied> first;
  std::set<std::string> seen;
  for (const Applied& one : applied) {
    const bool ours = one.served->id.group == "sagemaker.aws.amazon.com";
    if (ours && seen.insert(one.key.ns).second) first.push_back(one);
  }
  return first;
}

int apply(Context& context, const ResourceOptions& options) {
  if (options.files.empty()) {
    throw base::Error(base::Code::invalid_argument,
                      "nothing to apply: give -f FILE, -f DIRECTORY or -f -");
  }
  Cluster cluster(context, *options.cluster);
  int status = 0;
  std::vector<Applied> applied;
  for (const SourceDocument& source : read_documents(options.files)) {
    status |= apply_one(context, cluster, source, *options.cluster, applied);
  }
  for (const Applied& one : first_of_each_namespace(applied)) {
    const std::string warning = uncovered(context, cluster, *one.served, one.key, kFirstStatus);
    if (!warning.empty()) context.console.say("Warning: " + warning);
  }
  return status;
}

}  // namespace

void add_apply(Command root, Context& context) {
  auto a = std::make_shared<ResourceOptions>();
  auto applying =
      root.add("apply", "Make resources what their files say", "meridian apply -f training.yaml");
  applying.option("-f,--filename", a->files,
                  "YAML or JSON file, directory, or - for standard input");
  add_resource_options(applying, a);
  applying.run([a, &context] { return apply(context, *a); });
}

}  // namespace meridian::cli
