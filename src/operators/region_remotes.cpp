// SPDX-License-Identifier: Apache-2.0
#include "operators/region_remotes.h"

#include <fmt/format.h>

#include "aws/model.h"

namespace meridian::operators {
namespace {

class SignedRemote final : public Remote {
 public:
  SignedRemote(net::HttpClient& http, const base::Clock& clock, const Place& place,
               const RegionSettings& settings)
      : http_(http), clock_(clock), region_(place.region), settings_(settings) {}

  base::Json call(std::string_view service, std::string_view operation,
                  const base::JsonObject& input) override {
    return client(service).call(operation, input);
  }

  base::Duration listing_interval() const override { return settings_.listing_interval; }

 private:
  aws::ServiceClient& client(std::string_view service) {
    auto clients = clients_.lock();
    auto& slot = (*clients)[std::string(service)];
    if (!slot) {
      const aws::Model& model = aws::get_model(service);
      slot = std::make_unique<aws::ServiceClient>(
          http_, clock_,
          aws::ClientSettings{.endpoint = endpoint_for(service),
                              .unix_socket = settings_.unix_socket,
                              .region = region_,
                              .service = model.signing_name(),
                              .target_prefix = model.target_prefix(),
                              .credentials = settings_.credentials,
                              .credentials_now = settings_.credentials_now,
                              .attempts = 1});
    }
    return *slot;
  }

  // One endpoint for all services, or AWS's own per service.
  std::string endpoint_for(std::string_view service) const {
    if (!settings_.endpoint.empty()) return settings_.endpoint;
    const std::string_view host = service == "sagemaker" ? "api.sagemaker" : service;
    return fmt::format("https://{}.{}.amazonaws.com{}", host, region_,
                       region_.starts_with("cn-") ? ".cn" : "");
  }

  net::HttpClient& http_;
  const base::Clock& clock_;
  std::string region_;
  RegionSettings settings_;
  base::Sync<std::map<std::string, std::unique_ptr<aws::ServiceClient>>> clients_;
};

}  // namespace

RegionRemotes::RegionRemotes(net::HttpClient& http, const base::Clock& clock,
                             std::map<std::string, RegionSettings> regions, Others others)
    : http_(http),
      clock_(clock),
      regions_(std::move(regions)),
      others_(others),
      chain_(http, clock) {}

RegionRemotes::~RegionRemotes() = default;

RegionSettings RegionRemotes::settings_for(const Place& place) {
  RegionSettings settings;
  if (const auto found = regions_.find(place.region); found != regions_.end()) {
    settings = found->second;
  } else if (others_ == Others::aws) {
    settings.listing_interval = base::Duration(5'000);  // AWS throttles what asks more often
  } else {
    std::string known;
    for (const auto& [name, _] : regions_) known += (known.empty() ? "" : ", ") + name;
    throw base::Error(
        base::Code::not_found,
        fmt::format("no region '{}' here (there are: {}); start it with `meridian up --regions`",
                    place.region, known));
  }
  const bool keys = !settings.credentials.access_key_id.empty() || settings.credentials_now;
  if (!keys) settings.credentials_now = [this] { return chain_.current(); };
  if (!place.endpoint.empty()) {
    settings.endpoint = place.endpoint;
    settings.unix_socket.clear();
  }
  return settings;
}

Remote& RegionRemotes::get(const Place& place) {
  auto remotes = remotes_.lock();
  auto& slot = (*remotes)[place];
  if (!slot) {
    try {
      slot = std::make_unique<SignedRemote>(http_, clock_, place, settings_for(place));
    } catch (const base::Error&) {
      remotes->erase(place);
      throw;
    }
  }
  return *slot;
}

}  // namespace meridian::operators
