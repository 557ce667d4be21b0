// Admission as a validating webhook: the rules of admission.h for clusters, where no daemon is in
// the way of a request.
//
//   net::HttpServer server(settings, webhook_handler());   // POST /validate, GET /healthz
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "net/server.h"

namespace meridian::operators {

inline constexpr std::uint16_t kWebhookPort = 9'443;

// The AdmissionReview (admission.k8s.io/v1) that answers one. Kinds that are not ours, deletions
// and subresources pass. Error(invalid_argument): it is no AdmissionReview. Pure.
base::Json answer_review(const base::Json& review);

net::Handler webhook_handler();

}  // namespace meridian::operators
