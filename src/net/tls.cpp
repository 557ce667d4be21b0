// SPDX-License-Identifier: Apache-2.0
#include "net/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <string_view>

#include "base/error.h"

namespace meridian::net {
namespace {

// ALPN: HTTP/1.1 whenever the client offers it; kubectl offers h2 first.
int select_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_size,
                    const unsigned char* offered, unsigned int offered_size, void*) {
  static constexpr unsigned char kOurs[] = "\x08http/1.1";
  unsigned char* match = nullptr;
  const int found =
      SSL_select_next_proto(&match, chosen_size, kOurs, sizeof kOurs - 1, offered, offered_size);
  if (found != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_NOACK;
  *chosen = match;
  return SSL_TLSEXT_ERR_OK;
}

base::Error unusable(const std::string& file, std::string_view what) {
  return base::Error(base::Code::invalid_argument,
                     file + ": " + std::string(what) + ": " + take_tls_error());
}

}  // namespace

void TlsDeleter::operator()(ssl_st* session) const { SSL_free(session); }
void TlsDeleter::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }

std::string take_tls_error() {
  char text[256] = "no detail";
  while (const unsigned long code = ERR_get_error()) ERR_error_string_n(code, text, sizeof text);
  return text;
}

TlsContext::TlsContext(const std::string& certificate_file, const std::string& key_file)
    : context_(SSL_CTX_new(TLS_server_method())) {
  SSL_CTX* context = context_.get();
  if (!context) throw base::Error(base::Code::internal, "TLS: " + take_tls_error());
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(
      context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  // Partial writes from buffers that may move; no buffers kept for idle connections.
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(context, select_protocol, nullptr);
  if (SSL_CTX_use_certificate_chain_file(context, certificate_file.c_str()) != 1) {
    throw unusable(certificate_file, "no certificate can be read");
  }
  if (SSL_CTX_use_PrivateKey_file(context, key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    throw unusable(key_file, "no key can be read");
  }
  if (SSL_CTX_check_private_key(context) != 1) {
    throw unusable(key_file, "does not belong to " + certificate_file);
  }
}

TlsSession TlsContext::make_session(int fd) const {
  TlsSession session(SSL_new(context_.get()));
  if (!session || SSL_set_fd(session.get(), fd) != 1) {
    throw base::Error(base::Code::resource_exhausted, "TLS: " + take_tls_error());
  }
  SSL_set_accept_state(session.get());
  return session;
}

}  // namespace meridian::net
