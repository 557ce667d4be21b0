// `meridian operator`: the controllers against a Kubernetes cluster, and what the cluster needs for
// them.
//
// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/output.h"

namespace meridian::cli {
namespace {

int print_manifests(Context& context, const ManifestOptions& options) {
  for (const base::Json& object : context.hooks.operator_manifests(options)) {
    context.console.out() << "---\n" << to_yaml(object);
  }
  return 0;
}

}  // namespace

void add_operator(Command root, Context& context) {
  auto group = root.add("operator", "Train and serve from a Kubernetes cluster's own API",
                        "meridian operator manifests | kubectl apply -f -");

  auto r = std::make_shared<OperatorOptions>();
  auto webhook = std::make_shared<std::string>();
  auto path = std::make_shared<std::pair<std::string, std::string>>();  // kubeconfig, regions file
  auto run =
      group.add("run", "Run the controllers against a cluster",
                "meridian operator run --kubeconfig ~/.kube/config --regions-file regions.yaml");
  run.option("--kubeconfig", path->first,
             "default: $KUBECONFIG, ~/.kube/config, then the pod's own account");
  run.option("--context", r->context, "context of that file");
  run.option("-n,--namespace", r->watched_namespace, "watch only this namespace");
  run.flag("--leader-elect", r->leader_elect, "of several operators one works, by a Lease");
  run.option("--lease-namespace", r->lease_namespace, "where the Lease is");
  run.option("--regions-file", path->second,
             "what `meridian region add` wrote; DATA/regions.yaml; AWS regions need no entry");
  run.option("--webhook-certificate", *webhook,
             "answer admission reviews, with tls.crt and tls.key of this directory");
  run.option("--webhook-port", r->webhook_port, "where; 9443");
  run.run([r, path, webhook, &context] {
    r->kubeconfig = path->first;
    r->webhook_certificate = *webhook;
    r->regions_file = path->second;
    if (path->second.empty()) r->regions_file = context.data() / "regions.yaml";
    return context.hooks.run_operator(*r);
  });

  auto m = std::make_shared<ManifestOptions>();
  auto manifests =
      group.add("manifests", "Print what a cluster needs: CRDs, account, permissions, deployment",
                "meridian operator manifests --namespace ml | kubectl apply -f -");
  manifests.option("--image", m->image, "image that holds meridian");
  manifests.option("--install-namespace", m->ns, "where the operator runs");
  manifests.option("-n,--namespace", m->watched_namespace,
                   "watch only this namespace, with a Role instead of a ClusterRole");
  manifests.flag("--crds", m->only_crds, "only the CustomResourceDefinitions");
  manifests.flag("--webhook", m->webhook,
                 "with a validating webhook and its certificate, which is made now for a year");
  manifests.run([m, &context] { return print_manifests(context, *m); });
}

}  // namespace meridian::cli
