// What a request shows to prove who sends it, kept fresh: tokens that rotate in files, and exec
// plug-ins.
//
// Thread-safe. A plug-in runs while other callers wait for what it prints.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/sync.h"
#include "kube/client/kubeconfig.h"

namespace meridian::kube {

struct Shown {
  std::string authorization;  // the header; "" = none
  std::string certificate_pem, key_pem;
};

struct PluginAnswer {
  std::string token, certificate_pem, key_pem;
  std::optional<base::Timestamp> expires;
};
// Error(unauthenticated) with the program's last words when it fails, is not there (with its
// install hint), is silent for `timeout`, or prints something else.
PluginAnswer run_plugin(const ExecPlugin& plugin,
                        std::chrono::milliseconds timeout = std::chrono::seconds(60));

class Credentials {
 public:
  Credentials(Access access, const base::Clock& clock);
  Shown current();
  // After a 401: forgets what can be had anew. False when there is nothing of the kind, so that
  // trying again is no use.
  bool renew();

 private:
  struct Kept {
    std::string token;
    std::optional<base::Ticks> read_at;
    std::optional<PluginAnswer> answer;
  };
  std::string file_token(Kept& kept) const;
  const PluginAnswer& plugin_answer(Kept& kept) const;

  const Access access_;
  const base::Clock& clock_;
  base::Sync<Kept> kept_;
};

}  // namespace meridian::kube
