// SPDX-License-Identifier: Apache-2.0
#include "cli/coverage.h"

#include <fmt/format.h>

#include "cli/follow.h"
#include "kube/object.h"

namespace meridian::cli {
namespace {

using base::Json;

constexpr std::string_view kLease = "meridian-operator-heartbeat";
constexpr base::Duration kLook{200};

bool has_status(Cluster& cluster, const Served& served, const kube::ObjectKey& key) {
  const auto object = cluster.api().find(served.id, key);
  if (!object) return true;  // gone: somebody else's business
  const Json* status = base::find(*object, "status");
  return status != nullptr && status->is_object() && !status->get_object().empty();
}

}  // namespace

bool is_held(const Json& lease, base::Timestamp now) {
  const Json* spec = base::find(lease, "spec");
  if (spec == nullptr) return false;
  const auto renewed = kube::parse_time(base::string_or(*spec, "renewTime"));
  const base::Duration hold{base::int_or(*spec, "leaseDurationSeconds", 0) * 1'000};
  return renewed && now < *renewed + hold;
}

std::string uncovered(Context& context, Cluster& cluster, const Served& served,
                      const kube::ObjectKey& key, base::Duration patience) {
  if (served.id.group != "sagemaker.aws.amazon.com") return "";
  const Interrupt interrupt;
  const base::Ticks start = context.clock.ticks();
  while (true) {
    try {
      if (has_status(cluster, served, key)) return "";
      const auto lease = cluster.api().find({"coordination.k8s.io", "v1", "leases"},
                                            {key.ns, std::string(kLease)});
      if (lease && is_held(*lease, context.clock.now())) return "";
    } catch (const kube::StatusError&) {
      return "";  // not allowed to look
    }
    const bool over = context.clock.ticks() - start >= patience;
    if (over || !interrupt.wait(kLook)) break;
  }
  return fmt::format(
      "no operator acts on namespace {}: {}/{} is stored and nothing will happen to it; start one "
      "with `meridian operator run --namespace {}`, or let the one that runs watch it",
      key.ns, served.id.plural, key.name, key.ns);
}

}  // namespace meridian::cli
