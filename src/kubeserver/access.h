// Who asks, and what they may do.
//
// Roles are identity's (D12), given per namespace: a viewer reads everything but secrets; an editor
// reads and writes what is in the namespace; an admin may do everything there. What lies outside of
// namespaces is written by admins of every namespace. Everybody with a token may read discovery,
// CustomResourceDefinitions and the namespaces they have a role in, and ask about themselves.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "identity/tokens.h"
#include "kubeserver/kinds/registry.h"
#include "net/http.h"

namespace meridian::kubeserver {

struct Caller {
  std::string user;
  std::vector<std::string> groups;
  identity::Token token;  // its grants

  static Caller of(const identity::Token& token);
  static Caller controller();  // the daemon's own controllers, over its socket
};

struct Attributes {
  std::string verb, group, resource, subresource, ns, name;
};

// StatusError(401) without a good bearer token.
Caller authenticate(const net::Request& request, const identity::Tokens& tokens);

bool may(const Caller& caller, const Attributes& wanted, const kinds::Registry& registry);
// StatusError(403) in Kubernetes' words.
void require(const Caller& caller, const Attributes& wanted, const kinds::Registry& registry);

// The status of the three reviews that everybody may ask for. `review`: as it came in; the answer
// has its status filled in.
base::Json answer_review(const kinds::Served& served, base::Json review, const Caller& caller,
                         const kinds::Registry& registry);

}  // namespace meridian::kubeserver
