// SPDX-License-Identifier: Apache-2.0
#include "region/training/environment.h"

namespace meridian::region::training {

Environment environment_of(const Surroundings& surroundings) {
  std::string path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  // As in a container of that image, `python` and what is installed beside it are the image's own.
  if (const auto bin = surroundings.python.parent_path(); bin != "/usr/bin" && bin.is_absolute())
    path = bin.string() + ":" + path;
  if (!surroundings.tools_directory.empty()) path = std::string(kTools) + ":" + path;
  return {{"PATH", path},
          {"HOME", "/tmp"},
          {"LANG", "C.UTF-8"},
          {"PYTHONUNBUFFERED", "1"},
          {"AWS_REGION", surroundings.region},
          {"AWS_DEFAULT_REGION", surroundings.region},
          {"AWS_EC2_METADATA_DISABLED", "true"}};
}

void add_access(const identity::AccessKey& keys, const std::string& endpoint_url,
                Environment& environment) {
  environment["AWS_ACCESS_KEY_ID"] = keys.id;
  environment["AWS_SECRET_ACCESS_KEY"] = keys.secret;
  environment["AWS_SESSION_TOKEN"] = keys.session_token;
  if (endpoint_url.empty()) return;
  environment["AWS_ENDPOINT_URL"] = endpoint_url;
  environment["S3_ENDPOINT_URL"] = endpoint_url;
}

}  // namespace meridian::region::training
