// Media types: what a client accepts, what it sends.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "kubeserver/objects/event.h"
#include "net/http.h"

namespace meridian::kubeserver {

struct MediaRange {
  std::string type;  // "application/json", lower case
  std::map<std::string, std::string> parameters;
  std::string parameter(std::string_view name) const;
  bool accepts_json() const;
};

// By preference. "*/*" when the header is empty.
std::vector<MediaRange> parse_accept(std::string_view header);

// How the client wants objects: the first range that we can serve. StatusError(406) when there is
// none. `include_object`: of a Table, "None", "Metadata" or "Object".
objects::Form choose_form(std::string_view accept, std::string_view include_object);

// The body as a value, by its Content-Type (JSON when there is none). StatusError(400, 413, 415).
base::Json read_body(net::Request& request);
enum class Empty { refused, allowed };  // allowed: null
base::Json read_body(net::Request& request, Empty empty);
std::string content_type_of(const net::Request& request);  // without parameters, lower case

}  // namespace meridian::kubeserver
