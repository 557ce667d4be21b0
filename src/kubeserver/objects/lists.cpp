// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/objects/lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/strings.h"
#include "kube/cause.h"
#include "kube/status.h"

namespace meridian::kubeserver::objects {
namespace {

using base::Json;
using base::JsonObject;
using kinds::Served;
using kube::StatusError;

constexpr std::size_t kBatch = 250;
constexpr std::string_view kTokenVersion = "meta.k8s.io/v1";

StatusError forbidden_match(std::string_view why) {
  return kube::invalid("meta.k8s.io", "ListOptions", "",
                       {kube::forbidden("resourceVersionMatch", why)});
}

// Where the client's resourceVersion puts a listing.
store::Revision instant_of(const Storage& storage, const ListQuery& query) {
  const store::Revision wanted = parse_revision(storage, query.resource_version);
  using Match = ListQuery::Match;
  if (query.match != Match::unset && query.resource_version.empty())
    throw forbidden_match("resourceVersionMatch is forbidden unless resourceVersion is provided");
  if (query.match == Match::exact) {
    if (wanted == 0)
      throw forbidden_match(R"(resourceVersionMatch "exact" is forbidden for resourceVersion "0")");
    return wanted;
  }
  return 0;  // the newest is not older than anything
}

Cursor begin(const Storage& storage, const ListQuery& query) {
  if (query.token.empty()) return {instant_of(storage, query), ""};
  if (!query.resource_version.empty() && query.resource_version != "0") {
    throw kube::bad_request("specifying resource version is not allowed when using continue");
  }
  return decode_token(storage, query.token);
}

store::Page read_page(const Storage& storage, const store::ListQuery& query) {
  try {
    return storage.store().list(query);
  } catch (const base::Error& error) {
    if (error.code() != base::Code::failed_precondition) throw;
    throw kube::expired(
        "The provided continue parameter is too old to display a consistent list result. You can "
        "start a new list without the continue parameter.");
  }
}

// The only object that a listing by name can show.
std::optional<kube::ObjectKey> single_key(const Served& served, const ListQuery& query) {
  if (served.namespaced() && query.selection.ns.empty()) return std::nullopt;
  using Operator = kube::FieldSelector::Term::Operator;
  for (const auto& term : query.selection.fields.terms()) {
    if (term.path != "metadata.name" || term.op != Operator::equals) continue;
    return kube::ObjectKey{query.selection.ns, term.value};
  }
  return std::nullopt;
}

// A store query that finds a superset of what is selected.
store::ListQuery store_query(const Storage& storage, const Served& served, const ListQuery& query) {
  store::ListQuery out{.prefix = storage.prefix_of(served.collection, query.selection.ns),
                       .limit = kBatch};
  if (query.limit > 0) out.limit = std::min(kBatch, query.limit);
  using Operator = kube::FieldSelector::Term::Operator;
  for (const auto& term : query.selection.fields.terms()) {
    const bool of_uid = term.path == "involvedObject.uid" || term.path == "regarding.uid";
    if (of_uid && term.op == Operator::equals) out.equals["involved"] = term.value;
  }
  return out;
}

}  // namespace

Selection parse_selection(const Served& served, std::string ns, std::string_view labels,
                          std::string_view fields) {
  Selection out{.ns = std::move(ns)};
  auto by_label = kube::parse_label_selector(labels);
  if (!by_label) {
    throw kube::bad_request(
        fmt::format("unable to parse requirement: {}", by_label.error().text()));
  }
  auto by_field = kube::parse_field_selector(fields);
  if (!by_field) {
    throw kube::bad_request(
        fmt::format("invalid field selector \"{}\": {}", fields, by_field.error().text()));
  }
  const std::vector<std::string>& own = served.resource.selectable_fields;
  for (const auto& term : by_field->terms()) {
    if (term.path == "metadata.name" || term.path == "metadata.namespace") continue;
    if (std::ranges::find(own, term.path) != own.end()) continue;
    throw kube::bad_request(fmt::format("field label not supported: {}", term.path));
  }
  out.labels = std::move(*by_label);
  out.fields = std::move(*by_field);
  return out;
}

store::Revision parse_revision(const Storage& storage, std::string_view text) {
  if (text.empty()) return 0;
  const auto revision = base::to_int(text);
  if (!revision || *revision < 0) {
    throw kube::bad_request(fmt::format("Invalid value: \"{}\": resourceVersion", text));
  }
  const store::Revision now = storage.store().revision();
  if (*revision <= now) return *revision;
  throw StatusError(
      504, "Timeout", fmt::format("Too large resource version: {}, current: {}", *revision, now),
      {"", "", "", "", {{"", "ResourceVersionTooLarge", "Too large resource version"}}, 1});
}

std::string encode_token(const Storage& storage, const Cursor& cursor) {
  const std::string text = base::to_text(
      JsonObject{{"v", kTokenVersion},
                 {"rv", cursor.revision},
                 {"start", std::string_view(cursor.after).substr(storage.prefix().size())}});
  std::string token = base::base64(text);
  std::ranges::replace(token, '+', '-');
  std::ranges::replace(token, '/', '_');
  std::erase(token, '=');
  return token;
}

Cursor decode_token(const Storage& storage, std::string_view token) {
  std::string text(token);
  std::ranges::replace(text, '-', '+');
  std::ranges::replace(text, '_', '/');
  text.append((4 - text.size() % 4) % 4, '=');
  const auto bytes = base::unbase64(text);
  const auto json = bytes ? base::parse_json(*bytes) : base::Result<Json>(base::ParseError{});
  const std::int64_t revision = json ? base::int_or(*json, "rv", 0) : 0;
  const std::string start = json ? base::string_or(*json, "start") : "";
  if (revision <= 0 || start.empty() || base::string_or(*json, "v") != kTokenVersion ||
      revision > storage.store().revision()) {
    throw kube::bad_request("continue key is not valid");
  }
  return {revision, storage.prefix() + start};
}

ListEnd list_objects(const Storage& storage, const Served& served, const ListQuery& query,
                     const std::function<void(std::vector<Json>&)>& take) {
  Cursor cursor = begin(storage, query);
  if (const auto key = single_key(served, query); key && cursor.revision == 0) {
    ListEnd end{storage.store().revision(), ""};
    std::vector<Json> batch;
    if (auto found = storage.find(served, *key)) {
      if (query.selection.matches(found->object)) batch.push_back(std::move(found->object));
    }
    take(batch);
    return end;
  }
  store::ListQuery next = store_query(storage, served, query);
  std::size_t left = query.limit == 0 ? std::string::npos : query.limit;
  while (true) {
    next.at = cursor.revision;
    next.start_after = cursor.after;
    const store::Page page = read_page(storage, next);
    cursor.revision = page.revision;
    std::vector<Json> batch;
    bool stopped = false;
    for (const store::Document& document : page.documents) {
      if (left == 0) {
        stopped = true;
        break;
      }
      cursor.after = document.key;
      Json object = read_object(served, document.body, document.revision);
      if (!query.selection.matches(object)) continue;
      batch.push_back(std::move(object));
      --left;
    }
    take(batch);
    const bool more = stopped || !page.next_token.empty();
    if (!more) return {cursor.revision, ""};
    if (left == 0) return {cursor.revision, encode_token(storage, cursor)};
  }
}

}  // namespace meridian::kubeserver::objects
