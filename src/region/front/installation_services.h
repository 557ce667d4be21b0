// STS and IAM: the services that belong to the installation and not to a region. Internal to
// region/front.
//
// Roles are names: any well-formed role ARN is accepted, its account is not believed (design D12),
// and an assumed role has the rights of who assumed it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aws/service.h"
#include "base/clock.h"
#include "identity/identity.h"

namespace meridian::region::front {

// GetCallerIdentity, AssumeRole, GetSessionToken.
aws::Service make_sts(identity::Identity& identity);
// CreateRole, GetRole, ListRoles.
aws::Service make_iam(identity::Identity& identity);

}  // namespace meridian::region::front
