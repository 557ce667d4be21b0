// `meridian events`, and the resource forms of `get`, `describe`, `delete` and `wait`.
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/resources.h"

#include <fmt/format.h>

#include <ostream>

#include "base/strings.h"
#include "cli/cluster.h"
#include "cli/coverage.h"
#include "cli/follow.h"
#include "cli/format.h"
#include "cli/manifest_files.h"
#include "kube/object.h"

namespace meridian::cli {
namespace {

// Kinds by every word that people use; what else a server has is named KIND/NAME, or with -n.
bool is_kind_word(std::string_view word) {
  static const std::vector<std::string> kWords{"processingjob",
                                               "hyperparametertuningjob",
                                               "batchtransformjob",
                                               "hostingdeployment",
                                               "model",
                                               "endpointconfig",
                                               "hostingautoscalingpolicy",
                                               "hostingautoscalingpolicies",
                                               "hap",
                                               "trainingarray",
                                               "ta",
                                               "namespace",
                                               "event",
                                               "configmap",
                                               "secret",
                                               "customresourcedefinition",
                                               "crd"};
  const std::string lower = base::to_lower(word);
  for (const std::string& known : kWords) {
    if (lower == known || lower == known + "s") return true;
  }
  return false;
}

bool is_training_job(std::string_view kind) {
  const std::string lower = base::to_lower(kind);
  return lower == "trainingjob" || lower == "trainingjobs" || lower == "tj";
}

using base::Json;
using base::JsonArray;
using base::JsonObject;

// What a Table holds, without the columns that only -o wide shows.
void print_table(Context& context, const Json& table, bool wide) {
  const JsonArray& columns = base::find(table, "columnDefinitions")->as_array();
  std::vector<std::size_t> shown;
  std::vector<std::string> header;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!wide && base::int_or(columns[i], "priority", 0) > 0) continue;
    shown.push_back(i);
    std::string name = base::string_or(columns[i], "name");
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    header.push_back(name);
  }
  Table out(header);
  for (const Json& row : base::find(table, "rows")->as_array()) {
    const JsonArray& cells = base::find(row, "cells")->as_array();
    std::vector<std::string> line;
    for (const std::size_t i : shown) {
      const Json& cell = cells.at(i);
      line.push_back(cell.is_string() ? std::string(base::view(cell.get_string()))
                     : cell.is_null() ? ""
                                      : base::to_text(cell));
    }
    out.add(std::move(line));
  }
  out.print(context.console.out());
}

}  // namespace

bool means_resources(const ResourceOptions& options) {
  const ClusterOptions& cluster = *options.cluster;
  if (!cluster.ns.empty() || !cluster.kubeconfig.empty() || !cluster.context.empty()) return true;
  if (!options.files.empty()) return true;
  if (options.names.empty()) return false;
  const std::string& first = options.names[0];
  const std::size_t slash = first.find('/');
  return slash == std::string::npos ? is_kind_word(first)
                                    : !is_training_job(first.substr(0, slash));
}

int get_resources(Context& context, const ResourceOptions& options, Format format) {
  Cluster cluster(context, *options.cluster);
  const auto [served, name] = cluster.parse_name(options.names.at(0));
  const std::string one = name.empty() && options.names.size() > 1 ? options.names[1] : name;
  const std::string ns = served->scope == kube::Scope::namespaced ? cluster.ns() : "";
  if (format == Format::json || format == Format::yaml) {
    if (!one.empty()) {
      print_value(context.console.out(), cluster.api().get(served->id, {ns, one}), format);
    } else {
      const kube::List list = cluster.api().list(served->id, ns);
      print_value(context.console.out(), JsonArray(list.items.begin(), list.items.end()), format);
    }
    return 0;
  }
  const auto answer =
      base::parse_json(cluster.api()
                           .send({.path = served->id.path(ns, one),
                                  .accept = "application/json;as=Table;v=v1;g=meta.k8s.io"})
                           .body);
  if (!answer || base::find(*answer, "rows") == nullptr) {
    throw base::Error(base::Code::data_loss, "the server's answer is not a table");
  }
  if (format == Format::name) {
    for (const Json& row : base::find(*answer, "rows")->as_array()) {
      context.console.out() << served->id.plural << '/'
                            << base::string_or(*base::find_path(row, "object.metadata"), "name")
                            << '\n';
    }
  } else if (base::find(*answer, "rows")->as_array().empty()) {
    context.console.say(fmt::format("No {} in namespace {}.", served->id.plural, ns));
  } else {
    print_table(context, *answer, format == Format::wide);
  }
  return 0;
}

int delete_resources(Context& context, const ResourceOptions& options) {
  Cluster cluster(context, *options.cluster);
  const auto remove = [&](const Served& served, kube::ObjectKey key) {
    if (served.scope == kube::Scope::namespaced && key.ns.empty()) key.ns = cluster.ns();
    cluster.api().remove(served.id, key);
    context.console.say(fmt::format("{}/{} deleted", served.id.plural, key.name));
  };
  for (const SourceDocument& source : read_documents(options.files)) {
    remove(cluster.serving(source.document.value), kube::key_of(source.document.value));
  }
  for (const std::string& text : options.names) {
    const auto [served, name] = cluster.parse_name(text);
    if (name.empty())
      throw base::Error(base::Code::invalid_argument,
                        fmt::format("'{}' names no object: KIND/NAME", text));
    remove(*served, {"", name});
  }
  return 0;
}

int wait_for_resources(Context& context, const ResourceOptions& options) {
  Cluster cluster(context, *options.cluster);
  const Interrupt interrupt;
  const auto start = context.clock.ticks();
  for (const std::string& text : options.names) {
    const auto [served, name] = cluster.parse_name(text);
    const kube::ObjectKey key{served->scope == kube::Scope::namespaced ? cluster.ns() : "", name};
    while (true) {
      const Json object = cluster.api().get(served->id, key);
      std::string seen;
      const Json* conditions = base::find_path(object, "status.conditions");
      if (conditions != nullptr && conditions->is_array()) {
        for (const Json& condition : conditions->get_array()) {
          const std::string type = base::string_or(condition, "type");
          if (base::string_or(condition, "status") != "True") continue;
          const bool wanted = base::equals_ignoring_case(type, options.condition);
          const bool failed = type == "Failed" || type == "Stalled";
          if (wanted || failed) {
            context.console.say(
                fmt::format("{}: {}: {}", text, type, base::string_or(condition, "message")));
            if (!wanted) return 1;
            seen = type;
          }
        }
      }
      if (!seen.empty()) break;
      if (options.timeout > 0 &&
          context.clock.ticks() - start > base::Duration(options.timeout * 1000LL)) {
        context.console.say(
            fmt::format("{}: not {} after {} s", text, options.condition, options.timeout));
        return 1;
      }
      if (!interrupt.wait(base::Duration(300))) return kDetached;
    }
  }
  return 0;
}

namespace {

std::vector<Json> events_about(Cluster& cluster, const std::string& kind, const std::string& name) {
  kube::ListOptions options;
  if (!kind.empty())
    options.field_selector =
        fmt::format("involvedObject.kind={},involvedObject.name={}", kind, name);
  return cluster.api().list({"", "v1", "events"}, cluster.ns(), options).items;
}

void print_events(Context& context, const std::vector<Json>& events) {
  Table table({"LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"});
  for (const Json& event : events) {
    const auto time = kube::parse_time(base::string_or(event, "lastTimestamp"));
    const Json* about = base::find(event, "involvedObject");
    table.add({time ? format_age(context.clock.now() - *time) : "-", base::string_or(event, "type"),
               base::string_or(event, "reason"),
               about == nullptr ? ""
                                : base::to_lower(base::string_or(*about, "kind")) + "/" +
                                      base::string_or(*about, "name"),
               base::string_or(event, "message")});
  }
  table.print(context.console.out());
}

int events(Context& context, const ResourceOptions& options) {
  Cluster cluster(context, *options.cluster);
  std::string kind, name;
  if (!options.names.empty()) {
    const auto [served, named] = cluster.parse_name(options.names[0]);
    kind = served->kind;
    name = named;
  }
  const std::vector<Json> found = events_about(cluster, kind, name);
  if (found.empty()) {
    context.console.say(fmt::format("No events in namespace {}.", cluster.ns()));
  } else {
    print_events(context, found);
  }
  return 0;
}

}  // namespace

int describe_resource(Context& context, const ResourceOptions& options) {
  Cluster cluster(context, *options.cluster);
  const auto [served, name] = cluster.parse_name(options.names.at(0));
  const std::string ns = served->scope == kube::Scope::namespaced ? cluster.ns() : "";
  Json object = cluster.api().get(served->id, {ns, name});
  object.as_object()["metadata"].as_object().erase("managedFields");
  print_value(context.console.out(), object, Format::yaml);
  const std::string warning = uncovered(context, cluster, *served, {ns, name}, base::Duration(0));
  if (!warning.empty()) context.console.say("Warning: " + warning);
  const std::vector<Json> about = events_about(cluster, served->kind, name);
  if (!about.empty()) {
    context.console.out() << "\nEvents\n";
    print_events(context, about);
  }
  return 0;
}

void add_resource_options(Command command, const std::shared_ptr<ResourceOptions>& options) {
  add_cluster_options(command, options->cluster);
}

void add_events(Command root, Context& context) {
  auto e = std::make_shared<ResourceOptions>();
  auto listing =
      root.add("events", "What happened to resources", "meridian events trainingjob/digits");
  listing.arguments("object", e->names, "KIND/NAME; all of the namespace without it");
  add_resource_options(listing, e);
  listing.run([e, &context] { return events(context, *e); });
}

}  // namespace meridian::cli
