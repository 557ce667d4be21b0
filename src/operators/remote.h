// A region as controllers see it: AWS-shaped calls at one endpoint with one set of keys.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json.h"

namespace meridian::operators {

// Where a resource lives: spec.region and, when set, spec.sageMakerEndpoint.
struct Place {
  std::string region, endpoint;
  auto operator<=>(const Place&) const = default;
  std::string text() const;  // "us-west-2" or "us-west-2 at http://…"
};
Place place_of(const base::Json& object);

class Remote {
 public:
  virtual ~Remote() = default;
  // ApiError (what the region answered) or Error (no answer). Service: the API model's name
  // ("sagemaker", "application-autoscaling").
  virtual base::Json call(std::string_view service, std::string_view operation,
                          const base::JsonObject& input) = 0;
  // The least time between two listings of one kind: a second on Meridian, five on AWS.
  virtual base::Duration listing_interval() const = 0;
};

class Remotes {
 public:
  virtual ~Remotes() = default;
  // Lives as long as this. Error(not_found): nobody configured that region; the message says how.
  virtual Remote& get(const Place& place) = 0;
};

// What an error from a region means for the resource.
enum class Verdict {
  absent,     // there is no such thing (the kinds answer this in different words)
  in_use,     // the name is taken
  terminal,   // repeating changes nothing: the input is wrong
  retryable,  // throttling, outage, credentials, quota
};
Verdict judge(const base::Error& error);
// There is nothing to describe or to delete: absent, or the region has no such operation at all.
bool has_no_record(const base::Error& error);
// The code that goes into a condition's reason: "ValidationException", "Unavailable".
std::string reason_of(const base::Error& error);

}  // namespace meridian::operators
