// SPDX-License-Identifier: Apache-2.0
#include "kube/client/credentials.h"

#include "base/file.h"
#include "base/strings.h"

namespace meridian::kube {
namespace {

constexpr std::chrono::seconds file_age{60};
constexpr std::chrono::seconds before_expiry{10};

}  // namespace

Credentials::Credentials(Access access, const base::Clock& clock)
    : access_(std::move(access)), clock_(clock) {}

std::string Credentials::file_token(Kept& kept) const {
  const base::Ticks now = clock_.ticks();
  if (!kept.read_at || now - *kept.read_at >= file_age) {
    const std::string text(base::trim(base::read_file(access_.token_file)));
    if (text.empty()) {
      throw base::Error(base::Code::unauthenticated,
                        access_.token_file.string() + " holds no token");
    }
    kept.token = text;
    kept.read_at = now;
  }
  return kept.token;
}

const PluginAnswer& Credentials::plugin_answer(Kept& kept) const {
  const bool stale =
      kept.answer && kept.answer->expires && clock_.now() + before_expiry >= *kept.answer->expires;
  if (!kept.answer || stale) kept.answer = run_plugin(*access_.exec);
  return *kept.answer;
}

Shown Credentials::current() {
  Shown out{.certificate_pem = access_.certificate_pem, .key_pem = access_.key_pem};
  auto kept = kept_.lock();
  if (!access_.token_file.empty()) {
    out.authorization = "Bearer " + file_token(*kept);
  } else if (!access_.token.empty()) {
    out.authorization = "Bearer " + access_.token;
  } else if (access_.exec) {
    const PluginAnswer& answer = plugin_answer(*kept);
    if (!answer.token.empty()) out.authorization = "Bearer " + answer.token;
    if (!answer.certificate_pem.empty()) {
      out.certificate_pem = answer.certificate_pem;
      out.key_pem = answer.key_pem;
    }
  } else if (!access_.user.empty()) {
    out.authorization = "Basic " + base::base64(access_.user + ":" + access_.password);
  }
  return out;
}

bool Credentials::renew() {
  if (access_.token_file.empty() && (!access_.exec || !access_.token.empty())) return false;
  auto kept = kept_.lock();
  kept->read_at.reset();
  kept->answer.reset();
  return true;
}

}  // namespace meridian::kube
