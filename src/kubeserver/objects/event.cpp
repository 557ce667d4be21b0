// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/objects/event.h"

#include <fmt/format.h>

#include "kubeserver/kinds/tables.h"

namespace meridian::kubeserver::objects {
namespace {

using base::Json;
using kinds::Served;

constexpr base::Duration kTableStaysTrue{1000};  // ages are printed in seconds

}  // namespace

std::string_view name(EventType type) {
  switch (type) {
    case EventType::added: return "ADDED";
    case EventType::modified: return "MODIFIED";
    case EventType::deleted: return "DELETED";
  }
  return "";
}

std::string watch_line(std::string_view type, const Json& object) {
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, base::to_text(object));
}

Json shaped(const Served& served, Json object, Form form, base::Timestamp now) {
  switch (form.shape) {
    case Shape::whole: return object;
    case Shape::metadata: return kinds::metadata_only(object);
    case Shape::table: break;
  }
  const std::string version = kube::resource_version_of(object);
  std::vector<Json> one;
  one.push_back(std::move(object));
  Json table = kinds::make_table(served, one, now, form.rows);
  kube::metadata_of(table)["resourceVersion"] = version;
  return table;
}

Event::Event(Location location, store::Change change)
    : location_(std::move(location)), change_(std::move(change)) {}

std::size_t Event::bytes() const {
  return change_.document.body.size() + (change_.before ? change_.before->body.size() : 0);
}

std::optional<EventType> Event::type_for(const Served& served, const Selection& selection) const {
  if (!selection.ns.empty() && selection.ns != location_.key.ns) return std::nullopt;
  const bool removed = change_.kind == store::Change::Kind::remove;
  const bool before = change_.before && matches(Side::before, served, selection);
  const bool after = !removed && matches(Side::after, served, selection);
  if (before && after) return EventType::modified;
  if (after) return EventType::added;
  if (before) return EventType::deleted;
  return std::nullopt;
}

bool Event::matches(Side side, const Served& served, const Selection& selection) const {
  if (selection.everything()) return true;
  std::shared_ptr<const Json> object;
  {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const Json>& known =
        objects_[served.api_version() + (side == Side::before ? "<" : ">")];
    if (!known) {
      const store::Document& document = side == Side::before ? *change_.before : change_.document;
      known = std::make_shared<const Json>(read_object(served, document.body, document.revision));
    }
    object = known;
  }
  return selection.matches(*object);
}

// What left a selection is shown as it was in it.
const std::string& Event::body_of(EventType type) const {
  return type == EventType::deleted && change_.before ? change_.before->body
                                                      : change_.document.body;
}

std::shared_ptr<const std::string> Event::line(const Served& served, EventType type, Form form,
                                               base::Timestamp now) const {
  const std::string key = fmt::format("{}/{}/{}/{}", fmt::ptr(&served), static_cast<int>(type),
                                      static_cast<int>(form.shape), static_cast<int>(form.rows));
  const std::lock_guard lock(mutex_);
  Line& line = lines_[key];
  const bool aged = form.shape == Shape::table && now - line.made >= kTableStaysTrue;
  if (!line.text || aged) {
    Json object = read_object(served, body_of(type), revision());
    line.text = std::make_shared<const std::string>(
        watch_line(name(type), shaped(served, std::move(object), form, now)));
    line.made = now;
  }
  return line.text;
}

}  // namespace meridian::kubeserver::objects
