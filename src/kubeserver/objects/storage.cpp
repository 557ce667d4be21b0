// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/objects/storage.h"

#include <vector>

#include "base/error.h"
#include "base/strings.h"

namespace meridian::kubeserver::objects {
namespace {

using base::Json;
using base::JsonObject;
using kinds::Kind;
using kinds::Served;

constexpr std::string_view kNoNamespace = "-";

store::IndexFields index_of(const Served& served, const Json& stored, base::Timestamp now) {
  store::IndexFields fields;
  if (served.kind != nullptr && served.kind->index != nullptr) fields = served.kind->index(stored);
  fields["uid"] = kube::uid_of(stored);
  for (const kube::OwnerReference& owner : kube::owners_of(stored)) {
    fields["owner:" + owner.uid] = "1";
    fields["owned"] = "1";
  }
  if (kube::is_deleting(stored)) fields["deleting"] = "1";
  if (served.kind != nullptr && served.kind->lifetime == Kind::Lifetime::passing) {
    fields["written"] = store::index_number(now.ms);
  }
  return fields;
}

}  // namespace

Storage::Storage(store::Store& store, const base::Clock& clock, std::string account)
    : store_(store), clock_(clock), prefix_(std::move(account) + "/global/kubernetes/") {}

std::string Storage::prefix_of(std::string_view collection, std::string_view ns) const {
  std::string prefix = prefix_ + std::string(collection) + "/";
  if (!ns.empty()) prefix += std::string(ns) + "/";
  return prefix;
}

std::string Storage::key_of(const Served& served, const kube::ObjectKey& key) const {
  return prefix_of(served.collection, key.ns.empty() ? kNoNamespace : key.ns) + key.name;
}

std::optional<Location> Storage::location_of(std::string_view document_key) const {
  if (!document_key.starts_with(prefix_)) return std::nullopt;
  const std::vector<std::string> parts = base::split(document_key.substr(prefix_.size()), '/');
  if (parts.size() != 4) return std::nullopt;
  return Location{parts[0] + "/" + parts[1], {parts[2] == kNoNamespace ? "" : parts[2], parts[3]}};
}

Json read_object(const Served& served, std::string_view body, store::Revision revision) {
  auto parsed = base::parse_json(body, kObjectLimits);
  if (!parsed || !parsed->is_object()) {
    throw base::Error(base::Code::data_loss,
                      "an object of " + served.collection + " is stored as no JSON object");
  }
  Json object = std::move(*parsed);
  if (served.kind != nullptr && served.kind->from_stored != nullptr) {
    object = served.kind->from_stored(std::move(object));
  }
  object.get_object()["apiVersion"] = served.api_version();
  kube::metadata_of(object)["resourceVersion"] = std::to_string(revision);
  return object;
}

std::optional<Stored> Storage::find(const Served& served, const kube::ObjectKey& key) const {
  const auto document = store_.find(key_of(served, key));
  if (!document) return std::nullopt;
  return Stored{read_object(served, document->body, document->revision), document->revision};
}

store::Write Storage::put(const Served& served, const Json& object,
                          std::optional<store::Revision> expect) const {
  Json stored = object;
  kube::metadata_of(stored).stable_erase("resourceVersion");
  if (served.kind != nullptr && served.kind->to_stored != nullptr) {
    stored = served.kind->to_stored(std::move(stored));
  }
  JsonObject& root = stored.as_object();
  root["apiVersion"] = served.stored_api_version;
  root["kind"] = served.stored_kind;
  return store::put(key_of(served, kube::key_of(object)), base::to_text(stored),
                    index_of(served, stored, clock_.now()), expect);
}

}  // namespace meridian::kubeserver::objects
