// SPDX-License-Identifier: Apache-2.0
#include "store/listing.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "base/strings.h"
#include "store/rules.h"

namespace meridian::store {
namespace {

using Position = Scan::Position;

// A condition that leaves at most this many documents is walked whole and sorted here.
constexpr std::size_t kSelective = 1000;
constexpr std::size_t kMostLimit = 1'000'000;

// ---- the token: query, revision and the position behind which the next page starts

struct Token {
  Revision revision = 0;
  Position last;
};

// Tells tokens of different queries apart; the limit may change from page to page.
std::string fingerprint(const ListQuery& query) {
  std::string all;
  append_piece(all, query.prefix);
  append_piece(all, query.start_after);
  append_piece(all, encode_fields(query.equals));
  for (const auto& range : query.ranges) {
    append_piece(all, range.field);
    append_piece(all, range.at_least ? "+" + *range.at_least : "");
    append_piece(all, range.below ? "+" + *range.below : "");
  }
  append_piece(all, query.order_by);
  append_piece(all, std::to_string(query.at));
  append_piece(all, query.order == ListQuery::Order::ascending ? "a" : "d");
  return fmt::format("{:08x}", base::crc32c(0, all));
}

std::string encode_token(const ListQuery& query, const Token& token) {
  std::string bytes;
  append_piece(bytes, fingerprint(query));
  append_piece(bytes, std::to_string(token.revision));
  append_piece(bytes, token.last.first);
  append_piece(bytes, token.last.second);
  append_piece(bytes, fmt::format("{:08x}", base::crc32c(0, bytes)));
  // Safe in URLs, where tokens travel.
  std::string text = base::base64(bytes);
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  std::erase(text, '=');
  return text;
}

std::optional<Token> decode_token(const ListQuery& query) {
  std::string text = query.token;
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  text.append((4 - text.size() % 4) % 4, '=');
  const auto bytes = base::unbase64(text);
  if (!bytes) return std::nullopt;
  std::string_view rest = *bytes;
  const auto mark = take_piece(rest), revision = take_piece(rest);
  const auto value = take_piece(rest), key = take_piece(rest);
  if (!mark || !revision || !value || !key || *mark != fingerprint(query)) return std::nullopt;
  const std::string_view summed = std::string_view(*bytes).substr(0, bytes->size() - rest.size());
  const auto sum = take_piece(rest);
  if (sum != fmt::format("{:08x}", base::crc32c(0, summed)) || !rest.empty()) return std::nullopt;
  const auto number = base::to_int(*revision);
  if (!number || *number < 0) return std::nullopt;
  return Token{*number, {std::string(*value), std::string(*key)}};
}

std::optional<Token> token_of(const ListQuery& query, Snapshot& snapshot) {
  if (query.token.empty()) return std::nullopt;
  auto token = decode_token(query);
  if (!token || token->revision > snapshot.revision()) {
    throw base::Error(base::Code::invalid_argument,
                      "the token is not one that this listing returned");
  }
  if (token->revision < snapshot.trimmed()) {
    throw expired("this listing shows", token->revision, snapshot.trimmed());
  }
  return token;
}

// The revision that the page shows.
Revision instant_of(const ListQuery& query, const std::optional<Token>& token, Snapshot& snapshot) {
  if (token) return token->revision;
  if (query.at == 0) return snapshot.revision();
  if (query.at > snapshot.revision()) {
    throw base::Error(base::Code::invalid_argument,
                      fmt::format("a listing at revision {}, but the last one here is {}", query.at,
                                  snapshot.revision()));
  }
  if (query.at < snapshot.trimmed()) {
    throw expired("this listing shows", query.at, snapshot.trimmed());
  }
  return query.at;
}

// ---- what belongs to a listing, and in which order

bool in_range(const ListQuery::Range& range, const IndexFields& fields) {
  const auto it = fields.find(range.field);
  return it != fields.end() && (!range.at_least || it->second >= *range.at_least) &&
         (!range.below || it->second < *range.below);
}

bool matches(const ListQuery& query, const std::string& key, const IndexFields& fields) {
  if (key <= query.start_after && !query.start_after.empty()) return false;
  if (!query.order_by.empty() && !fields.contains(query.order_by)) return false;
  for (const auto& [name, value] : query.equals) {
    const auto it = fields.find(name);
    if (it == fields.end() || it->second != value) return false;
  }
  return std::ranges::all_of(query.ranges, [&](const auto& r) { return in_range(r, fields); });
}

Position position_of(const ListQuery& query, const Document& document) {
  if (query.order_by.empty()) return {"", document.key};
  return {document.index.at(query.order_by), document.key};
}

bool comes_before(const ListQuery& query, const Position& a, const Position& b) {
  return query.order == ListQuery::Order::ascending ? a < b : b < a;
}

// ---- which walk finds it with the least reading

Scan scan_of(const ListQuery& query, const ListQuery::Range& range) {
  return {.field = range.field,
          .at_least = range.at_least,
          .below = range.below,
          .prefix = query.prefix,
          .start_after = query.start_after,
          .order = query.order};
}

struct Plan {
  Scan scan;
  std::size_t documents = 0;  // that the scan walks over, up to kSelective + 1
  bool equality = false;
};

// The condition that leaves the fewest documents.
std::optional<Plan> best_condition(Snapshot& snapshot, const ListQuery& query) {
  std::optional<Plan> best;
  const auto consider = [&](Scan scan, bool equality) {
    const std::size_t n = snapshot.count(scan, kSelective + 1);
    if (!best || n < best->documents) best = Plan{std::move(scan), n, equality};
  };
  for (const auto& [name, value] : query.equals) {
    consider({.field = name,
              .equal = value,
              .prefix = query.prefix,
              .start_after = query.start_after,
              .order = query.order},
             true);
  }
  for (const auto& range : query.ranges) consider(scan_of(query, range), false);
  return best;
}

Scan plan(Snapshot& snapshot, const ListQuery& query, const std::optional<Position>& after,
          std::size_t limit) {
  const auto condition = best_condition(snapshot, query);
  if (condition && condition->documents <= kSelective) {
    Scan scan = condition->scan;
    scan.limit = kSelective;
    return scan;
  }
  Scan scan{.prefix = query.prefix,
            .start_after = query.start_after,
            .after = after,
            .order = query.order,
            .limit = limit};
  if (!query.order_by.empty()) {
    scan.field = query.order_by;
    for (const auto& range : query.ranges) {
      if (range.field != query.order_by) continue;
      scan.at_least = range.at_least;
      scan.below = range.below;
      break;  // a second range of one field is left to the filter
    }
  } else if (condition && condition->equality) {
    scan.field = condition->scan.field;  // all of one value: the walk is in key order
    scan.equal = condition->scan.equal;
    if (scan.after) scan.after->first = *scan.equal;
  }
  return scan;
}

void sort_and_cut(std::vector<Document>& documents, const ListQuery& query, std::size_t most) {
  std::ranges::sort(documents, [&](const Document& a, const Document& b) {
    return comes_before(query, position_of(query, a), position_of(query, b));
  });
  if (documents.size() > most) documents.resize(most);
}

}  // namespace

Page list_page(Snapshot& snapshot, const ListQuery& query) {
  if (query.limit == 0) {
    throw base::Error(base::Code::invalid_argument, "a listing of at most 0 documents");
  }
  const auto token = token_of(query, snapshot);
  const std::size_t limit = std::min(query.limit, kMostLimit);
  Page page{.revision = instant_of(query, token, snapshot)};
  std::optional<Position> after;
  if (token) after = token->last;

  const auto belongs = [&](const std::string& key, const IndexFields& fields) {
    if (!matches(query, key, fields)) return false;
    if (!after) return true;
    const auto value = query.order_by.empty() ? "" : fields.at(query.order_by);
    return comes_before(query, *after, {value, key});
  };
  // One more than the page holds says whether there is a next page.
  page.documents =
      snapshot.scan(plan(snapshot, query, after, limit + 1),
                    [&](const std::string& key, Revision revision, const IndexFields& fields) {
                      return revision <= page.revision && belongs(key, fields);
                    });
  if (page.revision < snapshot.revision()) {
    snapshot.roll_back(page.revision, query.prefix, [&](Document document) {
      if (!belongs(document.key, document.index)) return;
      page.documents.push_back(std::move(document));
      if (page.documents.size() > 4 * (limit + 1) + kSelective) {
        sort_and_cut(page.documents, query, limit + 1);
      }
    });
  }
  sort_and_cut(page.documents, query, limit + 1);
  if (page.documents.size() > limit) {
    page.documents.resize(limit);
    page.next_token =
        encode_token(query, {page.revision, position_of(query, page.documents.back())});
  }
  return page;
}

}  // namespace meridian::store
