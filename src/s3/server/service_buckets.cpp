// Buckets: list, create, head, delete, location; and which store holds a bucket.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include "base/digest.h"
#include "base/strings.h"
#include "s3/server/service.h"

namespace meridian::s3 {
namespace {

bool looks_like_ip(std::string_view name) {
  const auto pieces = base::split(name, '.');
  return pieces.size() == 4 && std::all_of(pieces.begin(), pieces.end(), [](const auto& piece) {
           return base::to_uint(piece).has_value();
         });
}

bool is_name_character(unsigned char c) {
  return (c >= 'a' && c <= 'z') || std::isdigit(c) || c == '-' || c == '.';
}

S3Error invalid_location(const std::string& region) {
  return S3Error("InvalidLocationConstraint",
                 "The specified location-constraint is not valid: this installation has no "
                 "region '" +
                     region + "'",
                 400)
      .with("LocationConstraint", region);
}

S3Error permanent_redirect(const Call& call, const BucketRecord& bucket) {
  return S3Error("PermanentRedirect",
                 "The bucket you are attempting to access must be addressed using the specified "
                 "endpoint. Please send all future requests to this endpoint: sign for region '" +
                     bucket.region + "'.",
                 301)
      .with("Bucket", bucket.name)
      .with("Endpoint", call.header("host"))
      .with("Region", bucket.region)
      .with_header("x-amz-bucket-region", bucket.region);
}

}  // namespace

std::optional<S3Error> check_bucket_name(const std::string& name) {
  const bool good = name.size() >= 3 && name.size() <= 63 &&
                    std::all_of(name.begin(), name.end(), is_name_character) &&
                    std::isalnum(static_cast<unsigned char>(name.front())) &&
                    std::isalnum(static_cast<unsigned char>(name.back())) &&
                    name.find("..") == std::string::npos && !looks_like_ip(name) &&
                    !name.starts_with("xn--") && !name.ends_with("-s3alias");
  if (good) return std::nullopt;
  return S3Error("InvalidBucketName",
                 "The specified bucket is not valid: 3 to 63 lower-case letters, digits, '-' and "
                 "'.', starting and ending with a letter or digit, and not like an IP address.",
                 400)
      .with("BucketName", name);
}

std::string owner_id(const std::string& account) {
  return base::sha256_hex("meridian canonical user " + account);
}

void write_owner(base::XmlWriter& xml, std::string_view element, const std::string& account) {
  xml.open(element).element("ID", owner_id(account)).element("DisplayName", account).close();
}

void answer_text_xml(Call& call, std::string_view xml) {
  net::Headers headers;
  headers.set("Content-Type", "application/xml");
  std::string text(xml);
  if (!text.starts_with("<?xml")) text.insert(0, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
  call.answer({.status = 200, .headers = std::move(headers), .body = std::move(text)});
}

Service::Service(const std::vector<ObjectStore*>& stores, const base::Clock& clock,
                 base::Random& random, ServerSettings settings)
    : default_region_(stores.front()->region()),
      clock_(clock),
      random_(random),
      settings_(settings) {
  for (auto* store : stores) regions_.emplace(store->region(), store);
}

ObjectStore* Service::store_with(const std::string& bucket) {
  for (const auto& [region, store] : regions_) {
    if (store->find_bucket(bucket)) return store;
  }
  return nullptr;
}

ObjectStore& Service::find_store(const std::string& bucket, const std::string& account) {
  auto* store = store_with(bucket);
  const auto record = store ? store->find_bucket(bucket) : nullptr;
  if (!record) throw no_such_bucket(bucket);
  if (record->account != account) throw access_denied();
  return *store;
}

void Service::check_owner_header(const Call& call, std::string_view header,
                                 const BucketRecord& bucket) const {
  const auto expected = call.find_header(header);
  if (expected && *expected != bucket.account) throw access_denied();
}

ObjectStore& Service::home(const Call& call) {
  if (auto error = check_bucket_name(call.target.bucket)) throw *error;
  auto& store = find_store(call.target.bucket, call.caller.account);
  const auto bucket = store.find_bucket(call.target.bucket);
  if (!bucket) throw no_such_bucket(call.target.bucket);
  check_owner_header(call, "x-amz-expected-bucket-owner", *bucket);
  if (!call.caller.region.empty() && call.caller.region != bucket->region)
    throw permanent_redirect(call, *bucket);
  return store;
}

void Service::list_buckets(Call& call) {
  std::map<std::string, std::shared_ptr<const BucketRecord>> buckets;
  const auto prefix = call.parameter("prefix"), region = call.parameter("bucket-region");
  for (const auto& [name, store] : regions_) {
    if (!region.empty() && region != name) continue;
    for (auto& bucket : store->list_buckets()) {
      if (bucket->account == call.caller.account && bucket->name.starts_with(prefix))
        buckets.emplace(bucket->name, bucket);
    }
  }
  const auto most = call.number("max-buckets", 10'000, 10'000);
  const auto after = call.parameter("continuation-token");
  base::XmlWriter xml;
  xml.open("ListAllMyBucketsResult", s3_namespace).open("Buckets");
  std::size_t count = 0;
  std::string last, next;
  for (auto at = buckets.upper_bound(after); at != buckets.end(); ++at) {
    if (count++ == most) {
      next = last;
      break;
    }
    last = at->first;
    xml.open("Bucket")
        .element("Name", at->first)
        .element("CreationDate", base::format_iso8601(at->second->created))
        .element("BucketRegion", at->second->region)
        .close();
  }
  xml.close();
  write_owner(xml, "Owner", call.caller.account);
  if (!next.empty()) xml.element("ContinuationToken", next);
  if (!prefix.empty()) xml.element("Prefix", prefix);
  call.answer_xml(xml);
}

void Service::create_bucket(Call& call) {
  const auto& name = call.target.bucket;
  if (auto error = check_bucket_name(name)) throw *error;
  if (base::equals_ignoring_case(call.header("x-amz-bucket-object-lock-enabled"), "true"))
    throw S3Error("NotImplemented",
                  "A header you provided implies functionality that is not implemented: objects "
                  "cannot be locked",
                  501)
        .with("Header", "x-amz-bucket-object-lock-enabled");
  std::string region = call.caller.region;
  BucketRecord bucket{.name = name, .account = call.caller.account, .created = clock_.now()};
  if (const auto text = call.read_document(); !base::trim(text).empty()) {
    const auto xml = base::parse_xml(text);
    if (!xml || xml->name != "CreateBucketConfiguration") throw malformed_xml();
    if (const auto constraint = xml->text_of("LocationConstraint"); !constraint.empty()) {
      region = constraint == "EU" ? "eu-west-1" : constraint;
      if (!regions_.contains(region)) throw invalid_location(region);
    }
    if (const auto* tags = xml->find("Tags"))
      bucket.tags = parse_tagging_xml({"Tagging", "", {}, {{"TagSet", "", {}, tags->children}}});
  }
  // Unscoped (SigV2), or signed for a region of AWS's own choice.
  if (!regions_.contains(region)) region = default_region_;
  {
    std::lock_guard lock(create_mutex_);
    auto* there = store_with(name);
    (there ? there : regions_.at(region))->create_bucket(bucket);  // refuses when it is there
  }
  net::Headers headers;
  headers.set("Location", "/" + name);
  call.answer_empty(200, std::move(headers));
}

void Service::head_bucket(Call& call) {
  const auto bucket = home(call).find_bucket(call.target.bucket);
  net::Headers headers;
  headers.set("x-amz-bucket-region", bucket ? bucket->region : "");
  headers.set("x-amz-access-point-alias", "false");
  call.answer_empty(200, std::move(headers));
}

void Service::delete_bucket(Call& call) {
  home(call).remove_bucket(call.target.bucket);
  call.answer_empty(204);
}

// Answered whatever region the request is signed for: clients ask it to find out.
void Service::get_location(Call& call) {
  const auto bucket =
      find_store(call.target.bucket, call.caller.account).find_bucket(call.target.bucket);
  if (!bucket) throw no_such_bucket(call.target.bucket);
  check_owner_header(call, "x-amz-expected-bucket-owner", *bucket);
  const auto region = bucket->region == "us-east-1" ? "" : bucket->region;  // as AWS does
  answer_text_xml(call, "<LocationConstraint xmlns=\"" + std::string(s3_namespace) + "\">" +
                            base::xml_escape(region) + "</LocationConstraint>");
}

}  // namespace meridian::s3
