// Calls of the Meridian service about bearer tokens of the Kubernetes API: tokens-add, tokens-list,
// tokens-remove. For administrators.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "aws/service.h"
#include "identity/identity.h"
#include "identity/tokens.h"

namespace meridian {

std::map<std::string, aws::OperationHandler> token_calls(identity::Identity& identity,
                                                         identity::Tokens& tokens);

}  // namespace meridian
