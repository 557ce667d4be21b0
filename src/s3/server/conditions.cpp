// SPDX-License-Identifier: Apache-2.0
#include "s3/server/conditions.h"

#include "base/strings.h"
#include "s3/server/call.h"

namespace meridian::s3 {
namespace {

// HTTP dates are whole seconds.
std::int64_t seconds(base::Timestamp t) { return t.ms / 1000; }

bool names(std::string_view list, std::string_view etag) {
  for (const auto& item : base::split(list, ',')) {
    const auto bare = unquoted(item);
    if (bare == "*" || bare == etag) return true;
  }
  return false;
}

std::optional<base::Timestamp> find_date(const net::Headers& headers, const std::string& name) {
  const auto text = headers.find(name);
  if (!text) return std::nullopt;
  if (const auto date = base::parse_http_date(*text)) return *date;
  if (const auto date = base::parse_iso8601(*text)) return *date;
  return std::nullopt;
}

}  // namespace

ReadConditions read_conditions(const net::Headers& headers, std::string_view prefix) {
  const std::string p(prefix);
  return {headers.find(p + "if-match"), headers.find(p + "if-none-match"),
          find_date(headers, p + "if-modified-since"),
          find_date(headers, p + "if-unmodified-since")};
}

ReadVerdict check_read(const ReadConditions& conditions, const ObjectRecord& record) {
  if (conditions.if_match) {
    if (!names(*conditions.if_match, record.etag)) return ReadVerdict::failed;
  } else if (conditions.if_unmodified_since &&
             seconds(record.modified) > seconds(*conditions.if_unmodified_since)) {
    return ReadVerdict::failed;
  }
  if (conditions.if_none_match) {
    if (names(*conditions.if_none_match, record.etag)) return ReadVerdict::not_modified;
  } else if (conditions.if_modified_since &&
             seconds(record.modified) <= seconds(*conditions.if_modified_since)) {
    return ReadVerdict::not_modified;
  }
  return ReadVerdict::send;
}

}  // namespace meridian::s3
