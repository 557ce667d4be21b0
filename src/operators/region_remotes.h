// The regions that this process knows, and their signed clients.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "aws/client.h"
#include "base/sync.h"
#include "net/client.h"
#include "operators/remote.h"

namespace meridian::operators {

struct RegionSettings {
  std::string endpoint;     // http://127.0.0.1:8470
  std::string unix_socket;  // connect here instead; empty = by the endpoint
  aws::Credentials credentials;
  base::Duration listing_interval{1'000};
};

class RegionRemotes final : public Remotes {
 public:
  RegionRemotes(net::HttpClient& http, const base::Clock& clock,
                std::map<std::string, RegionSettings> regions);
  ~RegionRemotes() override;
  Remote& get(const Place& place) override;

 private:
  RegionSettings settings_for(const Place& place) const;

  net::HttpClient& http_;
  const base::Clock& clock_;
  std::map<std::string, RegionSettings> regions_;
  base::Sync<std::map<Place, std::unique_ptr<Remote>>> remotes_;
};

}  // namespace meridian::operators
