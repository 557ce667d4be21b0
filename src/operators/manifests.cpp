// SPDX-License-Identifier: Apache-2.0
#include "operators/manifests.h"

#include "base/strings.h"
#include "operators/crd.h"
#include "operators/webhook.h"

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr const char* kAccount = "meridian-operator";
constexpr const char* kWebhook = "meridian-operator-webhook";

JsonObject rule(JsonArray groups, JsonArray resources, JsonArray verbs) {
  return {{"apiGroups", std::move(groups)},
          {"resources", std::move(resources)},
          {"verbs", std::move(verbs)}};
}

JsonObject metadata(const std::string& name, const std::string& ns) {
  JsonObject metadata{{"name", name}, {"labels", {{"app.kubernetes.io/name", kAccount}}}};
  if (!ns.empty()) metadata["namespace"] = ns;
  return metadata;
}

Json object(const char* version, const char* kind, JsonObject meta) {
  return {{"apiVersion", version}, {"kind", kind}, {"metadata", std::move(meta)}};
}

Json with(Json object, std::string_view member, Json value) {
  object.as_object()[member] = std::move(value);
  return object;
}

// Role and binding; for all namespaces the Cluster forms.
std::vector<Json> permissions(const ManifestSettings& settings) {
  constexpr const char* kRbac = "rbac.authorization.k8s.io/v1";
  const bool everywhere = settings.watched_namespace.empty();
  const std::string& ns = settings.watched_namespace;
  const char* role = everywhere ? "ClusterRole" : "Role";
  const JsonArray subjects{
      {{"kind", "ServiceAccount"}, {"name", kAccount}, {"namespace", settings.ns}}};
  Json binding =
      object(kRbac, everywhere ? "ClusterRoleBinding" : "RoleBinding", metadata(kAccount, ns));
  binding = with(std::move(binding), "roleRef",
                 {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", role}, {"name", kAccount}});
  return {with(object(kRbac, role, metadata(kAccount, ns)), "rules", operator_rules()),
          with(std::move(binding), "subjects", subjects)};
}

bool has_webhook(const ManifestSettings& settings) { return !settings.webhook_authority.empty(); }

void add_webhook(const ManifestSettings& settings, JsonObject& container, JsonArray& volumes) {
  container["args"].as_array().push_back("--webhook-certificate");
  container["args"].as_array().push_back("/etc/meridian/webhook");
  container["ports"] = JsonArray{{{"name", "webhook"}, {"containerPort", kWebhookPort}}};
  container["volumeMounts"].as_array().push_back(
      {{"name", "webhook"}, {"mountPath", "/etc/meridian/webhook"}, {"readOnly", true}});
  volumes.push_back({{"name", "webhook"}, {"secret", {{"secretName", kWebhook}}}});
}

std::vector<Json> webhook(const ManifestSettings& settings) {
  const JsonObject labels{{"app.kubernetes.io/name", kAccount}};
  Json secret = with(object("v1", "Secret", metadata(kWebhook, settings.ns)), "data",
                     {{"tls.crt", base::base64(settings.webhook_certificate)},
                      {"tls.key", base::base64(settings.webhook_key)}});
  secret = with(std::move(secret), "type", "kubernetes.io/tls");
  Json service = with(
      object("v1", "Service", metadata(kAccount, settings.ns)), "spec",
      {{"selector", labels}, {"ports", JsonArray{{{"port", 443}, {"targetPort", kWebhookPort}}}}});
  JsonArray plurals;
  for (const Kind& kind : kinds()) plurals.push_back(Json(kind.plural));
  JsonObject rules{{"apiGroups", {kGroup}},
                   {"apiVersions", {kVersion}},
                   {"operations", {"CREATE", "UPDATE"}},
                   {"resources", std::move(plurals)},
                   {"scope", "Namespaced"}};
  JsonObject hook{
      {"name", "validate.operator.meridian.dev"},
      {"admissionReviewVersions", {"v1"}},
      {"sideEffects", "None"},
      // Without the operator nothing is refused: the schemas and the region still are.
      {"failurePolicy", "Ignore"},
      {"timeoutSeconds", 5},
      {"rules", JsonArray{std::move(rules)}},
      {"clientConfig",
       {{"service", {{"namespace", settings.ns}, {"name", kAccount}, {"path", "/validate"}}},
        {"caBundle", base::base64(settings.webhook_authority)}}}};
  if (!settings.watched_namespace.empty()) {
    hook["namespaceSelector"] =
        JsonObject{{"matchLabels", {{"kubernetes.io/metadata.name", settings.watched_namespace}}}};
  }
  return {std::move(secret), std::move(service),
          with(object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration",
                      metadata(kAccount, "")),
               "webhooks", JsonArray{std::move(hook)})};
}

Json deployment(const ManifestSettings& settings) {
  JsonArray arguments{"operator", "run", "--leader-elect", "--regions-file",
                      "/etc/meridian/regions/regions.yaml"};
  if (!settings.watched_namespace.empty()) {
    arguments.push_back("--namespace");
    arguments.push_back(Json(settings.watched_namespace));
  }
  const JsonObject labels{{"app.kubernetes.io/name", kAccount}};
  JsonObject container{
      {"name", "operator"},
      {"image", settings.image},
      {"command", {"meridian"}},
      {"args", std::move(arguments)},
      {"resources",
       {{"requests", {{"cpu", "100m"}, {"memory", "64Mi"}}}, {"limits", {{"memory", "256Mi"}}}}},
      {"securityContext",
       {{"allowPrivilegeEscalation", false},
        {"readOnlyRootFilesystem", true},
        {"runAsNonRoot", true},
        {"capabilities", {{"drop", {"ALL"}}}}}},
      {"volumeMounts",
       JsonArray{
           {{"name", "regions"}, {"mountPath", "/etc/meridian/regions"}, {"readOnly", true}}}}};
  JsonArray volumes{{{"name", "regions"},
                     {"secret", {{"secretName", settings.regions_secret}, {"optional", true}}}}};
  if (has_webhook(settings)) add_webhook(settings, container, volumes);
  JsonObject pod{
      {"serviceAccountName", kAccount},
      {"securityContext", {{"runAsUser", 65532}, {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
      {"containers", JsonArray{std::move(container)}},
      {"volumes", std::move(volumes)}};
  return with(object("apps/v1", "Deployment", metadata(kAccount, settings.ns)), "spec",
              {{"replicas", 1},
               {"selector", {{"matchLabels", labels}}},
               {"template", {{"metadata", {{"labels", labels}}}, {"spec", std::move(pod)}}}});
}

}  // namespace

JsonArray operator_rules() {
  JsonArray kinds_, statuses;
  for (const Kind& kind : kinds()) {
    kinds_.push_back(Json(kind.plural));
    statuses.push_back(Json(kind.plural + "/status"));
  }
  return {rule({Json(std::string(kGroup))}, kinds_,
               {"get", "list", "watch", "create", "update", "patch", "delete"}),
          rule({Json(std::string(kGroup))}, statuses, {"get", "update", "patch"}),
          rule({""}, {"events"}, {"create", "patch"}),
          // Whose uid stands for this cluster in the tags of its jobs.
          rule({""}, {"namespaces"}, {"get"}),
          rule({"coordination.k8s.io"}, {"leases"}, {"get", "create", "update", "patch"})};
}

std::vector<std::string> webhook_names(const std::string& ns) {
  const std::string service = std::string(kAccount) + "." + ns + ".svc";
  return {service, service + ".cluster.local"};
}

std::vector<Json> operator_manifests(const ManifestSettings& settings) {
  std::vector<Json> all = all_crds();
  all.push_back(object("v1", "Namespace", metadata(settings.ns, "")));
  all.push_back(object("v1", "ServiceAccount", metadata(kAccount, settings.ns)));
  for (Json& permission : permissions(settings)) all.push_back(std::move(permission));
  // Leader election happens where the operator runs, also when it watches another namespace.
  if (!settings.watched_namespace.empty() && settings.watched_namespace != settings.ns) {
    ManifestSettings home = settings;
    home.watched_namespace = settings.ns;
    for (Json& permission : permissions(home)) all.push_back(std::move(permission));
  }
  all.push_back(deployment(settings));
  if (has_webhook(settings)) {
    for (Json& part : webhook(settings)) all.push_back(std::move(part));
  }
  return all;
}

}  // namespace meridian::operators
