// Reading, creating, and what every write goes through.
//
// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/objects/objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "kube/object.h"
#include "kube/value.h"
#include "kubeserver/objects/definitions.h"
#include "kubeserver/objects/draft.h"
#include "kubeserver/objects/metadata.h"

namespace meridian::kubeserver::objects {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using kinds::Kind;
using kinds::Served;
using kube::ObjectKey;
using kube::StatusError;

namespace {

constexpr int kGeneratedNames = 8;

[[noreturn]] void refuse_in_closing_namespace(const Served& served, const std::string& name,
                                              const std::string& ns) {
  throw StatusError(
      403, "Forbidden",
      fmt::format("{} \"{}\" is forbidden: unable to create new content in namespace {} because it "
                  "is being terminated",
                  qualified_plural(served), name, ns),
      {served.group(),
       served.plural(),
       name,
       "",
       {{"metadata.namespace", "NamespaceTerminating",
         fmt::format("namespace {} is being terminated", ns)}}});
}

void check_open(const Served& served) {
  if (!served.closing) return;
  throw StatusError(405, "MethodNotAllowed",
                    "create not allowed while custom resource definition is terminating",
                    {served.group(), served.plural()});
}

}  // namespace

bool is_namespace(const Served& served) {
  return served.group().empty() && served.plural() == "namespaces";
}

Objects::Objects(Storage& storage, Catalog& catalog, Admission& admission, const base::Clock& clock,
                 base::Random& random, ObjectsSettings settings)
    : storage_(storage),
      catalog_(catalog),
      admission_(admission),
      clock_(clock),
      random_(random),
      settings_(std::move(settings)) {}

Json Objects::get(const Served& served, const ObjectKey& key) const {
  auto found = storage_.find(served, key);
  if (!found) throw kube::not_found(served.group(), served.plural(), key.name);
  return std::move(found->object);
}

Written Objects::create(const Served& served, const std::string& ns, Json object,
                        const WriteOptions& options) {
  check_open(served);
  check_type(served, object);
  set_place(served, object, {ns, ""});
  if (const std::string version = kube::resource_version_of(object);
      !version.empty() && version != "0")
    throw kube::bad_request("resourceVersion should not be set on objects to be created");
  std::unique_lock<std::mutex> alone;
  if (is_definition(served)) alone = std::unique_lock(definitions_);
  const bool generated = kube::name_of(object).empty();
  for (int attempt = 1;; ++attempt) {
    try {
      return create_once(served, object, options, false);
    } catch (const StatusError& error) {
      if (!generated || error.reason() != "AlreadyExists" || attempt == kGeneratedNames) throw;
    }
  }
}

Written Objects::create_once(const Served& served, const Json& object, const WriteOptions& options,
                             bool by_apply) {
  Written written{.did = Written::Did::created};
  written.object = finish({served, options, object, nullptr, "", by_apply}, written.warnings);
  Json& made = written.object;
  const ObjectKey key = kube::key_of(made);
  for (int race = 1; race <= kRaces; ++race) {
    std::vector<store::Write> writes =
        with_namespace(served, made, storage_.put(served, made, store::Revision{0}));
    if (options.run == Run::dry) {
      if (storage_.find(served, key)) break;
      return written;
    }
    const store::CommitResult result = storage_.store().commit(std::move(writes));
    if (result) {
      committed({served, made, false, !kube::owners_of(made).empty()}, made, *result);
      return written;
    }
    if (result.error().key == storage_.key_of(served, key)) break;
  }
  throw kube::already_exists(served.group(), served.plural(), key.name);
}

// A write that holds only while its namespace stays as it is. A new namespace brings its default
// service account.
std::vector<store::Write> Objects::with_namespace(const Served& served, const Json& object,
                                                  store::Write write) {
  std::vector<store::Write> writes;
  writes.push_back(std::move(write));
  const std::string ns = kube::namespace_of(object);
  const Served& namespaces = builtin("namespaces");
  if (is_namespace(served)) {
    const Served& accounts = builtin("serviceaccounts");
    Json account = JsonObject{
        {"metadata", JsonObject{{"name", "default"}, {"namespace", kube::name_of(object)}}}};
    begin_metadata(accounts, account, clock_.now(), random_);
    writes.push_back(storage_.put(accounts, account, std::nullopt));
  } else if (served.namespaced()) {
    const auto found = storage_.find(namespaces, {"", ns});
    if (!found) throw kube::not_found("", "namespaces", ns);
    if (kube::is_deleting(found->object)) {
      refuse_in_closing_namespace(served, kube::name_of(object), ns);
    }
    writes.push_back(store::check(storage_.key_of(namespaces, {"", ns}), found->revision));
  }
  return writes;
}

Json Objects::finish(const Draft& draft, std::vector<std::string>& warnings) {
  const Served& served = draft.served;
  Json object = draft.object;
  const bool refuse = settings_.strict_groups.contains(served.group());
  using Unknown = WriteOptions::Unknown;
  const Unknown unknown = draft.options.unknown.value_or(refuse ? Unknown::refuse : Unknown::warn);
  clean(served, object, unknown, warnings);
  if (draft.old == nullptr) {
    begin_metadata(served, object, clock_.now(), random_);
  } else {
    keep_metadata(object, *draft.old);
  }
  keep_other_part(draft, object);
  fill_in(served, object, draft.old);
  if (is_definition(served)) {
    accept_definition(object, *catalog_.registry(), clock_.now());
  }
  std::vector<kube::Cause> faults = faults_of(served, object, draft.old);
  const bool changes = draft.old == nullptr || !same_but_managers(object, *draft.old);
  if (changes || !faults.empty()) {
    // Asked even when the schema refuses: its hints stand beside the schema's words.
    admit(served, &object, draft.old, draft.subresource, draft.options.user, &warnings,
          std::move(faults));
  }
  if (changes) {
    count_generation(served, object, draft.old);
  }
  if (!draft.by_apply) {
    track_managers(draft, object, clock_.now());
  }
  return object;
}

void Objects::admit(const Served& served, const Json* object, const Json* old,
                    const std::string& subresource, const std::string& user,
                    std::vector<std::string>* warnings, std::vector<kube::Cause> faults) {
  const Operation operation = object == nullptr ? Operation::remove
                              : old == nullptr  ? Operation::create
                                                : Operation::update;
  Verdict verdict = admission_.review({served.resource, operation, subresource, object, old, user});
  std::ranges::move(verdict.causes, std::back_inserter(faults));
  if (!faults.empty()) {
    throw kube::invalid(served.group(), served.resource.kind,
                        kube::name_of(object == nullptr ? *old : *object), std::move(faults));
  }
  if (warnings == nullptr) return;
  warnings->insert(warnings->end(), verdict.warnings.begin(), verdict.warnings.end());
}

void Objects::committed(Aftermath aftermath, Json& object, store::Revision revision) {
  kube::metadata_of(object)["resourceVersion"] = std::to_string(revision);
  if (is_definition(aftermath.served)) catalog_.reload();
  if (listener_) listener_(aftermath);
}

}  // namespace meridian::kubeserver::objects
