// Mounts whose files appear to belong to somebody else, so that a program without privileges can
// write what the daemon staged, and the daemon keeps owning what the program wrote.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "base/file.h"

namespace meridian::run {

struct Identity {
  std::uint32_t user = 0, group = 0;
  bool operator==(const Identity&) const = default;
};

// A user namespace that exchanges the two identities and leaves every other alone; for
// mount_setattr(MOUNT_ATTR_IDMAP). Needs real root.
base::UniqueFd make_exchanging_namespace(Identity on_disk, Identity inside);

}  // namespace meridian::run
