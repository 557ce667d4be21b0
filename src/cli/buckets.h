// The few S3 calls on buckets that the object interface lacks: list, create, remove, list by
// folder.
//
// Blocking. Error: the code of S3's answer mapped, with S3's message.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/installation.h"
#include "net/client.h"
#include "s3/objects.h"

namespace meridian::cli {

struct BucketInfo {
  std::string name;
  base::Timestamp created{};
};

struct FolderPage {
  std::vector<std::string> folders;  // common prefixes, ending in '/'
  std::vector<s3::ObjectInfo> objects;
  std::string next_token;  // empty = the end
};

class Buckets {
 public:
  Buckets(net::HttpClient& http, const base::Clock& clock, const Installation& installation);

  std::vector<BucketInfo> list();
  bool exists(const std::string& bucket);
  void create(const std::string& bucket);  // in the installation's chosen region
  void remove(const std::string& bucket);  // must be empty
  // One page of what lies directly below the prefix.
  FolderPage list_folder(const std::string& bucket, const std::string& prefix,
                         const std::string& token = "");
  void copy(const s3::Uri& from, const s3::Uri& to);
  std::string account_id();  // by sts:GetCallerIdentity

 private:
  net::Response send(net::ClientRequest request, std::string_view service);
  net::Response must(net::ClientRequest request, std::string_view service, std::string_view what);

  net::HttpClient& http_;
  const base::Clock& clock_;
  const Installation& installation_;
};

// Answers of S3; separate for tests.
base::Result<std::vector<BucketInfo>> parse_bucket_list(std::string_view xml);
base::Result<FolderPage> parse_folder_page(std::string_view xml);

}  // namespace meridian::cli
