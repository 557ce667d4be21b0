// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/write_calls.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "kubeserver/kinds/tables.h"
#include "kubeserver/media.h"
#include "kubeserver/objects/lists.h"

namespace meridian::kubeserver {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using kinds::Served;
using kube::StatusError;
using objects::Objects;
using objects::PatchKind;
using objects::RemoveOptions;
using objects::Run;
using objects::WriteOptions;
using objects::Written;

constexpr std::size_t kMostManagerName = 128;

std::string query_options_kind(const std::string& verb) {
  if (verb == "create") return "CreateOptions";
  return verb == "patch" ? "PatchOptions" : "UpdateOptions";
}

[[noreturn]] void refuse_option(const Call& call, std::string field, std::string reason,
                                std::string message) {
  throw kube::invalid("meta.k8s.io", query_options_kind(call.verb), "",
                      {{std::move(field), std::move(reason), std::move(message)}});
}

Run run_of(const Call& call, const std::string& dry_run) {
  if (dry_run.empty()) return Run::real;
  if (dry_run == "All") return Run::dry;
  refuse_option(call, "dryRun", "FieldValueNotSupported",
                fmt::format("Unsupported value: \"{}\": supported values: \"All\"", dry_run));
}

std::optional<WriteOptions::Unknown> unknown_of(const Call& call) {
  const std::string text = call.query.get("fieldValidation");
  if (text.empty()) return std::nullopt;
  if (text == "Ignore") return WriteOptions::Unknown::drop;
  if (text == "Warn") return WriteOptions::Unknown::warn;
  if (text == "Strict") return WriteOptions::Unknown::refuse;
  refuse_option(call, "fieldValidation", "FieldValueNotSupported",
                fmt::format("Unsupported value: \"{}\": supported values: \"Ignore\", \"Strict\", "
                            "\"Warn\"",
                            text));
}

// Given, or the program's name as the User-Agent begins.
std::string manager_of(const Call& call) {
  std::string name = call.query.get("fieldManager");
  if (name.size() > kMostManagerName) {
    refuse_option(call, "fieldManager", "FieldValueTooLong",
                  "Too long: may not be more than 128 bytes");
  }
  if (!name.empty()) return name;
  const std::string agent = call.request.headers.get("user-agent", "unknown");
  return std::string(base::utf8_prefix(agent.substr(0, agent.find('/')), kMostManagerName));
}

WriteOptions write_options(const Call& call) {
  return {.field_manager = manager_of(call),
          .unknown = unknown_of(call),
          .run = run_of(call, call.query.get("dryRun")),
          .force = call.query.flag("force") ? kube::Force::yes : kube::Force::no,
          .user = call.caller.user};
}

void send_written(Call& call, const Objects& objects, const Written& written) {
  const objects::Form form =
      choose_form(call.request.headers.get("accept"), call.query.get("includeObject"));
  const int status = written.did == Written::Did::created ? 201 : 200;
  send_json(call.responder, status,
            objects::shaped(*call.served, written.object, form, objects.now()), written.warnings);
}

void create(Call& call, Objects& objects) {
  if (!call.target.name.empty()) {
    throw StatusError(405, "MethodNotAllowed",
                      "the server does not allow this method on the requested resource");
  }
  Json body = read_body(call.request);
  if (!call.served->is_stored()) {
    const Json answer = answer_review(*call.served, std::move(body), call.caller, *call.registry);
    return send_json(call.responder, 201, answer);
  }
  send_written(call, objects,
               objects.create(*call.served, call.target.ns, std::move(body), write_options(call)));
}

void update(Call& call, Objects& objects) {
  Json body = read_body(call.request);
  send_written(call, objects,
               objects.update(*call.served, call.key(), call.target.subresource, std::move(body),
                              write_options(call)));
}

PatchKind patch_kind_of(const Call& call) {
  const std::string type = content_type_of(call.request);
  if (type == "application/json-patch+json") return PatchKind::json;
  if (type == "application/merge-patch+json") return PatchKind::merge;
  if (type == "application/apply-patch+yaml") return PatchKind::apply;
  if (type == "application/strategic-merge-patch+json" && call.served->kind != nullptr) {
    return PatchKind::strategic;
  }
  const std::string_view strategic =
      call.served->kind == nullptr ? "" : "application/strategic-merge-patch+json, ";
  throw StatusError(415, "UnsupportedMediaType",
                    fmt::format("the body of the request was in an unknown format - accepted media "
                                "types include: application/json-patch+json, "
                                "application/merge-patch+json, {}application/apply-patch+yaml",
                                strategic));
}

void patch(Call& call, Objects& objects) {
  const PatchKind kind = patch_kind_of(call);
  const WriteOptions options = write_options(call);
  if (kind == PatchKind::apply && !call.query.has("fieldManager")) {
    refuse_option(call, "fieldManager", "FieldValueRequired",
                  "Required value: is required for apply patch");
  }
  if (kind != PatchKind::apply && call.query.has("force")) {
    refuse_option(call, "force", "FieldValueForbidden",
                  "Forbidden: may not be specified for non-apply patch");
  }
  const Json body = read_body(call.request);
  send_written(
      call, objects,
      objects.patch(*call.served, call.key(), call.target.subresource, kind, body, options));
}

std::optional<objects::Propagation> propagation_of(const std::string& text) {
  using objects::Propagation;
  if (text.empty()) return std::nullopt;
  if (text == "Background") return Propagation::background;
  if (text == "Foreground") return Propagation::foreground;
  if (text == "Orphan") return Propagation::orphan;
  throw kube::invalid("meta.k8s.io", "DeleteOptions", "",
                      {{"propagationPolicy", "FieldValueNotSupported",
                        fmt::format("Unsupported value: \"{}\": supported values: \"Background\", "
                                    "\"Foreground\", \"Orphan\"",
                                    text)}});
}

std::string first_text(const Json& body, std::string_view member) {
  const Json* list = base::find(body, member);
  if (list == nullptr || !list->is_array() || list->get_array().empty()) return "";
  const Json& first = list->get_array()[0];
  return first.is_string() ? std::string(base::view(first.get_string())) : "";
}

// Options come in the body, in the query, or both; the query wins.
RemoveOptions remove_options(const Call& call, const Json& body) {
  RemoveOptions options{.user = call.caller.user};
  std::string policy = call.query.get("propagationPolicy"), dry_run = call.query.get("dryRun");
  std::string orphan = call.query.get("orphanDependents");
  if (body.is_object()) {
    if (policy.empty()) policy = base::string_or(body, "propagationPolicy");
    if (dry_run.empty()) dry_run = first_text(body, "dryRun");
    if (orphan.empty() && base::bool_or(body, "orphanDependents", false)) orphan = "true";
    if (const Json* wanted = base::find(body, "preconditions")) {
      options.uid = base::string_or(*wanted, "uid");
      options.resource_version = base::string_or(*wanted, "resourceVersion");
    }
  }
  options.propagation = propagation_of(policy);
  if (!options.propagation && orphan == "true") options.propagation = objects::Propagation::orphan;
  options.run = run_of(call, dry_run);
  return options;
}

// kubectl waits for the end of the object only when it is told the uid.
Json success_of(const Served& served, const Json& gone) {
  JsonObject details{
      {"name", kube::name_of(gone)}, {"kind", served.plural()}, {"uid", kube::uid_of(gone)}};
  if (!served.group().empty()) details["group"] = served.group();
  return JsonObject{{"kind", "Status"},
                    {"apiVersion", "v1"},
                    {"metadata", JsonObject()},
                    {"status", "Success"},
                    {"details", std::move(details)}};
}

void remove(Call& call, Objects& objects) {
  const Json body = read_body(call.request, Empty::allowed);
  const objects::Removed removed =
      objects.remove(*call.served, call.key(), remove_options(call, body));
  send_json(call.responder, 200,
            removed.gone ? success_of(*call.served, removed.object) : removed.object);
}

void remove_collection(Call& call, Objects& objects) {
  const Json body = read_body(call.request, Empty::allowed);
  const RemoveOptions options = remove_options(call, body);
  const objects::ListQuery query{.selection = objects::parse_selection(
                                     *call.served, call.target.ns, call.query.get("labelSelector"),
                                     call.query.get("fieldSelector"))};
  JsonArray items;
  const objects::ListEnd end =
      objects::list_objects(objects.storage(), *call.served, query, [&](std::vector<Json>& batch) {
        for (Json& object : batch) {
          RemoveOptions one = options;
          if (one.uid.empty()) one.uid = kube::uid_of(object);
          try {
            objects.remove(*call.served, kube::key_of(object), one);
          } catch (const StatusError& error) {
            if (error.status() != 404 && error.status() != 409) throw;
          }
          items.push_back(kinds::metadata_only(object));
        }
      });
  send_json(call.responder, 200,
            JsonObject{{"kind", "PartialObjectMetadataList"},
                       {"apiVersion", "meta.k8s.io/v1"},
                       {"metadata", JsonObject{{"resourceVersion", std::to_string(end.revision)}}},
                       {"items", std::move(items)}});
}

}  // namespace

void serve_write(Call& call, Objects& objects) {
  if (call.verb == "create") return create(call, objects);
  if (call.verb == "update") return update(call, objects);
  if (call.verb == "patch") return patch(call, objects);
  if (call.verb == "delete") return remove(call, objects);
  remove_collection(call, objects);
}

}  // namespace meridian::kubeserver
