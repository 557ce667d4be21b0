// The calls of a Kubernetes API over HTTP.
//
//   net::HttpClient http;
//   HttpApi api(http, load_kubeconfig(file), {.user_agent = "meridian-operator"});
//
// Credentials are renewed once when a server answers 401. Nothing else is tried twice: what to
// retry, and when, is the caller's to decide (StatusError::retryable, retry_after_seconds).
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "base/clock.h"
#include "kube/client/api.h"
#include "kube/client/credentials.h"
#include "kube/client/kubeconfig.h"
#include "net/client.h"

namespace meridian::kube {

struct HttpApiSettings {
  std::string user_agent = "meridian";
  std::string field_manager = "meridian";     // of create and update
  std::chrono::milliseconds timeout{30'000};  // of a call, without a byte
  const base::Clock* clock = nullptr;         // null: the machine's
};

// One request, for what Api has no call for: discovery, tables, OpenAPI.
struct ApiCall {
  std::string method = "GET";
  std::string path;  // with its query, percent-encoded
  std::string body;
  std::string content_type = "application/json";
  std::string accept = "application/json";
};

class HttpApi final : public Api {
 public:
  HttpApi(net::HttpClient& http, Access access, HttpApiSettings settings = {});

  const Access& access() const { return access_; }
  net::Response send(const ApiCall& call, std::stop_token stop = {});  // StatusError from 400 on

  base::Json get(const ResourceId& resource, const ObjectKey& key) override;
  List list(const ResourceId& resource, const std::string& ns,
            const ListOptions& options = {}) override;
  void watch(const ResourceId& resource, const std::string& ns, const WatchOptions& options,
             const std::function<bool(WatchEvent)>& sink, std::stop_token stop) override;
  base::Json create(const ResourceId& resource, const base::Json& object) override;
  base::Json update(const ResourceId& resource, const base::Json& object) override;
  base::Json update_status(const ResourceId& resource, const base::Json& object) override;
  base::Json patch(const ResourceId& resource, const ObjectKey& key, PatchType type,
                   const base::Json& patch, const PatchOptions& options = {},
                   const std::string& subresource = "") override;
  void remove(const ResourceId& resource, const ObjectKey& key,
              Propagation propagation = Propagation::background,
              const std::string& uid = "") override;

 private:
  net::ClientRequest request_for(const ApiCall& call);
  base::Json call(const ApiCall& call);
  List list_pages(const ResourceId& resource, const std::string& ns, ListOptions options);

  net::HttpClient& http_;
  const Access access_;
  const HttpApiSettings settings_;
  base::SystemClock system_clock_;
  Credentials credentials_;
};

}  // namespace meridian::kube
