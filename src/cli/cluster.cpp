// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "kube/object.h"

namespace meridian::cli {
namespace {

using base::Json;

kube::Access access_for(Context& context, const ClusterOptions& options) {
  if (!options.kubeconfig.empty())
    return kube::load_kubeconfig(options.kubeconfig, options.context);
  if (!context.environment("KUBECONFIG").empty()) {
    return kube::default_access(options.context,
                                [&](const std::string& name) { return context.environment(name); });
  }
  const std::filesystem::path own = context.data() / "kubeconfig";
  if (std::filesystem::exists(own)) return kube::load_kubeconfig(own, options.context);
  throw base::Error(
      base::Code::not_found,
      fmt::format("no Kubernetes API known: there is no {}; start Meridian with `meridian up`, or "
                  "name a cluster with --kubeconfig FILE",
                  own.string()));
}

std::vector<std::string> words_of(const Json& resource) {
  std::vector<std::string> words{base::string_or(resource, "name"),
                                 base::string_or(resource, "singularName"),
                                 base::to_lower(base::string_or(resource, "kind"))};
  if (const Json* names = base::find(resource, "shortNames");
      names != nullptr && names->is_array()) {
    for (const Json& name : names->get_array()) words.emplace_back(base::view(name.as_string()));
  }
  std::erase(words, "");
  return words;
}

}  // namespace

void add_cluster_options(Command command, const std::shared_ptr<ClusterOptions>& options) {
  command.option("-n,--namespace", options->ns, "namespace; default: the context's");
  command.option("--kubeconfig", options->kubeconfig,
                 "file that names the API; default: $KUBECONFIG, then DATA/kubeconfig");
  command.option("--context", options->context, "context of that file");
}

Cluster::Cluster(Context& context, const ClusterOptions& options) {
  kube::Access access = access_for(context, options);
  ns_ = options.ns.empty() ? access.ns : options.ns;
  if (ns_.empty()) ns_ = "default";
  api_ = std::make_unique<kube::HttpApi>(http_, std::move(access),
                                         kube::HttpApiSettings{.user_agent = "meridian"});
}

void Cluster::discover(const std::string& path, const std::string& group,
                       const std::string& version) {
  const auto list = base::parse_json(api_->send({.path = path}).body);
  const Json* resources = list ? base::find(*list, "resources") : nullptr;
  if (resources == nullptr || !resources->is_array()) return;
  for (const Json& resource : resources->get_array()) {
    const std::string plural = base::string_or(resource, "name");
    if (plural.empty() || plural.find('/') != std::string::npos) continue;
    served_.push_back({{group, version, plural},
                       base::string_or(resource, "kind"),
                       base::bool_or(resource, "namespaced", true) ? kube::Scope::namespaced
                                                                   : kube::Scope::cluster,
                       words_of(resource)});
  }
}

const std::vector<Served>& Cluster::served() {
  if (!served_.empty()) return served_;
  const auto groups = base::parse_json(api_->send({.path = "/apis"}).body);
  const Json* list = groups ? base::find(*groups, "groups") : nullptr;
  // Ours first: "model" is a common word.
  std::vector<std::pair<std::string, std::string>> versions;
  if (list != nullptr && list->is_array()) {
    for (const Json& group : list->get_array()) {
      const Json* preferred = base::find_path(group, "preferredVersion.version");
      if (preferred == nullptr) continue;
      versions.emplace_back(base::string_or(group, "name"), base::view(preferred->as_string()));
    }
  }
  std::ranges::stable_sort(versions, {},
                           [](const auto& v) { return v.first != "sagemaker.aws.amazon.com"; });
  for (const auto& [group, version] : versions)
    discover(fmt::format("/apis/{}/{}", group, version), group, version);
  discover("/api/v1", "", "v1");
  return served_;
}

const Served& Cluster::find(const std::string& word) {
  const std::string wanted = base::to_lower(word);
  std::vector<std::string> all;
  for (const Served& one : served()) {
    for (const std::string& known : one.words) {
      if (known == wanted || known + "." + one.id.group == wanted) return one;
      all.push_back(known);
    }
  }
  const auto meant = base::nearest(wanted, all);
  throw base::Error(base::Code::invalid_argument,
                    fmt::format("{} has no resource called '{}'{}", api_->access().server, word,
                                meant ? fmt::format("; did you mean '{}'?", *meant) : ""));
}

const Served& Cluster::serving(const Json& object) {
  const auto version = kube::parse_group_version(kube::api_version_of(object));
  for (const Served& one : served()) {
    if (version && one.kind == kube::kind_of(object) && one.id.group == version->group) return one;
  }
  throw base::Error(base::Code::invalid_argument,
                    fmt::format("{} does not serve kind {} of {}", api_->access().server,
                                kube::kind_of(object), kube::api_version_of(object)));
}

std::pair<const Served*, std::string> Cluster::parse_name(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return {&find(text), ""};
  return {&find(text.substr(0, slash)), text.substr(slash + 1)};
}

}  // namespace meridian::cli
