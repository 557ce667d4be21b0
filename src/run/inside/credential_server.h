// Gives a program the keys of its job the way containers are given theirs, for programs that do not
// look at AWS_ACCESS_KEY_ID: a client asks
//
//   http://169.254.170.2$AWS_CONTAINER_CREDENTIALS_RELATIVE_URI   in a gang's network
//   $AWS_CONTAINER_CREDENTIALS_FULL_URI                           on the host's: 127.0.0.1, any
//   port
//
// and gets a JSON document with AccessKeyId, SecretAccessKey, Token and Expiration.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "run/instance.h"

namespace meridian::run {

// The address that clients know; in a gang's network it is one of `lo`.
inline constexpr char kCredentialAddress[] = "169.254.170.2";

struct CredentialServer {
  pid_t pid = 0;                // ends with the calling process
  std::string variable, value;  // what tells the program
};

// Of spec.credentials, in the calling process's network namespace; `in_gang`: it is the gang's.
// Beside the servers of other instances there.
CredentialServer start_credential_server(const InstanceSpec& spec, bool in_gang);

// The answer to one request for `path`. Pure.
std::string credential_answer(const std::string& request, const std::string& path,
                              const JobCredentials& credentials);

}  // namespace meridian::run
