// `meridian tokens`: bearer tokens of the Kubernetes API, each with its kubeconfig.
//
// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "base/json.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/format.h"
#include "cli/output.h"
#include "kube/client/kubeconfig.h"
#include "kube/kubeconfig_text.h"

namespace meridian::cli {
namespace {

struct TokenOptions {
  std::string user, role = "viewer", namespaces, id, format = "table";
  int days = 0;
};

base::JsonArray split_namespaces(const std::string& text) {
  base::JsonArray out;
  for (const auto& ns : base::split(text, ',')) {
    if (!base::trim(ns).empty()) out.emplace_back(base::trim(ns));
  }
  return out;
}

int add_token(Context& context, const TokenOptions& options) {
  const base::JsonArray namespaces = split_namespaces(options.namespaces);
  base::JsonObject input{
      {"User", options.user}, {"Role", options.role}, {"Namespaces", namespaces}};
  if (options.days != 0) input["Days"] = options.days;
  const auto answer = context.session().sagemaker().call_meridian("tokens-add", input);
  const auto here = kube::load_kubeconfig(context.session().installation().data / "kubeconfig");
  context.console.out() << kube::kubeconfig_text(
      {.server = here.server,
       .ca_pem = here.ca_pem,
       .user = options.user,
       .token = base::string_or(answer, "Secret"),
       .ns = namespaces.empty() ? "default" : std::string(base::view(namespaces[0].as_string()))});
  context.console.say("Token " + base::string_or(answer, "Id") +
                      ": keep this kubeconfig, it is shown only now.");
  return 0;
}

std::string grants_text(const base::Json& token) {
  std::string text;
  const auto* grants = base::find(token, "Grants");
  if (grants == nullptr || !grants->is_array()) return text;
  for (const auto& grant : grants->as_array()) {
    const auto ns = base::string_or(grant, "Namespace");
    text += (text.empty() ? "" : ", ") + base::string_or(grant, "Role") + " in " +
            (ns.empty() ? "every namespace" : ns);
  }
  return text;
}

std::string time_text(const base::Json& token, std::string_view name) {
  const auto time = find_time(token, name);
  return time ? base::format_iso8601_seconds(*time) : "-";
}

int list_tokens(Context& context, const TokenOptions& options) {
  const auto answer = context.session().sagemaker().call_meridian("tokens-list", {});
  const auto* tokens = base::find(answer, "Tokens");
  const base::JsonArray all =
      tokens != nullptr && tokens->is_array() ? tokens->as_array() : base::JsonArray{};
  const auto format = parse_format(options.format);
  if (format == Format::json || format == Format::yaml) {
    print_value(context.console.out(), base::Json(all), format);
    return 0;
  }
  Table table({"ID", "USER", "ROLES", "CREATED", "EXPIRES"});
  for (const auto& token : all) {
    table.add({base::string_or(token, "Id"), base::string_or(token, "User"), grants_text(token),
               time_text(token, "Created"), time_text(token, "Expires")});
  }
  table.print(context.console.out());
  return 0;
}

int remove_token(Context& context, const TokenOptions& options) {
  context.session().sagemaker().call_meridian("tokens-remove", {{"Id", options.id}});
  context.console.say(options.id + ": removed; requests with it are refused from now on");
  return 0;
}

}  // namespace

void add_tokens(Command root, Context& context) {
  auto tokens = root.add("tokens", "Bearer tokens of the Kubernetes API", "");
  auto o = std::make_shared<TokenOptions>();
  auto add =
      tokens.add("add", "Make a token; prints a kubeconfig with it",
                 "meridian tokens add ann --role editor --namespace team-a > ann.kubeconfig");
  add.argument("user", o->user, "whose it is");
  add.option("--role", o->role, "admin, editor or viewer");
  add.option("--namespace", o->namespaces, "where, separated by commas; every namespace if absent");
  add.option("--days", o->days, "how long it is good; for ever if absent");
  add.run([o, &context] { return add_token(context, *o); });
  auto list = tokens.add("list", "List the tokens, without their secrets", "meridian tokens list");
  list.option("-o,--format", o->format, "table, json or yaml");
  list.run([o, &context] { return list_tokens(context, *o); });
  auto remove =
      tokens.add("remove", "Remove a token at once", "meridian tokens remove 0123456789ab");
  remove.argument("id", o->id, "as the list shows it");
  remove.run([o, &context] { return remove_token(context, *o); });
}

}  // namespace meridian::cli
