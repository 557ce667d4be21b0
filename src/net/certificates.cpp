// SPDX-License-Identifier: Apache-2.0
#include "net/certificates.h"

#include <arpa/inet.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <memory>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "net/tls.h"

namespace meridian::net {
namespace {

namespace fs = std::filesystem;

template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* value) const {
    Free(value);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;
using Bio = std::unique_ptr<BIO, Deleter<BIO_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Deleter<X509_EXTENSION_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Deleter<GENERAL_NAMES_free>>;

constexpr std::int64_t kDay = 24 * 3600;
constexpr std::int64_t kAuthorityDays = 3650, kServerDays = 365, kRenewDays = 30;

template <class T>
T checked(T value) {
  if (!value) throw base::Error(base::Code::internal, "certificate: " + take_tls_error());
  return value;
}
void check(int result) { checked(result == 1); }

struct Pair {
  Key key;
  Certificate certificate;
};

std::string content_of(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

std::string pem_of(X509* certificate) {
  const Bio bio(checked(BIO_new(BIO_s_mem())));
  check(PEM_write_bio_X509(bio.get(), certificate));
  return content_of(bio.get());
}

std::string pem_of(EVP_PKEY* key) {
  const Bio bio(checked(BIO_new(BIO_s_mem())));
  check(PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr));
  return content_of(bio.get());
}

Bio reader_of(const std::string& pem) {
  return Bio(checked(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))));
}

// Nothing when either file is absent or unusable.
std::optional<Pair> read_pair(const fs::path& certificate_file, const fs::path& key_file) {
  const std::string certificate_pem = base::read_file_if_exists(certificate_file);
  const std::string key_pem = base::read_file_if_exists(key_file);
  if (certificate_pem.empty() || key_pem.empty()) return std::nullopt;
  Pair pair;
  pair.certificate.reset(
      PEM_read_bio_X509(reader_of(certificate_pem).get(), nullptr, nullptr, nullptr));
  pair.key.reset(PEM_read_bio_PrivateKey(reader_of(key_pem).get(), nullptr, nullptr, nullptr));
  const bool usable = pair.certificate && pair.key &&
                      X509_check_private_key(pair.certificate.get(), pair.key.get()) == 1;
  take_tls_error();
  if (!usable) return std::nullopt;
  return pair;
}

void write_pair(const Pair& pair, const fs::path& certificate_file, const fs::path& key_file) {
  base::write_file(key_file, pem_of(pair.key.get()), base::Durability::synced, 0600);
  base::write_file(certificate_file, pem_of(pair.certificate.get()), base::Durability::synced);
}

void set_serial(X509* certificate) {
  unsigned char bytes[16];
  check(RAND_bytes(bytes, sizeof bytes));
  bytes[0] = static_cast<unsigned char>((bytes[0] & 0x7f) | 0x40);  // positive, of full length
  const std::unique_ptr<BIGNUM, Deleter<BN_free>> number(
      checked(BN_bin2bn(bytes, sizeof bytes, nullptr)));
  checked(BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)));
}

void add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(checked(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str())));
  check(X509_add_ext(certificate, extension.get(), -1));
}

bool is_address(const std::string& name) {
  unsigned char bytes[16];
  return inet_pton(AF_INET, name.c_str(), bytes) == 1 ||
         inet_pton(AF_INET6, name.c_str(), bytes) == 1;
}

std::string alternative_names(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const std::string& name : names) all.push_back((is_address(name) ? "IP:" : "DNS:") + name);
  return base::join(all, ",");
}

// A key and a certificate for it, without issuer, extensions and signature.
Pair begin(const std::string& common_name, base::Timestamp now, std::int64_t days) {
  Pair pair{Key(checked(EVP_EC_gen("P-256"))), Certificate(checked(X509_new()))};
  X509* certificate = pair.certificate.get();
  check(X509_set_version(certificate, X509_VERSION_3));
  set_serial(certificate);
  std::time_t at = static_cast<std::time_t>(now.ms / 1000);
  checked(X509_time_adj_ex(X509_getm_notBefore(certificate), -1, 0, &at));
  checked(X509_time_adj_ex(X509_getm_notAfter(certificate), static_cast<int>(days), 0, &at));
  check(X509_set_pubkey(certificate, pair.key.get()));
  const auto text = reinterpret_cast<const unsigned char*>(common_name.c_str());
  check(X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8, text,
                                   -1, -1, 0));
  return pair;
}

void sign(Pair& pair, X509* issuer, EVP_PKEY* issuer_key) {
  add_extension(pair.certificate.get(), issuer, NID_authority_key_identifier, "keyid");
  checked(X509_sign(pair.certificate.get(), issuer_key, EVP_sha256()));
}

Pair make_authority(base::Timestamp now) {
  Pair pair = begin("meridian-ca", now, kAuthorityDays);
  X509* own = pair.certificate.get();
  check(X509_set_issuer_name(own, X509_get_subject_name(own)));
  add_extension(own, own, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(own, own, NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(own, own, NID_subject_key_identifier, "hash");
  sign(pair, own, pair.key.get());
  return pair;
}

Pair make_server(const Pair& authority, const std::vector<std::string>& names,
                 base::Timestamp now) {
  Pair pair = begin("meridian", now, kServerDays);
  X509 *own = pair.certificate.get(), *issuer = authority.certificate.get();
  check(X509_set_issuer_name(own, X509_get_subject_name(issuer)));
  add_extension(own, issuer, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(own, issuer, NID_key_usage, "critical,digitalSignature");
  add_extension(own, issuer, NID_ext_key_usage, "serverAuth");
  add_extension(own, issuer, NID_subject_key_identifier, "hash");
  add_extension(own, issuer, NID_subject_alt_name, alternative_names(names));
  sign(pair, issuer, authority.key.get());
  return pair;
}

bool covers(X509* certificate, const std::string& name) {
  return is_address(name)
             ? X509_check_ip_asc(certificate, name.c_str(), 0) == 1
             : X509_check_host(certificate, name.c_str(), name.size(), 0, nullptr) == 1;
}

bool lasts(X509* certificate, base::Timestamp now, std::int64_t days) {
  std::time_t until = static_cast<std::time_t>(now.ms / 1000 + days * kDay);
  return X509_cmp_time(X509_get0_notAfter(certificate), &until) > 0;
}

bool is_good(const Pair& server, const Pair& authority, const std::vector<std::string>& names,
             base::Timestamp now) {
  X509* own = server.certificate.get();
  bool good = X509_verify(own, X509_get0_pubkey(authority.certificate.get())) == 1;
  take_tls_error();
  for (const std::string& name : names) good = good && covers(own, name);
  return good && lasts(own, now, kRenewDays);
}

}  // namespace

CertificateFiles ensure_server_certificate(const fs::path& directory,
                                           const std::vector<std::string>& names,
                                           base::Timestamp now) {
  return base::while_doing("preparing certificates in " + directory.string(), [&] {
    base::make_directories(directory, 0700);
    const CertificateFiles files{directory / "ca.crt", directory / "server.crt",
                                 directory / "server.key"};
    auto authority = read_pair(files.authority, directory / "ca.key");
    if (!authority || !lasts(authority->certificate.get(), now, kRenewDays)) {
      authority = make_authority(now);
      write_pair(*authority, files.authority, directory / "ca.key");
    }
    const auto server = read_pair(files.certificate, files.key);
    if (!server || !is_good(*server, *authority, names, now)) {
      write_pair(make_server(*authority, names, now), files.certificate, files.key);
    }
    return files;
  });
}

}  // namespace meridian::net
