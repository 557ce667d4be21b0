// One change of one object, as watchers get it: encoded once for all that want the same form.
//
// Immutable but for its caches; thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "kubeserver/objects/lists.h"
#include "store/store.h"

namespace meridian::kubeserver::objects {

enum class Shape { whole, table, metadata };

// How a client wants objects to look.
struct Form {
  Shape shape = Shape::whole;
  kube::RowObject rows = kube::RowObject::metadata;  // of a Table
};

enum class EventType { added, modified, deleted };

class Event {
 public:
  Event(Location location, store::Change change);

  store::Revision revision() const { return change_.document.revision; }
  const kube::ObjectKey& key() const { return location_.key; }
  const std::string& collection() const { return location_.collection; }
  std::size_t bytes() const;  // roughly what it keeps in memory before it is encoded

  // What the change means to somebody who watches a selection: an object that begins to match is
  // added, one that ends to match is deleted. Nothing: it was and is none of theirs.
  std::optional<EventType> type_for(const kinds::Served& served, const Selection& selection) const;
  // The line that goes over the wire: {"type":…,"object":…} and a line feed.
  std::shared_ptr<const std::string> line(const kinds::Served& served, EventType type, Form form,
                                          base::Timestamp now) const;

 private:
  struct Line {
    std::shared_ptr<const std::string> text;
    base::Timestamp made{};
  };
  enum class Side { before, after };
  const std::string& body_of(EventType type) const;
  bool matches(Side side, const kinds::Served& served, const Selection& selection) const;

  const Location location_;
  const store::Change change_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, Line> lines_;
  // For selections, by version and side.
  mutable std::map<std::string, std::shared_ptr<const base::Json>> objects_;
};
using EventPtr = std::shared_ptr<const Event>;

std::string_view name(EventType type);  // "ADDED"
// An object in the form that a client wants: itself, a Table of one row, or its metadata.
base::Json shaped(const kinds::Served& served, base::Json object, Form form, base::Timestamp now);
std::string watch_line(std::string_view type, const base::Json& object);

}  // namespace meridian::kubeserver::objects
