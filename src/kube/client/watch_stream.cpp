// SPDX-License-Identifier: Apache-2.0
#include "kube/client/watch_stream.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace meridian::kube {
namespace {

using base::Code;
using base::Error;
using base::Json;

constexpr std::size_t longest_line = 16u << 20;

WatchEvent parse_event(std::string_view line) {
  auto json = base::parse_json(line);
  if (!json) {
    throw Error(Code::data_loss, "a watch sent no JSON: " + json.error().text(), base::Retry::yes);
  }
  const std::string type = base::string_or(*json, "type");
  const Json* object = base::find(*json, "object");
  if (object == nullptr) throw Error(Code::data_loss, "a watch sent an event without an object");
  if (type == "ERROR") {
    if (auto status = find_status_error(*object)) throw std::move(*status);
    throw Error(Code::unavailable, "a watch ended with an unnamed error", base::Retry::yes);
  }
  using Type = WatchEvent::Type;
  Json& owned = json->get_object()["object"];
  if (type == "ADDED") return {Type::added, std::move(owned)};
  if (type == "MODIFIED") return {Type::modified, std::move(owned)};
  if (type == "DELETED") return {Type::deleted, std::move(owned)};
  if (type == "BOOKMARK") return {Type::bookmark, std::move(owned)};
  throw Error(Code::data_loss, fmt::format("a watch sent an event of type '{}'", type));
}

}  // namespace

std::vector<WatchEvent> WatchStream::feed(std::string_view bytes) {
  std::vector<WatchEvent> out;
  for (std::size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
    rest_.append(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
    if (!base::trim(rest_).empty()) out.push_back(parse_event(rest_));
    rest_.clear();
  }
  rest_.append(bytes);
  if (rest_.size() > longest_line) throw Error(Code::data_loss, "an event of a watch is too long");
  return out;
}

}  // namespace meridian::kube
