// The S3 protocol over the stores of this installation's regions.
//
// Bucket names are unique per installation; each bucket has a home region; a request signed for
// another region gets 301 with x-amz-bucket-region. Object content is immutable files named by id,
// durable before the index names them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "aws/sigv4.h"
#include "base/clock.h"
#include "base/random.h"
#include "net/server.h"
#include "s3/objects.h"

namespace meridian::s3 {

// The objects of one region: index in s3.db, content below objects/.
class ObjectStore;  // s3/store/object_store.h

// Who asks, after authentication.
struct Caller {
  std::string account;
  std::string region;  // from the signature's scope; empty for SigV2 and anonymous
  std::string principal_arn;
  bool may_write = true;
};

struct ServerSettings {
  bool refuse_unenforced = false;  // --strict: policies and encryption are refused, not only stored
};

class Server {
 public:
  // The store of each region; a bucket of which nobody says where goes to the first.
  Server(const std::vector<ObjectStore*>& stores, const base::Clock& clock, base::Random& random,
         ServerSettings settings = {});
  ~Server();

  // `body` is already verified and decoded (aws::PayloadReader); `trailers` gives trailing
  // checksums after its end (nullptr when there are none).
  void handle(const net::Request& request, const Caller& caller, net::BodyReader& body,
              const std::function<const net::Headers*()>& trailers, net::Responder& responder);
  // S3's XML error for a request that the front refuses (bad signature, unknown key, …).
  static net::Response error(std::string_view code, std::string_view message, int status,
                             std::string_view resource, std::string_view request_id);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meridian::s3
