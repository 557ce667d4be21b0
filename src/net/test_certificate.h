// For tests: a self-signed certificate for 127.0.0.1 and localhost, made on the spot.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

namespace meridian::net {

struct TestCertificate {
  std::string certificate_file, key_file;
};

inline TestCertificate make_test_certificate(const std::filesystem::path& directory) {
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, void (*)(X509*)> certificate(X509_new(), X509_free);
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  const std::unique_ptr<X509_EXTENSION, void (*)(X509_EXTENSION*)> names(
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1"),
      X509_EXTENSION_free);
  X509_add_ext(certificate.get(), names.get(), -1);
  X509_sign(certificate.get(), key.get(), EVP_sha256());

  TestCertificate files{directory / "cert.pem", directory / "key.pem"};
  const auto open = [](const std::string& path) {
    return std::unique_ptr<std::FILE, int (*)(std::FILE*)>(std::fopen(path.c_str(), "w"),
                                                           std::fclose);
  };
  PEM_write_X509(open(files.certificate_file).get(), certificate.get());
  PEM_write_PrivateKey(open(files.key_file).get(), key.get(), nullptr, nullptr, 0, nullptr,
                       nullptr);
  return files;
}

}  // namespace meridian::net
