// The contract of Api, for the fake and for HttpApi in front of it.
//
// SPDX-License-Identifier: Apache-2.0
#include "kube/client/api_contract.h"

#include "base/file.h"
#include "kube/client/fake_api.h"
#include "kube/client/fake_server.h"
#include "kube/client/http_api.h"

namespace meridian::kube {
namespace {

class Fake : public ContractApi {
 public:
  Fake() { fake_.serve(resources_of_crd(contract_crd()).front()); }
  Api& api() override { return fake_; }

 protected:
  base::ManualClock clock_;
  base::SeededRandom random_{7};
  FakeApi fake_{clock_, random_};
};

class OverHttp final : public Fake {
 public:
  Api& api() override { return http_api_; }

 private:
  base::TempDir directory_;
  FakeServer server_{fake_, directory_.path() / "api.sock"};
  net::HttpClient http_;
  HttpApi http_api_{http_, socket_access(directory_.path() / "api.sock")};
};

INSTANTIATE_TEST_SUITE_P(Fake, ApiContract, ::testing::Values(ContractFactory([] {
                           return std::make_unique<Fake>();
                         })));
INSTANTIATE_TEST_SUITE_P(Http, ApiContract, ::testing::Values(ContractFactory([] {
                           return std::make_unique<OverHttp>();
                         })));

}  // namespace
}  // namespace meridian::kube
