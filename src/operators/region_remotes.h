// The regions that this process knows, and their signed clients.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "aws/client.h"
#include "aws/credential_chain.h"
#include "base/sync.h"
#include "net/client.h"
#include "operators/remote.h"

namespace meridian::operators {

struct RegionSettings {
  std::string endpoint;     // http://127.0.0.1:8470
  std::string unix_socket;  // connect here instead; empty = by the endpoint
  aws::Credentials credentials;
  std::function<aws::Credentials()> credentials_now{};  // asked each time instead, when set
  base::Duration listing_interval{1'000};
};

// What a region is that nobody configured: an error, or AWS's own, by its name, with the
// credentials that AWS's clients would find.
enum class Others { refused, aws };

class RegionRemotes final : public Remotes {
 public:
  RegionRemotes(net::HttpClient& http, const base::Clock& clock,
                std::map<std::string, RegionSettings> regions, Others others = Others::refused);
  ~RegionRemotes() override;
  Remote& get(const Place& place) override;

 private:
  RegionSettings settings_for(const Place& place);

  net::HttpClient& http_;
  const base::Clock& clock_;
  std::map<std::string, RegionSettings> regions_;
  const Others others_;
  aws::CredentialChain chain_;
  base::Sync<std::map<Place, std::unique_ptr<Remote>>> remotes_;
};

}  // namespace meridian::operators
