// The file that tells kubectl where this installation is, whom to trust, and who one is.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "identity/tokens.h"

namespace meridian::kubeserver {

// Sees to it that `file` (mode 0600) leads to `server` with an administrator's token. A file that
// does so already is left as it is, whatever else people keep in it; otherwise it is written anew,
// with its token when that is still good.
void ensure_kubeconfig(const std::filesystem::path& file, const std::string& server,
                       const std::string& authority_pem, identity::Tokens& tokens);

}  // namespace meridian::kubeserver
