// `/_meridian/v1/keys-add`, `keys-list`, `keys-remove`: the keys of the installation, for `meridian
// keys`. Administrators only. The secret is in the answer of keys-add and nowhere else.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "aws/service.h"
#include "identity/identity.h"

namespace meridian {

// ApiError(AccessDeniedException) unless the caller's key is an administrator's own.
void require_admin(const identity::Identity& identity, const aws::CallContext& context);

std::map<std::string, aws::OperationHandler> key_calls(identity::Identity& identity);

}  // namespace meridian
