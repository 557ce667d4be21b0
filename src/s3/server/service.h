// The operations of S3 over the stores of all regions. One function per operation; Server routes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "s3/error.h"
#include "s3/server/call.h"
#include "s3/store/object_store.h"

namespace meridian::s3 {

class Service {
 public:
  // At least one store; see Server.
  Service(const std::vector<ObjectStore*>& stores, const base::Clock& clock, base::Random& random,
          ServerSettings settings);

  std::string new_request_id() { return random_.hex(16); }

  // Routes to the operation that method, target and sub-resource name. Throws S3Error.
  void run(Call& call);
  // CORS headers of an answer to a request with Origin; before anything is answered.
  void add_cors_headers(Call& call);

 private:
  using Operation = void (Service::*)(Call&);
  struct Route {
    std::string_view method, sub_resource;
    Operation operation;
  };
  static const std::vector<Route>& bucket_routes();
  static const std::vector<Route>& object_routes();

  // service_buckets.cpp
  void list_buckets(Call& call);
  void create_bucket(Call& call);
  void head_bucket(Call& call);
  void delete_bucket(Call& call);
  void get_location(Call& call);

  // service_bucket_settings.cpp
  void get_versioning(Call& call);
  void put_versioning(Call& call);
  void get_acl(Call& call);
  void put_acl(Call& call);
  void get_bucket_tagging(Call& call);
  void put_bucket_tagging(Call& call);
  void delete_bucket_tagging(Call& call);
  void get_cors(Call& call);
  void put_cors(Call& call);
  void delete_cors(Call& call);
  void preflight(Call& call);

  // service_bucket_documents.cpp
  void get_document(Call& call);
  void put_document(Call& call);
  void delete_document(Call& call);
  void get_absent_setting(Call& call);  // AWS's own "there is none" errors
  void delete_absent_setting(Call& call);
  void put_fixed_setting(Call& call);  // accepted when it says what is so
  void get_policy_status(Call& call);
  void get_ownership_controls(Call& call);
  void get_empty_setting(Call& call);

  // service_listings.cpp
  void list_objects(Call& call);
  void list_objects_v2(Call& call);
  void list_versions(Call& call);

  // service_reads.cpp
  void get_object(Call& call);
  void get_attributes(Call& call);
  void get_object_tagging(Call& call);

  // service_writes.cpp
  void put_object(Call& call);
  void copy_object(Call& call);
  void delete_object(Call& call);
  void delete_objects(Call& call);
  void put_object_tagging(Call& call);
  void delete_object_tagging(Call& call);

  // service_multipart.cpp
  void create_upload(Call& call);
  void put_part(Call& call);
  void copy_part(Call& call);
  void complete_upload(Call& call);
  void abort_upload(Call& call);
  void list_uploads(Call& call);
  void list_parts(Call& call);

  // The store that holds the bucket. NoSuchBucket, AccessDenied, PermanentRedirect.
  ObjectStore& home(const Call& call);
  // The same for a bucket that may lie in any region: copy sources.
  ObjectStore& find_store(const std::string& bucket, const std::string& account);
  ObjectStore* store_with(const std::string& bucket);
  void check_owner_header(const Call& call, std::string_view header,
                          const BucketRecord& bucket) const;

  // The client asks for security that is not given: it is told so, or refused.
  void warn_not_enforced(Call& call, std::string_view what);
  void check_encryption(const Call& call) const;

  // A copy's source, held, its conditions checked. Says in which store it lies.
  struct Source {
    ObjectStore* store = nullptr;
    std::string bucket, key;
    HeldObject held;
  };
  Source open_source(const Call& call);

  std::map<std::string, ObjectStore*> regions_;
  const std::string default_region_;
  const base::Clock& clock_;
  base::Random& random_;
  const ServerSettings settings_;
  std::mutex create_mutex_;  // bucket names are unique over all regions
};

// Shared by several operations.
std::string owner_id(const std::string& account);
void write_owner(base::XmlWriter& xml, std::string_view element, const std::string& account);
void answer_text_xml(Call& call, std::string_view xml);
void answer_error(Call& call, const S3Error& error);
// Headers, metadata, tags, storage class, checksum and conditions of a write.
NewObject new_object(const Call& call);
Fields parse_tagging_header(const std::string& text);  // "a=b&c=d"; InvalidTag
Fields parse_tagging_xml(const base::XmlElement& tagging);
void write_tagging(base::XmlWriter& xml, const Fields& tags);
void check_tags(const Fields& tags, std::size_t most);
void add_checksum_headers(net::Headers& headers, const Checksum& checksum);
void add_checksum_elements(base::XmlWriter& xml, const Checksum& checksum);
void add_echoed_headers(net::Headers& headers, const ObjectRecord& record);  // SSE
std::optional<S3Error> check_bucket_name(const std::string& name);

}  // namespace meridian::s3
