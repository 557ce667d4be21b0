// One request on its way through the front. Internal to region/front.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "region/front/access.h"
#include "region/front/front.h"

namespace meridian::region::front {

using Operations = std::map<std::string, aws::OperationHandler, std::less<>>;

struct Region {
  std::map<std::string, Operations, std::less<>> services;  // by the API model's name
  MeridianCalls calls;
};

// What every exchange needs; does not change while serving.
struct House {
  FrontSettings settings;
  identity::Identity& identity;
  const base::Clock& clock;
  base::Random& random;
  std::map<std::string, Region> regions;
  std::map<std::string, Operations, std::less<>> everywhere;  // sts, iam
  S3Handler s3;

  std::string region_names() const;
};

// Reads, judges and answers one request.
class Exchange {
 public:
  Exchange(const House& house, net::Request& request, net::Responder& responder);
  void run();

 private:
  void run_signed(aws::AuthClaim claim);
  void run_s3(const aws::AuthClaim& claim);
  void run_preflight();
  void run_service(const aws::AuthClaim& claim);
  void run_call(aws::CallForm& form, const Access& access, const std::string& body);
  void run_meridian(const Access& access, const std::string& body);

  std::optional<Access> admit(const aws::AuthClaim& claim, const std::string& body_sha256,
                              bool is_s3);
  bool region_is_served(const aws::AuthClaim& claim) const;
  std::string read_body(const Access& access);
  aws::CallContext context_of(const Access& access) const;
  const aws::OperationHandler* find_handler(const std::string& service,
                                            const std::string& operation) const;

  // Inside a catch only.
  void fail(const aws::ApiError& error, const char* details);
  void refuse(const Refusal& refusal, bool is_s3);
  void answer(net::Response response);
  void report() const;

  const House& house_;
  net::Request& request_;
  net::Responder& responder_;
  aws::CallForm form_;
  std::string request_id_, region_, service_, operation_, principal_;
  int status_ = 0;  // 0: answered as a stream
};

}  // namespace meridian::region::front
