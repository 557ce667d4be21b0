// Where AWS credentials come from when nobody gives them: the chain that AWS's own clients follow.
//
//   CredentialChain chain(http, clock);
//   Credentials now = chain.current();   // renewed five minutes before they end
//
// In this order, the first that is configured: AWS_ACCESS_KEY_ID; a web identity token
// (AWS_WEB_IDENTITY_TOKEN_FILE with AWS_ROLE_ARN, as pods on EKS have it); the profile of
// AWS_PROFILE in the shared credentials file; the container endpoint
// (AWS_CONTAINER_CREDENTIALS_FULL_URI or _RELATIVE_URI); the instance's metadata service,
// version 2.
//
// Source: AWS SDKs and Tools Reference Guide, "Standardized credential providers". Thread-safe; a
// caller may wait while another renews.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "aws/sigv4.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/sync.h"
#include "net/client.h"

namespace meridian::aws {

// The keys of one profile in AWS's ini format.
base::Result<Credentials> parse_credentials(std::string_view ini,
                                            std::string_view profile = "default");

class CredentialChain {
 public:
  using Environment = std::function<std::string(const std::string& name)>;  // "" when unset
  struct Settings {
    Environment environment;   // default: the process's
    std::string sts_endpoint;  // default: https://sts.REGION.amazonaws.com
    std::string metadata_endpoint = "http://169.254.169.254";
    std::string region = "us-east-1";  // of STS
  };
  CredentialChain(net::HttpClient& http, const base::Clock& clock);
  CredentialChain(net::HttpClient& http, const base::Clock& clock, Settings settings);

  // Error(unauthenticated) says what was tried and why each did not do.
  Credentials current();

 private:
  struct Held {
    Credentials credentials;
    std::optional<base::Timestamp> expires;
  };
  Held fetch() const;
  std::optional<Held> from_web_identity() const;
  std::optional<Held> from_profile() const;
  std::optional<Held> from_container() const;
  Held from_metadata() const;
  Held parse_document(const std::string& body, std::string_view from) const;

  net::HttpClient& http_;
  const base::Clock& clock_;
  Settings settings_;
  base::Sync<std::optional<Held>> held_;
};

}  // namespace meridian::aws
