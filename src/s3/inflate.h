// Reads a gzip body (also of several members) as what it holds.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "net/http.h"

namespace meridian::s3 {

// Error(data_loss) naming `what` when the bytes are not gzip or end early.
std::unique_ptr<net::BodyReader> inflate(std::unique_ptr<net::BodyReader> compressed,
                                         std::string what);

}  // namespace meridian::s3
