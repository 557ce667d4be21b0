// Certificates that Meridian makes for itself: an authority of the installation, and a server
// certificate that it signs.
//
//   const auto files = ensure_server_certificate(data / "kubernetes", {"127.0.0.1", "localhost"},
//   now);
//   // clients trust files.authority and nothing else
//
// The authority is made once (EC P-256, ten years). The server's certificate is made again when
// names are added, when it ends within 30 days, or when the authority is another. Private keys are
// 0600. Ready files are used as they are: a start costs a few reads.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"

namespace meridian::net {

struct CertificateFiles {
  std::filesystem::path authority;         // PEM
  std::filesystem::path certificate, key;  // PEM; of the server
};

// `names`: DNS names and IP addresses that clients use.
CertificateFiles ensure_server_certificate(const std::filesystem::path& directory,
                                           const std::vector<std::string>& names,
                                           base::Timestamp now);

}  // namespace meridian::net
