// The errors that S3 clients see: code, message, status, and the elements that S3 adds to some.
//
// Thrown, and caught in Server::handle. What clients ask for all day and is simply not there or not
// changed (404 of GET and HEAD, 304, 412) is answered without a throw.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace meridian::s3 {

class S3Error : public base::Error {
 public:
  S3Error(std::string code, std::string message, int status);

  const std::string& s3_code() const { return s3_code_; }
  int status() const { return status_; }

  // An extra element of the answer's XML, as <BucketName>.
  S3Error& with(std::string element, std::string value);
  S3Error& with_header(std::string name, std::string value);
  const std::vector<std::pair<std::string, std::string>>& elements() const { return elements_; }
  const std::vector<std::pair<std::string, std::string>>& headers() const { return headers_; }

 private:
  std::string s3_code_;
  int status_;
  std::vector<std::pair<std::string, std::string>> elements_, headers_;
};

S3Error no_such_bucket(const std::string& bucket);
S3Error no_such_key(const std::string& key);
S3Error no_such_upload(const std::string& upload_id);
S3Error no_such_version(const std::string& key, const std::string& version_id);
S3Error access_denied(std::string message = "Access Denied");
S3Error invalid_argument(std::string message, std::string name, std::string value);
S3Error precondition_failed(std::string condition);
S3Error bad_digest(std::string what);
S3Error malformed_xml(std::string_view why = "");
// Names what was asked for and what to do instead.
S3Error not_implemented(std::string_view what, std::string_view advice = "");

// Any error as one that S3 clients know: full disks, early ends of bodies, refused payloads.
S3Error to_s3_error(const base::Error& error);

// <Error><Code>…
std::string error_xml(const S3Error& error, std::string_view resource, std::string_view request_id);

}  // namespace meridian::s3
