// `meridian env`: what a shell needs so that aws, boto3, the SDKs and kubectl find this
// installation.
//
// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "cli/commands.h"
#include "cli/format.h"

namespace meridian::cli {
namespace {

int print_environment(Context& context) {
  const auto& installation = context.session().installation();
  auto& out = context.console.out();
  const auto set = [&](std::string_view name, std::string_view value) {
    out << "export " << name << "=" << shell_quote(value) << '\n';
  };
  set("AWS_ENDPOINT_URL", installation.endpoint);
  if (!installation.ca_bundle.empty()) set("AWS_CA_BUNDLE", installation.ca_bundle);
  set("AWS_ACCESS_KEY_ID", installation.credentials.access_key_id);
  set("AWS_SECRET_ACCESS_KEY", installation.credentials.secret);
  if (!installation.credentials.session_token.empty())
    set("AWS_SESSION_TOKEN", installation.credentials.session_token);
  set("AWS_REGION", installation.region);
  set("AWS_DEFAULT_REGION", installation.region);
  set("MERIDIAN_DATA", installation.data.string());
  if (std::filesystem::exists(installation.data / "kubeconfig"))
    set("KUBECONFIG", (installation.data / "kubeconfig").string());
  // The SageMaker SDK asks AWS's own STS for the account in the default bucket's name, whatever
  // AWS_ENDPOINT_URL says, unless its configuration names the bucket.
  if (context.environment("SAGEMAKER_USER_CONFIG_OVERRIDE").empty())
    set("SAGEMAKER_USER_CONFIG_OVERRIDE", (installation.data / "sagemaker-sdk.yaml").string());
  // The SDK's version 3 inspects the role's policies first. Every well-formed role is accepted
  // here.
  set("SAGEMAKER_VALIDATE_ROLE", "false");
  const auto bin = (installation.data / "bin").string();
  const auto path = context.environment("PATH");
  if (path != bin && !path.starts_with(bin + ":"))
    out << "export PATH=" << shell_quote(bin) << ":\"$PATH\"\n";
  if (installation.credentials.session_token.empty() &&
      !context.environment("AWS_SESSION_TOKEN").empty())
    out << "unset AWS_SESSION_TOKEN\n";  // of another account; it would spoil every signature
  return 0;
}

}  // namespace

void add_env(Command root, Context& context) {
  auto command = root.add("env", "Print exports for aws, boto3, the SDKs and kubectl",
                          "eval \"$(meridian env)\"");
  command.run([&context] { return print_environment(context); });
}

}  // namespace meridian::cli
