// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/objects/draft.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/managed_fields.h"
#include "kube/schema.h"
#include "kube/value.h"
#include "kubeserver/objects/metadata.h"

namespace meridian::kubeserver::objects {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using kinds::Served;
using kube::ObjectKey;

Json without_managers(const Json& object) {
  Json out = object;
  kube::metadata_of(out).erase("managedFields");
  return out;
}

const Json* managers_of(const Json& object) {
  return base::find_path(object, "metadata.managedFields");
}

JsonArray without_times(const Json* managers) {
  if (managers == nullptr || !managers->is_array()) return {};
  JsonArray out = managers->get_array();
  for (Json& entry : out) {
    if (entry.is_object()) entry.get_object().erase("time");
  }
  return out;
}

void move_member(Json& to, const Json& from, std::string_view name) {
  if (const Json* value = base::find(from, name)) {
    to.as_object()[name] = *value;
  } else {
    to.as_object().stable_erase(name);
  }
}

[[noreturn]] void refuse_unknown(const Served& served, const std::vector<std::string>& unknown) {
  std::string list;
  for (const std::string& field : unknown) {
    list += fmt::format("{}unknown field \"{}\"", list.empty() ? "" : ", ", field);
  }
  throw kube::bad_request(
      fmt::format("{} in version \"{}\" cannot be handled as a {}: strict "
                  "decoding error: {}",
                  served.resource.kind, served.resource.id.version, served.resource.kind, list));
}

// Without what a change of does not make a new generation.
Json what_is_wanted(const Served& served, const Json& object) {
  JsonObject out = object.as_object();
  out.erase("metadata");
  if (served.has_status()) out.erase("status");
  return out;
}

}  // namespace

std::string qualified_plural(const Served& served) {
  return served.group().empty() ? served.plural() : served.plural() + "." + served.group();
}

void check_type(const Served& served, Json& object) {
  if (!object.is_object()) throw kube::bad_request("the body must be an object");
  JsonObject& root = object.get_object();
  const auto check_member = [&](std::string_view name, const std::string& wanted,
                                std::string_view what) {
    const std::string given = base::string_or(object, name);
    if (given == wanted) return;
    if (given.empty() && served.kind != nullptr) {
      root[name] = wanted;
      return;
    }
    if (given.empty()) throw kube::bad_request(fmt::format("Object '{}' is missing", what));
    throw kube::bad_request(fmt::format(
        "the {} in the data ({}) does not match the expected {} ({})", what, given, what, wanted));
  };
  check_member("apiVersion", served.api_version(), "API version");
  check_member("kind", served.resource.kind, "Kind");
}

void set_place(const Served& served, Json& object, const ObjectKey& key) {
  const Json* given = base::find(object, "metadata");
  if (given != nullptr && !given->is_object())
    throw kube::bad_request("metadata must be an object");
  JsonObject& metadata = kube::metadata_of(object);
  const std::string ns = kube::namespace_of(object), name = kube::name_of(object);
  if (!served.namespaced()) {
    metadata.stable_erase("namespace");
  } else if (!ns.empty() && ns != key.ns) {
    throw kube::bad_request(
        "the namespace of the provided object does not match the namespace sent on the request");
  } else {
    metadata["namespace"] = key.ns;
  }
  if (key.name.empty()) return;
  if (!name.empty() && name != key.name) {
    throw kube::bad_request(fmt::format(
        "the name of the object ({}) does not match the name on the URL ({})", name, key.name));
  }
  metadata["name"] = key.name;
}

void clean(const Served& served, Json& object, WriteOptions::Unknown unknown,
           std::vector<std::string>& warnings) {
  std::vector<std::string> found = clean_metadata(object);
  if (const kube::Schema* schema = served.resource.schema.get()) {
    const std::vector<std::string> fields = kube::unknown_fields(*schema, object);
    found.insert(found.end(), fields.begin(), fields.end());
    kube::prune(*schema, object);
  }
  if (found.empty() || unknown == WriteOptions::Unknown::drop) return;
  if (unknown == WriteOptions::Unknown::refuse) refuse_unknown(served, found);
  for (const std::string& field : found) {
    warnings.push_back(fmt::format("unknown field \"{}\"", field));
  }
}

void keep_other_part(const Draft& draft, Json& object) {
  if (!draft.served.has_status()) return;
  if (draft.old == nullptr) {
    object.as_object().stable_erase("status");
  } else if (draft.subresource == "status") {
    Json whole = *draft.old;
    move_member(whole, object, "status");
    if (const Json* managers = managers_of(object)) {
      kube::metadata_of(whole)["managedFields"] = *managers;
    }
    object = std::move(whole);
  } else {
    move_member(object, *draft.old, "status");
  }
}

void fill_in(const Served& served, Json& object, const Json* old) {
  if (served.kind != nullptr && served.kind->prepare != nullptr) {
    served.kind->prepare(object, old);
  }
  if (served.resource.schema) kube::apply_defaults(*served.resource.schema, object);
}

std::vector<kube::Cause> faults_of(const Served& served, const Json& object, const Json* old) {
  std::vector<kube::Cause> causes;
  check_metadata(served, object, old, causes);
  if (served.resource.schema) {
    for (kube::Cause& cause : kube::validate(*served.resource.schema, object, old)) {
      causes.push_back(std::move(cause));
    }
  }
  if (causes.empty() && served.kind != nullptr && served.kind->check != nullptr) {
    served.kind->check(object, old, causes);
  }
  return causes;
}

bool same_but_managers(const Json& a, const Json& b) {
  return kube::same_value(without_managers(a), without_managers(b));
}

bool same_object(const Json& a, const Json& b) {
  return kube::same_value(Json(without_times(managers_of(a))),
                          Json(without_times(managers_of(b)))) &&
         same_but_managers(a, b);
}

void count_generation(const Served& served, Json& object, const Json* old) {
  if (old == nullptr || !served.counts_generations()) return;
  if (kube::same_value(what_is_wanted(served, object), what_is_wanted(served, *old))) return;
  kube::metadata_of(object)["generation"] = kube::generation_of(*old) + 1;
}

void track_managers(const Draft& draft, Json& object, base::Timestamp now) {
  kube::track_update(draft.old, object,
                     {draft.options.field_manager, draft.served.api_version(), draft.subresource},
                     draft.served.resource.schema.get(), now);
}

}  // namespace meridian::kubeserver::objects
