// The tables of a SQLite store, how they came to be, and how a file is opened. Private.
//
//   meta       name → number: `revision` of the last commit in the tables, `trimmed` (the change
//              log has every change after that revision)
//   tail       the commits after that: one row a commit (tail.h)
//   documents  the present: one row a document; `fields` are the indexed fields, encoded
//   fields     one row an indexed field of a present document, for walks in order of a value
//   changes    the past: one row a change, with what it replaced. The place is the revision times
//              2^20 plus the number within the commit. What a change put is not stored a second
//              time: it is what the next change of that key replaced, or the present document.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "store/sqlite.h"
#include "store/store.h"

namespace meridian::store {

inline constexpr std::int64_t kPlacesPerRevision = 1 << 20;
inline std::int64_t first_place(Revision revision) { return revision * kPlacesPerRevision; }
inline Revision revision_at(std::int64_t place) { return place / kPlacesPerRevision; }

// The connection that writes; creates or migrates the file and checks it.
std::unique_ptr<Connection> open_writer(const SqliteSettings& settings);
std::unique_ptr<Connection> open_reader(const std::string& path);

}  // namespace meridian::store
