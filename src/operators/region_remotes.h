// The regions that this process knows, and their signed clients.
//
// They are those given at the start and those of a regions file, which may change at any time:
// what is asked for after a change follows it. Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "aws/client.h"
#include "aws/credential_chain.h"
#include "base/sync.h"
#include "net/client.h"
#include "operators/regions_file.h"
#include "operators/remote.h"

namespace meridian::operators {

// What a region is that nobody configured: an error, or AWS's own, by its name, with the
// credentials that AWS's clients would find.
enum class Others { refused, aws };

class RegionRemotes final : public Remotes {
 public:
  // `regions` come before those of the file.
  RegionRemotes(net::HttpClient& http, const base::Clock& clock, Regions regions,
                std::filesystem::path file = {}, Others others = Others::refused);
  ~RegionRemotes() override;
  Remote& get(const Place& place) override;

 private:
  struct State {
    RegionsFile file;
    Regions of_file;
    std::map<Place, std::unique_ptr<Remote>> remotes;
    std::vector<std::unique_ptr<Remote>> retired;  // somebody may still be calling
  };
  static void reload(State& state);
  RegionSettings settings_for(const State& state, const Place& place);

  net::HttpClient& http_;
  const base::Clock& clock_;
  const Regions regions_;
  const Others others_;
  aws::CredentialChain chain_;
  base::Sync<State> state_;
};

}  // namespace meridian::operators
