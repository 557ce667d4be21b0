// `meridian apply`: server-side apply of files; what is refused is shown with file and line.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/manifest_files.h"
#include "cli/resources.h"
#include "kube/object.h"

namespace meridian::cli {
namespace {

using base::Json;

// "file.yaml:12: spec.x: message" for each cause of a refusal, where the file has that field.
std::string located(const SourceDocument& source, const kube::StatusError& error) {
  if (error.details().causes.empty()) return fmt::format("{}: {}", source.file, error.message());
  std::string text;
  for (const kube::Cause& cause : error.details().causes) {
    const base::Position position = source.document.position_of(cause.field);
    text += fmt::format("{}{}:{}: {}: {}", text.empty() ? "" : "\n", source.file, position.line,
                        cause.field, cause.message);
  }
  return text;
}

int apply_one(Context& context, Cluster& cluster, const SourceDocument& source,
              const ClusterOptions& options) {
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
    return 0;
  } catch (const kube::StatusError& error) {  // the file has the lines that the server cannot know
    context.console.say(located(source, error));
    return 1;
  }
}

int apply(Context& context, const ResourceOptions& options) {
  if (options.files.empty()) {
    throw base::Error(base::Code::invalid_argument,
                      "nothing to apply: give -f FILE, -f DIRECTORY or -f -");
  }
  Cluster cluster(context, *options.cluster);
  int status = 0;
  for (const SourceDocument& source : read_documents(options.files)) {
    status |= apply_one(context, cluster, source, *options.cluster);
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
