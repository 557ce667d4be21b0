// One command's connection to an installation: signed clients for each service, made when needed.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "aws/client.h"
#include "base/clock.h"
#include "cli/buckets.h"
#include "cli/installation.h"
#include "net/client.h"
#include "s3/objects.h"

namespace meridian::cli {

class Session {
 public:
  Session(Installation installation, const base::Clock& clock);

  const Installation& installation() const { return installation_; }
  const base::Clock& clock() const { return clock_; }
  net::HttpClient& http() { return http_; }
  aws::ServiceClient& sagemaker() { return sagemaker_; }
  aws::ServiceClient& logs() { return logs_; }
  aws::ServiceClient& batch() { return batch_; }
  Buckets& buckets() { return buckets_; }
  s3::Objects& objects() { return *objects_; }
  const std::string& account();  // asks STS when run.json did not say

 private:
  const base::Clock& clock_;
  Installation installation_;
  net::HttpClient http_;
  aws::ServiceClient sagemaker_, logs_, batch_;
  Buckets buckets_;
  std::unique_ptr<s3::Objects> objects_;
};

}  // namespace meridian::cli
