// Objects behind an S3 endpoint: another Meridian, or AWS.
//
//   Client client(http, clock, {.endpoint = "http://127.0.0.1:8470", .region = "us-west-2",
//                               .credentials = keys});
//   client.put_file("data", "a.csv", "/tmp/a.csv");
//
// Reads come in ranges and go on after a broken connection; every range names the ETag of the
// first, so that an object that is replaced meanwhile ends the read with failed_precondition
// instead of mixing two. Files above 32 MiB go up in parts, several at once. What was sent is
// compared with the ETag that came back. A 301 for a bucket of another region is followed and
// remembered. Unavailable answers are tried again a few times.
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "aws/sigv4.h"
#include "base/clock.h"
#include "base/sync.h"
#include "net/client.h"
#include "s3/error.h"
#include "s3/objects.h"

namespace meridian::s3 {

struct ClientSettings {
  std::string endpoint;  // http://127.0.0.1:8470; path style
  std::string region;
  aws::Credentials credentials;
  std::uint64_t part_bytes = 32u << 20;
  std::uint64_t range_bytes = 4u << 20;
  std::size_t connections = 4;  // for the parts of one file
  int attempts = 4;
};

class Client final : public Objects {
 public:
  Client(net::HttpClient& http, const base::Clock& clock, ClientSettings settings);

  ObjectPage list(const std::string& bucket, const std::string& prefix, const std::string& after,
                  std::size_t limit = 1000) override;
  std::optional<ObjectInfo> find(const std::string& bucket, const std::string& key) override;
  std::unique_ptr<net::BodyReader> open(const std::string& bucket, const std::string& key,
                                        std::uint64_t offset = 0,
                                        std::optional<std::uint64_t> count = {}) override;
  void fetch(const std::string& bucket, const std::string& key, int file,
             const std::optional<Stretch>& stretch = {}) override;
  std::optional<std::filesystem::path> find_file(const std::string& bucket,
                                                 const std::string& key) override;
  void put_file(const std::string& bucket, const std::string& key,
                const std::filesystem::path& file, std::stop_token stop = {}) override;
  void put_bytes(const std::string& bucket, const std::string& key,
                 std::string_view bytes) override;
  void remove(const std::string& bucket, const std::string& key) override;

 private:
  friend class RangeReader;
  struct Exchange {
    std::function<void()> restart;               // before another try: rewinds streams
    std::function<void(std::string_view)> sink;  // takes the body of a 2xx, if it is set
    std::stop_token stop;
  };
  // One signed exchange, with retries and redirects.
  net::Response send(const net::ClientRequest& request, const std::string& bucket,
                     const Exchange& exchange = {});
  // The same; an error status becomes an Error.
  net::Response call(const net::ClientRequest& request, const std::string& bucket,
                     const Exchange& exchange = {});
  static S3Error error_of(const net::Response& response, const std::string& bucket);
  static std::string etag_of(const net::Response& response);
  std::string url(const std::string& bucket, const std::string& key,
                  const std::string& query = "") const;
  std::string region_of(const std::string& bucket) const;
  std::string put_stretch(const std::string& bucket, const std::string& url,
                          const std::filesystem::path& file, std::uint64_t offset,
                          std::uint64_t count, std::stop_token stop);
  void put_parts(const std::string& bucket, const std::string& key,
                 const std::filesystem::path& file, std::uint64_t size, std::stop_token stop);

  net::HttpClient& http_;
  const base::Clock& clock_;
  ClientSettings settings_;
  base::Sync<std::map<std::string, std::string>> regions_;  // of buckets that were redirected
};

}  // namespace meridian::s3
