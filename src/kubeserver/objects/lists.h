// Lists: pages of one instant, filtered by labels and fields.
//
// Every page of one listing shows the revision of the first. A continue token names that revision
// and the last key, so it costs nothing while the client thinks; it expires with the store's change
// log (StatusError 410).
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kube/selector.h"
#include "kubeserver/objects/storage.h"

namespace meridian::kubeserver::objects {

struct Selection {
  std::string ns;  // "" = every namespace
  kube::LabelSelector labels;
  kube::FieldSelector fields;

  bool everything() const { return labels.empty() && fields.empty(); }
  bool matches(const base::Json& object) const {
    return labels.matches(object) && fields.matches(object);
  }
};
// Parsed and checked: StatusError(400) for a broken selector or a field that the resource does not
// offer.
Selection parse_selection(const kinds::Served& served, std::string ns, std::string_view labels,
                          std::string_view fields);

struct ListQuery {
  Selection selection;
  std::size_t limit = 0;  // 0 = all
  std::string token;      // of the page before
  std::string resource_version;
  enum class Match { unset, exact, not_older_than } match = Match::unset;
};

// The instant and place where a listing begins or goes on.
struct Cursor {
  store::Revision revision = 0;
  std::string after;  // document key; "" = from the beginning
};

struct ListEnd {
  store::Revision revision = 0;
  std::string token;  // "" = that was all
};

// Hands the matching objects to `take` in batches; the objects of a batch may be moved from. Reads
// at most a few hundred documents at a time.
ListEnd list_objects(const Storage& storage, const kinds::Served& served, const ListQuery& query,
                     const std::function<void(std::vector<base::Json>&)>& take);

std::string encode_token(const Storage& storage, const Cursor& cursor);
Cursor decode_token(const Storage& storage, std::string_view token);  // StatusError(400)

// A resourceVersion as a revision: 0 for "" and "0". StatusError(400) when it is none;
// StatusError(504) when it lies in the future.
store::Revision parse_revision(const Storage& storage, std::string_view text);

}  // namespace meridian::kubeserver::objects
