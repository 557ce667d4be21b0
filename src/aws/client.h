// Calls an AWS-shaped service: signs, sends, retries what may be retried, throws ApiError.
//
//   ServiceClient sagemaker(http, clock, {.endpoint = url, .region = "us-west-2", .service =
//   "sagemaker",
//                           .target_prefix = "SageMaker", .credentials = keys});
//   Json answer = sagemaker.call("DescribeTrainingJob", {{"TrainingJobName", name}});
//
// JSON 1.1 services (sagemaker, logs, application-autoscaling; monitoring by JSON 1.0), and by
// post() what takes its whole input in a JSON body (batch).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "aws/service.h"
#include "aws/sigv4.h"
#include "base/json_fwd.h"

namespace meridian::aws {

struct ClientSettings {
  std::string endpoint;     // http://127.0.0.1:8470
  std::string unix_socket;  // connect here instead of to the endpoint's host; empty = no
  std::string region;
  std::string service;        // signing name
  std::string target_prefix;  // "SageMaker", "Logs_20140328", "GraniteServiceVersion20100801"
  std::string json_version = "1.1";
  Credentials credentials;
  std::function<Credentials()> credentials_now{};  // asked for each request instead, when set
  int attempts = 3;
};

class ServiceClient {
 public:
  ServiceClient(net::HttpClient& http, const base::Clock& clock, ClientSettings settings);
  base::Json call(std::string_view operation, const base::JsonObject& input,
                  std::stop_token stop = {});
  // POST of a path with a JSON body: "/v1/submitjob".
  base::Json post(std::string_view path, const base::JsonObject& input, std::stop_token stop = {});
  // POST /_meridian/v1/NAME, signed: what AWS has no call for.
  base::Json call_meridian(std::string_view name, const base::JsonObject& input,
                           std::stop_token stop = {});

 private:
  base::Json send(net::ClientRequest request, std::stop_token stop);
  net::HttpClient& http_;
  const base::Clock& clock_;
  ClientSettings settings_;
};

}  // namespace meridian::aws
