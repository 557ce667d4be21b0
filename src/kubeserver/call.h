// One request to a resource, ready to be served: who asks, for what, how the answer shall look.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kubeserver/access.h"
#include "kubeserver/kinds/registry.h"
#include "kubeserver/target.h"
#include "net/server.h"

namespace meridian::kubeserver {

struct Call {
  net::Request& request;
  net::Responder& responder;
  const Caller& caller;
  std::shared_ptr<const kinds::Registry> registry;
  kinds::ServedPtr served;
  Target target;
  Query query;
  std::string verb;

  kube::ObjectKey key() const { return {target.ns, target.name}; }
};

void send_json(net::Responder& responder, int status, const base::Json& value,
               const std::vector<std::string>& warnings = {});
void send_status(net::Responder& responder, const kube::StatusError& error);

}  // namespace meridian::kubeserver
