// Which installation the commands speak to: DATA, its daemon's ports, its keys.
//
// DATA is --data, else MERIDIAN_DATA, else ~/.meridian. Where no daemon runs on it but the
// environment names an endpoint and keys (AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, …), these are used:
// then the commands work on a remote Meridian too.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aws/credential_chain.h"
#include "aws/sigv4.h"
#include "base/error.h"

namespace meridian::cli {

// Looks up an environment variable; "" when it is not set.
using Environment = std::function<std::string(const std::string&)>;
Environment process_environment();

std::filesystem::path data_directory(const std::string& option, const Environment& environment);

// DATA/run.json.
struct RunFile {
  int pid = 0;
  std::map<std::string, std::uint16_t> ports;  // aws, admin; programs: AWS face on 127.0.0.1
  std::vector<std::string> regions;            // the first is the default
  std::string account;
  std::string listen = "127.0.0.1";  // the address that the AWS face is bound to
  bool secure = false;               // it speaks TLS
};
base::Result<RunFile> parse_run_file(std::string_view json);
std::optional<RunFile> find_run_file(const std::filesystem::path& data);
// Where a client on this machine reaches the AWS face, like http://127.0.0.1:8470; without TLS
// where there is a way.
std::string endpoint_of(const RunFile& run);
// Whether the process that wrote it is there and is a meridian.
bool is_running(const RunFile& run);

using aws::parse_credentials;

struct Installation {
  std::filesystem::path data;
  std::string endpoint;  // http://127.0.0.1:8470
  std::string region;    // the one to speak to
  std::vector<std::string> regions;
  std::string account;  // empty when only the endpoint is known
  aws::Credentials credentials;
  std::string
      ca_bundle;  // --ca-bundle or AWS_CA_BUNDLE: whom to trust (PEM); empty = the machine's
};
// region_option, else AWS_REGION or AWS_DEFAULT_REGION when the installation has it, else its
// first. Error(unavailable) with what to do when no daemon runs; Error(invalid_argument) for a
// region it has not.
Installation find_installation(const std::filesystem::path& data, const std::string& region_option,
                               const Environment& environment);

}  // namespace meridian::cli
