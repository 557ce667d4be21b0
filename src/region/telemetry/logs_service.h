// CloudWatch Logs over the region's log store.
//
// Paging as clients need it:
//   * DescribeLogStreams answers no nextToken when all streams fit, and puts all streams of one job
//     (a prefix that ends with '/') on one page whatever the limit: the SageMaker SDK repeats the
//     call for ever when it sees a token.
//   * GetLogEvents answers the request's own token when nothing new is there.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aws/service.h"
#include "region/telemetry/follower.h"
#include "region/telemetry/log_store.h"

namespace meridian::region::telemetry {

struct LogsBackend {
  LogStore& logs;
  Follower& follower;
  const base::Clock& clock;
  std::string account, region;
};

aws::Service make_logs_service(const LogsBackend& backend);  // the referenced must outlive it

}  // namespace meridian::region::telemetry
