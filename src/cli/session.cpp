// SPDX-License-Identifier: Apache-2.0
#include "cli/session.h"

#include "s3/client.h"

namespace meridian::cli {
namespace {

aws::ClientSettings settings_for(const Installation& installation, std::string service,
                                 std::string target_prefix) {
  return {.endpoint = installation.endpoint,
          .region = installation.region,
          .service = std::move(service),
          .target_prefix = std::move(target_prefix),
          .credentials = installation.credentials};
}

}  // namespace

Session::Session(Installation installation, const base::Clock& clock)
    : clock_(clock),
      installation_(std::move(installation)),
      http_(installation_.ca_bundle),
      sagemaker_(http_, clock, settings_for(installation_, "sagemaker", "SageMaker")),
      logs_(http_, clock, settings_for(installation_, "logs", "Logs_20140328")),
      batch_(http_, clock, settings_for(installation_, "batch", "")),
      buckets_(http_, clock, installation_),
      objects_(std::make_unique<s3::Client>(
          http_, clock,
          s3::ClientSettings{.endpoint = installation_.endpoint,
                             .region = installation_.region,
                             .credentials = installation_.credentials})) {}

const std::string& Session::account() {
  if (installation_.account.empty()) installation_.account = buckets_.account_id();
  return installation_.account;
}

}  // namespace meridian::cli
