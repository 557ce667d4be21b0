// The AWS face of an installation: one HTTP handler for all services of all regions.
//
//   Front front({.default_region = "us-west-2"}, identity, clock, random);
//   front.add_region("us-west-2", {training.service(), telemetry.logs_service()},
//                    training.meridian_calls());
//   front.serve_s3([&](auto&&... a) { s3_server.handle(a...); });
//   net::HttpServer server({.listen = {"127.0.0.1", 8470}}, front.handler());
//
// For each request, in this order: the claim is read, the key found, time, signature, token, expiry
// and payload hash verified, role and scope checked; then the signature's scope says which service
// of which region is called. S3 streams through s3::Server; every other service is decoded,
// validated against the API model, called and encoded. STS and IAM belong to the installation and
// are served here, in every region.
//
// Promises:
//   1. No handler runs for a request that is not signed by a known, living key.
//   2. A refusal has the code and form that the service's own clients understand.
//   3. No secret, token or signature reaches a log line or an answer.
//   4. A viewer's key changes nothing; a job's key reaches S3, logs, metrics, SageMaker and Batch
//   only.
//
// Thread-safe once serving; add_region and serve_s3 come before.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "aws/service.h"
#include "base/clock.h"
#include "base/random.h"
#include "identity/identity.h"
#include "net/server.h"
#include "s3/server/server.h"

namespace meridian::region::front {

struct FrontSettings {
  std::string account = "000000000000";
  std::string default_region;       // for SigV2, which names none; the first added when empty
  std::size_t max_body = 8u << 20;  // of everything but S3
};

// POST /_meridian/v1/NAME, signed for service "meridian".
using MeridianCalls = std::map<std::string, aws::OperationHandler>;

// As s3::Server::handle.
using S3Handler =
    std::function<void(const net::Request&, const s3::Caller&, net::BodyReader&,
                       const std::function<const net::Headers*()>& trailers, net::Responder&)>;

class Front {
 public:
  Front(FrontSettings settings, identity::Identity& identity, const base::Clock& clock,
        base::Random& random);
  ~Front();

  // Services of one name (sagemaker from training and from hosting) are joined; an operation given
  // twice is Error(already_exists).
  void add_region(const std::string& region, std::vector<aws::Service> services,
                  MeridianCalls calls = {});
  void serve_s3(S3Handler handler);

  net::Handler handler();  // refers to this object

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meridian::region::front
