// The status of a CustomResourceDefinition: which names it gets, whether it is served.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "kubeserver/kinds/registry.h"

namespace meridian::kubeserver::objects {

inline constexpr std::string_view kCleanup = "customresourcecleanup.apiextensions.k8s.io";

bool is_definition(const kinds::Served& served);
// Names that another definition of the group has make NamesAccepted false; without clash it is
// established at once. Keeps the times of conditions that stay.
void accept_definition(base::Json& definition, const kinds::Registry& registry,
                       base::Timestamp now);
// While its objects are being deleted.
void set_terminating(base::Json& definition, std::string_view message, base::Timestamp now);

}  // namespace meridian::kubeserver::objects
