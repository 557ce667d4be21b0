// Updates and patches.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "kube/object.h"
#include "kube/patch.h"
#include "kube/schema.h"
#include "kubeserver/kinds/strategic.h"
#include "kubeserver/objects/definitions.h"
#include "kubeserver/objects/objects.h"

namespace meridian::kubeserver::objects {

using base::Json;
using base::JsonObject;
using kinds::Kind;
using kinds::Served;
using kube::ObjectKey;
using kube::StatusError;

namespace {

// StatusError(409) unless the client's object speaks of the one that is stored.
void check_preconditions(const Served& served, const Json& object, const Json& current) {
  const std::string name = kube::name_of(current);
  const std::string uid = kube::uid_of(object), own = kube::uid_of(current);
  if (!uid.empty() && uid != own) {
    throw kube::conflict(served.group(), served.plural(), name,
                         fmt::format("Precondition failed: UID in precondition: {}, UID in object "
                                     "meta: {}",
                                     uid, own));
  }
  const std::string version = kube::resource_version_of(object);
  if (version.empty() || version == kube::resource_version_of(current)) return;
  throw kube::conflict(served.group(), served.plural(), name,
                       "the object has been modified; please apply your changes to the latest "
                       "version and try again");
}

void check_version_given(const Served& served, const Json& object) {
  if (served.put_rule() != Kind::Put::needs_version) return;
  if (!kube::resource_version_of(object).empty()) return;
  throw kube::invalid(served.group(), served.resource.kind, kube::name_of(object),
                      {{"metadata.resourceVersion", "FieldValueInvalid",
                        "Invalid value: 0x0: must be specified for an update"}});
}

bool has_new_owner(const Json& object, const Json& current) {
  const std::vector<kube::OwnerReference> before = kube::owners_of(current);
  return std::ranges::any_of(kube::owners_of(object), [&](const kube::OwnerReference& owner) {
    return std::ranges::find(before, owner.uid, &kube::OwnerReference::uid) == before.end();
  });
}

// Somebody who goes from client-side to server-side apply may come back: kubectl's own record of
// what was applied last stays true.
void keep_last_applied(Json& object, Json applied, const kube::Manager& manager) {
  constexpr std::string_view kRecord = "kubectl.kubernetes.io/last-applied-configuration";
  if (manager.name != "kubectl" || !manager.subresource.empty()) return;
  if (!kube::find_annotation(object, kRecord)) return;
  if (kube::find_annotation(applied, kRecord))
    kube::metadata_of(applied)["annotations"].as_object().erase(kRecord);
  kube::set_annotation(object, kRecord, base::to_text(applied) + "\n");
}

bool is_absent(const StatusError& error) { return error.reason() == "NotFound"; }

Json patched(PatchKind kind, const Json& current, const Json& patch) {
  switch (kind) {
    case PatchKind::merge:
      if (!patch.is_object()) throw kube::bad_request("a merge patch must be an object");
      return kube::apply_merge_patch(current, patch);
    case PatchKind::json: {
      auto result = kube::apply_json_patch(current, patch);
      if (result) return std::move(*result);
      // Old kubectls show causes only.
      throw StatusError(422, "Invalid", result.error(),
                        {.causes = {{"patch", "FieldValueInvalid", result.error()}}});
    }
    case PatchKind::strategic: {
      auto result = kinds::apply_strategic_patch(current, patch);
      if (result) return std::move(*result);
      throw kube::bad_request(result.error());
    }
    case PatchKind::apply: break;
  }
  throw base::Error(base::Code::internal, "a patch of no kind");
}

}  // namespace

bool Objects::commit_change(const Served& served, Json& object, const Stored& current) {
  const bool held =
      !kube::finalizers_of(object).empty() || (is_namespace(served) && !is_emptied(object));
  const bool gone = kube::is_deleting(object) && !held;
  std::vector<store::Write> writes;
  if (gone) {
    writes.push_back(
        store::remove(storage_.key_of(served, kube::key_of(object)), current.revision));
  } else {
    writes.push_back(storage_.put(served, object, current.revision));
  }
  const store::CommitResult result = storage_.store().commit(std::move(writes));
  if (!result) return false;
  committed({served, object, gone, has_new_owner(object, current.object)}, object, *result);
  return true;
}

Written Objects::change(const Served& served, const ObjectKey& key, const std::string& subresource,
                        const Change& change, const WriteOptions& options, bool by_apply) {
  std::unique_lock<std::mutex> alone;
  if (is_definition(served)) alone = std::unique_lock(definitions_);
  for (int race = 0; race < kRaces; ++race) {
    const auto current = storage_.find(served, key);
    if (!current) throw kube::not_found(served.group(), served.plural(), key.name);
    Json next = change(current->object);
    check_type(served, next);
    set_place(served, next, key);
    check_preconditions(served, next, current->object);
    Written written;
    written.object =
        finish({served, options, next, &current->object, subresource, by_apply}, written.warnings);
    if (same_object(written.object, current->object)) {
      written.object = current->object;
      written.did = Written::Did::nothing;
      return written;
    }
    if (options.run == Run::dry) return written;
    if (commit_change(served, written.object, *current)) return written;
  }
  throw kube::conflict(served.group(), served.plural(), key.name,
                       "the object is being changed by many at once; please try again");
}

Written Objects::update(const Served& served, const ObjectKey& key, const std::string& subresource,
                        Json object, const WriteOptions& options) {
  check_type(served, object);
  set_place(served, object, key);
  try {
    const Written written = change(
        served, key, subresource,
        [&](const Json& current) {
          check_version_given(served, object);
          Json next = object;
          if (kube::resource_version_of(next).empty()) {
            kube::metadata_of(next)["resourceVersion"] = kube::resource_version_of(current);
          }
          return next;
        },
        options, false);
    return written;
  } catch (const StatusError& error) {
    const bool creates = served.put_rule() == Kind::Put::creates && subresource.empty();
    if (!creates || !is_absent(error) || !kube::resource_version_of(object).empty()) throw;
  }
  return create(served, key.ns, std::move(object), options);
}

Written Objects::patch(const Served& served, const ObjectKey& key, const std::string& subresource,
                       PatchKind kind, const Json& patch, const WriteOptions& options) {
  if (kind == PatchKind::apply) return patch_applied(served, key, subresource, patch, options);
  if (options.force == kube::Force::yes) {
    throw kube::invalid(
        "meta.k8s.io", "PatchOptions", "",
        {{"force", "FieldValueForbidden", "Forbidden: may not be specified for non-apply patch"}});
  }
  return change(
      served, key, subresource, [&](const Json& current) { return patched(kind, current, patch); },
      options, false);
}

Written Objects::patch_applied(const Served& served, const ObjectKey& key,
                               const std::string& subresource, Json patch,
                               const WriteOptions& options) {
  check_type(served, patch);
  set_place(served, patch, key);
  if (base::find_path(patch, "metadata.managedFields") != nullptr) {
    throw kube::bad_request("metadata.managedFields must be nil");
  }
  std::vector<std::string> warnings;
  using Unknown = WriteOptions::Unknown;
  const bool strict = settings_.strict_groups.contains(served.group());
  clean(served, patch, options.unknown.value_or(strict ? Unknown::refuse : Unknown::warn),
        warnings);
  const kube::Manager manager{options.field_manager, served.api_version(), subresource};
  const auto apply = [&](const Json* live) {
    Json next = kube::apply_server_side(live, patch, manager, options.force,
                                        served.resource.schema.get(), clock_.now());
    keep_last_applied(next, patch, manager);
    return next;
  };
  const auto with_warnings = [&](Written written) {
    written.warnings.insert(written.warnings.begin(), warnings.begin(), warnings.end());
    return written;
  };
  for (int race = 0; race < kRaces; ++race) {
    try {
      return with_warnings(change(
          served, key, subresource, [&](const Json& live) { return apply(&live); }, options, true));
    } catch (const StatusError& error) {
      const bool names_one = !kube::uid_of(patch).empty();
      if (!is_absent(error) || !subresource.empty() || names_one) throw;
    }
    try {
      std::unique_lock<std::mutex> alone;
      if (is_definition(served)) alone = std::unique_lock(definitions_);
      return with_warnings(create_once(served, apply(nullptr), options, true));
    } catch (const StatusError& error) {
      if (error.reason() != "AlreadyExists") throw;
    }
  }
  throw kube::conflict(served.group(), served.plural(), key.name,
                       "the object comes and goes; please try again");
}

}  // namespace meridian::kubeserver::objects
