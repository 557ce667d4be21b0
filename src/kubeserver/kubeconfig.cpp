// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/kubeconfig.h"

#include "base/file.h"
#include "base/strings.h"
#include "base/yaml.h"
#include "kube/kubeconfig_text.h"

namespace meridian::kubeserver {
namespace {

using base::Json;
using kube::KubeconfigText;

constexpr std::string_view kPurpose = "kubeconfig";

// The entry of that name in a list of named things, without the name.
Json entry_of(const Json& config, std::string_view list, std::string_view member,
              std::string_view name) {
  const Json* entries = base::find(config, list);
  if (entries == nullptr || !entries->is_array()) return nullptr;
  for (const Json& entry : entries->get_array()) {
    if (base::string_or(entry, "name") != name) continue;
    const Json* value = base::find(entry, member);
    return value == nullptr ? Json(nullptr) : *value;
  }
  return nullptr;
}

KubeconfigText read(const std::filesystem::path& file) {
  KubeconfigText out{.user = ""};
  const auto documents = base::parse_yaml(base::read_file_if_exists(file, 1u << 20));
  if (!documents || documents->empty()) return out;
  const Json& config = documents->front().value;
  const Json cluster = entry_of(config, "clusters", "cluster", kube::kKubeconfigName);
  const Json context = entry_of(config, "contexts", "context", kube::kKubeconfigName);
  out.user = base::string_or(context, "user");
  out.server = base::string_or(cluster, "server");
  out.ca_pem = base::unbase64(base::string_or(cluster, "certificate-authority-data")).value_or("");
  out.token = base::string_or(entry_of(config, "users", "user", out.user), "token");
  return out;
}

bool is_admin(const std::string& secret, const identity::Tokens& tokens) {
  const auto token = tokens.find(secret);
  return token && token->role_in("") == identity::Role::admin;
}

std::string new_token(identity::Tokens& tokens) {
  for (const identity::Token& token : tokens.list()) {
    if (token.purpose == kPurpose) tokens.remove(token.id);
  }
  return tokens.add("admin", {{identity::Role::admin, ""}}, std::nullopt, std::string(kPurpose))
      .secret;
}

}  // namespace

void ensure_kubeconfig(const std::filesystem::path& file, const std::string& server,
                       const std::string& authority_pem, identity::Tokens& tokens) {
  const KubeconfigText present = read(file);
  const bool good = is_admin(present.token, tokens);
  if (good && present.server == server && present.ca_pem == authority_pem) return;
  const KubeconfigText next{
      .server = server, .ca_pem = authority_pem, .token = good ? present.token : new_token(tokens)};
  base::write_file(file, kube::kubeconfig_text(next), base::Durability::synced, 0600);
}

}  // namespace meridian::kubeserver
