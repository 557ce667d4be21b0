// CloudWatch metrics over the region's series.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aws/service.h"
#include "base/clock.h"
#include "region/telemetry/series.h"

namespace meridian::region::telemetry {

aws::Service make_cloudwatch_service(SeriesStore& series, const base::Clock& clock);

}  // namespace meridian::region::telemetry
