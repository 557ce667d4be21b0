// The canonical forms that Signature Version 4 signs, as pure functions. Internal to aws.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "net/http.h"

namespace meridian::aws {

// as_sent: the characters of the wire, only ordered: what botocore signs. normalized: each part
// decoded and encoded again, as the specification says and as strict signers do. Both name the same
// resource, so a verifier accepts either.
enum class CanonicalForm { as_sent, normalized };

// S3 signs the path as it is (encoded once); every other service removes dot segments and empty
// segments and encodes what is there a second time.
std::string canonical_uri(std::string_view raw_path, std::string_view service, CanonicalForm form);

// Ordered pairs without X-Amz-Signature.
std::string canonical_query(std::string_view raw_query, CanonicalForm form);

// "name:value\n" for each name, in the order given; values of one name are joined by commas.
std::string canonical_headers(const net::Headers& headers, const std::vector<std::string>& names);

// sha256("")
inline constexpr std::string_view empty_sha256 =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

// The key derived from secret, day, region and service; cached for the process.
std::string signing_key(std::string_view secret, std::string_view date, std::string_view region,
                        std::string_view service);

// What the signature covers: algorithm, time, scope, digest.
std::string v4_string_to_sign(std::string_view amz_date, std::string_view scope,
                              std::string_view canonical_request);

}  // namespace meridian::aws
