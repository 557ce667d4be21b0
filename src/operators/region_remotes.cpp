// SPDX-License-Identifier: Apache-2.0
#include "operators/region_remotes.h"

#include <fmt/format.h>

#include "aws/model.h"
#include "base/strings.h"

namespace meridian::operators {
namespace {

class SignedRemote final : public Remote {
 public:
  SignedRemote(net::HttpClient& http, const base::Clock& clock, const Place& place,
               const RegionSettings& settings)
      : own_(settings.ca_file.empty() ? nullptr
                                      : std::make_unique<net::HttpClient>(settings.ca_file)),
        http_(own_ ? *own_ : http),
        clock_(clock),
        region_(place.region),
        settings_(settings) {}

  base::Json call(std::string_view service, std::string_view operation,
                  const base::JsonObject& input) override {
    return client(service).call(operation, input);
  }

  base::Duration listing_interval() const override { return settings_.listing_interval(); }

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
                              .credentials_now = settings_.credentials,
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

  std::unique_ptr<net::HttpClient> own_;
  net::HttpClient& http_;
  const base::Clock& clock_;
  std::string region_;
  RegionSettings settings_;
  base::Sync<std::map<std::string, std::unique_ptr<aws::ServiceClient>>> clients_;
};

// us-east-1, us-gov-west-1, cn-north-1, eusc-de-east-1: a name of another form is a slip, and
// asking for its host again and again tells nobody.
bool may_be_of_aws(std::string_view region) {
  const std::vector<std::string> parts = base::split(region, '-');
  return parts.size() >= 3 && (parts.front().size() == 2 || parts.front() == "eusc") &&
         !parts.back().empty() && parts.back().find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

RegionRemotes::RegionRemotes(net::HttpClient& http, const base::Clock& clock, Regions regions,
                             std::filesystem::path file, Others others)
    : http_(http),
      clock_(clock),
      regions_(std::move(regions)),
      others_(others),
      chain_(http, clock),
      state_(State{.file = RegionsFile(std::move(file))}) {}

RegionRemotes::~RegionRemotes() = default;

void RegionRemotes::reload(State& state) {
  auto changed = state.file.changed();
  if (!changed) return;
  state.of_file = std::move(*changed);
  for (auto& [_, remote] : state.remotes) state.retired.push_back(std::move(remote));
  state.remotes.clear();
}

RegionSettings RegionRemotes::settings_for(const State& state, const Place& place) {
  RegionSettings settings;
  if (const auto found = regions_.find(place.region); found != regions_.end()) {
    settings = found->second;
  } else if (const auto more = state.of_file.find(place.region); more != state.of_file.end()) {
    settings = more->second;
  } else if (place.endpoint.empty() &&
             (others_ == Others::refused || !may_be_of_aws(place.region))) {
    std::vector<std::string> known;
    for (const Regions* regions : {&regions_, &state.of_file}) {
      for (const auto& [name, _] : *regions) known.push_back(name);
    }
    throw base::Error(
        base::Code::not_found,
        fmt::format("no region '{}' here (there are: {}); start it with `meridian up --regions`, "
                    "or name one elsewhere with `meridian region add`",
                    place.region, base::join(known, ", ")));
  }
  if (!settings.credentials) settings.credentials = [this] { return chain_.current(); };
  if (!place.endpoint.empty()) {
    settings.endpoint = place.endpoint;
    settings.unix_socket.clear();
  }
  return settings;
}

Remote& RegionRemotes::get(const Place& place) {
  auto state = state_.lock();
  reload(*state);
  auto& slot = state->remotes[place];
  if (!slot) {
    try {
      slot = std::make_unique<SignedRemote>(http_, clock_, place, settings_for(*state, place));
    } catch (const base::Error&) {
      state->remotes.erase(place);
      throw;
    }
  }
  return *slot;
}

}  // namespace meridian::operators
