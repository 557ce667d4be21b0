// SPDX-License-Identifier: Apache-2.0
#include "region/front/front.h"

#include "base/log.h"
#include "region/front/exchange.h"
#include "region/front/installation_services.h"

namespace meridian::region::front {
namespace {

void join(std::map<std::string, Operations, std::less<>>& services, aws::Service service) {
  Operations& operations = services[service.name];
  for (auto& [name, handler] : service.operations) {
    if (!operations.emplace(name, std::move(handler)).second) {
      throw base::Error(base::Code::already_exists,
                        service.name + " " + name + " is given by two services of one region");
    }
  }
}

}  // namespace

struct Front::State {
  House house;
};

Front::Front(FrontSettings settings, identity::Identity& identity, const base::Clock& clock,
             base::Random& random)
    : state_(new State{House{.settings = std::move(settings),
                             .identity = identity,
                             .clock = clock,
                             .random = random,
                             .regions = {},
                             .everywhere = {},
                             .s3 = {}}}) {
  join(state_->house.everywhere, make_sts(identity));
  join(state_->house.everywhere, make_iam(identity));
}

Front::~Front() = default;

void Front::add_region(const std::string& region, std::vector<aws::Service> services,
                       MeridianCalls calls) {
  House& house = state_->house;
  if (house.settings.default_region.empty()) house.settings.default_region = region;
  Region& added = house.regions[region];
  for (auto& service : services) join(added.services, std::move(service));
  added.calls.merge(calls);
}

void Front::serve_s3(S3Handler handler) { state_->house.s3 = std::move(handler); }

net::Handler Front::handler() {
  return [this](net::Request& request, net::Responder& responder) {
    Exchange(state_->house, request, responder).run();
  };
}

}  // namespace meridian::region::front
