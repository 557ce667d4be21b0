// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/target.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "kube/status.h"

namespace meridian::kubeserver {
namespace {

std::optional<std::vector<std::string>> segments_of(std::string_view path) {
  std::vector<std::string> out;
  if (path.starts_with('/')) path.remove_prefix(1);
  if (path.ends_with('/')) path.remove_suffix(1);
  for (const std::string& raw : base::split(path, '/')) {
    auto segment = base::percent_decode(raw);
    if (!segment || segment->empty() || segment->find('/') != std::string::npos)
      return std::nullopt;
    out.push_back(std::move(*segment));
  }
  return out;
}

bool is_subresource_of_namespaces(std::string_view word) {
  return word == "status" || word == "finalize";
}

}  // namespace

std::optional<Target> parse_target(std::string_view raw_path) {
  const auto parts = segments_of(raw_path);
  if (!parts || parts->size() < 2) return std::nullopt;
  Target target;
  std::size_t at = 0;
  const auto next = [&]() -> std::string {
    return at < parts->size() ? (*parts)[at++] : std::string();
  };
  const std::string root = next();
  if (root == "apis") {
    target.group = next();
  } else if (root != "api") {
    return std::nullopt;
  }
  target.version = next();
  const bool in_namespace =
      at + 2 < parts->size() && (*parts)[at] == "namespaces" &&
      !(parts->size() == at + 3 && is_subresource_of_namespaces((*parts)[at + 2]));
  if (in_namespace) {
    next();
    target.ns = next();
  }
  target.plural = next();
  target.name = next();
  target.subresource = next();
  if (at != parts->size()) return std::nullopt;
  return target;
}

Query::Query(std::string_view raw_query) : pairs_(net::parse_query(raw_query, true)) {}

std::string Query::get(std::string_view name) const {
  const auto found = std::ranges::find(pairs_, name, [](const auto& pair) { return pair.first; });
  return found == pairs_.end() ? "" : found->second;
}

bool Query::has(std::string_view name) const { return !get(name).empty(); }

bool Query::flag(std::string_view name) const {
  const std::string text = base::to_lower(get(name));
  if (text == "true" || text == "1" || text == "t") return true;
  if (text.empty() || text == "false" || text == "0" || text == "f") return false;
  throw kube::bad_request(fmt::format("{}={}: true or false is wanted", name, text));
}

std::optional<std::int64_t> Query::number(std::string_view name) const {
  const std::string text = get(name);
  if (text.empty()) return std::nullopt;
  const auto value = base::to_int(text);
  if (!value) throw kube::bad_request(fmt::format("{}={}: a number is wanted", name, text));
  return value;
}

std::string_view verb_of(std::string_view method, const Target& target, const Query& query) {
  const bool one = !target.name.empty();
  if (method == "GET" || method == "HEAD") {
    if (query.flag("watch")) return "watch";
    return one ? "get" : "list";
  }
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return one ? "delete" : "deletecollection";
  return "";
}

}  // namespace meridian::kubeserver
