// What is not an object: discovery, OpenAPI, the version, health.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "kubeserver/kinds/registry.h"
#include "net/server.h"

namespace meridian::kubeserver {

class Documents {
 public:
  explicit Documents(std::string version) : version_(std::move(version)) {}

  // False when the path is none of these.
  bool serve(const net::Request& request, net::Responder& responder,
             const std::shared_ptr<const kinds::Registry>& registry);
  // What everybody may ask without a token: the version and health.
  bool serve_open(const net::Request& request, net::Responder& responder) const;

 private:
  // What is made of one registry, kept while that is the present one.
  struct Made {
    std::shared_ptr<const kinds::Registry> of;
    std::string v3_index, v2_tag;
  };

  bool serve_discovery(const net::Request& request, net::Responder& responder,
                       const kinds::Registry& registry) const;
  void serve_v3(const net::Request& request, net::Responder& responder,
                const std::shared_ptr<const kinds::Registry>& registry);
  void serve_v2(const net::Request& request, net::Responder& responder,
                const std::shared_ptr<const kinds::Registry>& registry);
  Made& made_of(const std::shared_ptr<const kinds::Registry>& registry);  // under the lock

  const std::string version_;  // Meridian's
  std::mutex mutex_;
  Made made_;
};

}  // namespace meridian::kubeserver
