// A region in memory for tests: training jobs that do what the test says, tuning jobs (a training
// job with TuningJobArn "arn/NAME" is a trial), models, configurations and endpoints.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aws/service.h"
#include "base/clock.h"
#include "operators/kinds.h"
#include "operators/remote.h"

namespace meridian::operators {

class FakeRemotes final : public Remotes, public Remote {
 public:
  explicit FakeRemotes(const base::Clock& clock) : clock_(clock) {}

  Remote& get(const Place& place) override {
    if (place.region == "nowhere")
      throw base::Error(base::Code::not_found, "no region 'nowhere' here");
    return *this;
  }
  base::Duration listing_interval() const override { return base::Duration(1'000); }
  base::Json call(std::string_view service, std::string_view operation,
                  const base::JsonObject& input) override;

  // The test's hand in the region.
  void put(const std::string& name, std::string status, base::JsonObject more = {});
  void remove(const std::string& name) { jobs_.erase(name); }
  base::JsonObject& job(const std::string& name) { return jobs_.at(name); }
  bool has(const std::string& name) const { return jobs_.contains(name); }
  std::size_t size() const { return jobs_.size(); }
  std::vector<std::string> names() const;

  std::map<std::string, base::JsonObject> models, configs, endpoints, tunings;
  std::optional<aws::ApiError> fail_next_create, fail_all;
  // By resource id.
  std::map<std::string, base::JsonObject> targets, policies;
  bool endpoint_is_ready = true;  // to take a target
  bool lacks_endpoints = false;
  bool forget_answer = false;  // create happens, its answer is lost
  std::map<std::string, int, std::less<>> calls;

 private:
  base::Json create(const base::JsonObject& input);
  base::Json list(const base::JsonObject& input);
  static base::JsonObject summary_of(const base::JsonObject& job);
  std::optional<base::Json> call_scaling(std::string_view operation, const base::JsonObject& input);
  std::optional<base::Json> call_tuning(std::string_view operation, const base::JsonObject& input);
  base::JsonObject& get_job(const base::JsonObject& input);
  std::optional<base::Json> call_definition(std::string_view operation,
                                            const base::JsonObject& input);
  std::optional<base::Json> call_endpoint(std::string_view operation,
                                          const base::JsonObject& input);

  const base::Clock& clock_;
  std::map<std::string, base::JsonObject> jobs_;
};

}  // namespace meridian::operators
