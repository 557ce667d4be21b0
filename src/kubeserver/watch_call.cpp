// A watch: a stream of events, one line each.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "kubeserver/kinds/tables.h"
#include "kubeserver/media.h"
#include "kubeserver/read_calls.h"

namespace meridian::kubeserver {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using objects::EventPtr;
using objects::EventType;
using objects::Form;
using objects::Hub;
using objects::Selection;
using objects::Shape;
using std::chrono::seconds;
using Steady = std::chrono::steady_clock;

constexpr seconds kLook{2};       // how long a client that left may go unnoticed
constexpr seconds kBookmark{60};  // between bookmarks
constexpr std::int64_t kShortest = 1800, kLongest = 3600;  // of a watch without timeoutSeconds
constexpr std::size_t kPiece = 256 * 1024;

kube::StatusError too_many() {
  return {429,
          "TooManyRequests",
          "the server has as many open watches as it can serve; please try again later",
          {"", "", "", "", {}, 10}};
}

// One watch on its way.
class Stream {
 public:
  Stream(Call& call, const WatchParts& parts)
      : call_(call),
        parts_(parts),
        form_(choose_form(call.request.headers.get("accept"), call.query.get("includeObject"))),
        selection_(selection_of(call)),
        bookmarks_(call.query.flag("allowWatchBookmarks")) {}

  void run() {
    const std::string version = call_.query.get("resourceVersion");
    const bool initial = wants_initial(version);
    const store::Revision after =
        initial ? 0 : objects::parse_revision(parts_.objects.storage(), version);
    const auto end = Steady::now() + length();
    net::Headers headers;
    headers.add("Content-Type", "application/json");
    headers.add("Cache-Control", "no-cache, private");
    call_.responder.begin(200, headers);
    try {
      follow(initial ? send_initial() : after, end);
    } catch (const kube::StatusError& error) {
      send(objects::watch_line("ERROR", error.to_json()));
    }
  }

 private:
  static Selection selection_of(const Call& call) {
    std::string fields = call.query.get("fieldSelector");
    if (!call.target.name.empty()) {
      fields += (fields.empty() ? "" : ",") + ("metadata.name=" + call.target.name);
    }
    return objects::parse_selection(*call.served, call.target.ns, call.query.get("labelSelector"),
                                    fields);
  }

  bool wants_initial(const std::string& version) const {
    if (call_.query.has("sendInitialEvents")) return call_.query.flag("sendInitialEvents");
    return version.empty() || version == "0";
  }

  seconds length() const {
    const std::int64_t given = call_.query.number("timeoutSeconds").value_or(0);
    if (given > 0) return seconds(std::min<std::int64_t>(given, 24 * 3600));
    const auto spread = static_cast<std::uint64_t>(kLongest - kShortest);
    return seconds(kShortest + static_cast<std::int64_t>(parts_.random.below(spread)));
  }

  // What is there now, as if it had just been added.
  store::Revision send_initial() {
    const objects::ListEnd end = objects::list_objects(
        parts_.objects.storage(), *call_.served, {.selection = selection_},
        [&](std::vector<Json>& batch) {
          std::string lines;
          for (Json& object : batch) {
            lines += objects::watch_line(
                "ADDED", objects::shaped(*call_.served, std::move(object), form_, now()));
          }
          send(lines);
        });
    if (bookmarks_ && call_.query.flag("sendInitialEvents")) send_bookmark(end.revision, true);
    return end.revision;
  }

  void follow(store::Revision after, Steady::time_point end) {
    const auto watcher = parts_.hub.watch(call_.served->collection, after);
    auto next_bookmark = Steady::now() + kBookmark;
    while (!call_.responder.peer_gone() && still_served()) {
      const auto now = Steady::now();
      if (now >= end) break;
      const std::vector<EventPtr> events = watcher->wait_next(std::min(end, now + kLook));
      send_events(events);
      if (events.empty() && parts_.hub.stopped()) return;
      if (!bookmarks_ || !events.empty() || Steady::now() < next_bookmark) continue;
      send_bookmark(watcher->position(), false);
      next_bookmark = Steady::now() + kBookmark;
    }
    if (bookmarks_) send_bookmark(watcher->position(), false);
  }

  // A definition may have changed or gone meanwhile.
  bool still_served() {
    const kube::ResourceId& id = call_.served->resource.id;
    auto served = parts_.objects.catalog().registry()->find(id.group, id.version, id.plural);
    if (!served) return false;
    call_.served = std::move(served);
    return true;
  }

  void send_events(const std::vector<EventPtr>& events) {
    std::string lines;
    for (const EventPtr& event : events) {
      const auto type = event->type_for(*call_.served, selection_);
      if (!type) continue;
      lines += *event->line(*call_.served, *type, form_, now());
      if (lines.size() >= kPiece) {
        send(lines);
        lines.clear();
      }
    }
    send(lines);
  }

  void send_bookmark(store::Revision revision, bool initial_end) {
    JsonObject metadata{{"resourceVersion", std::to_string(revision)},
                        {"creationTimestamp", nullptr}};
    if (initial_end) {
      metadata["annotations"] = JsonObject{{"k8s.io/initial-events-end", "true"}};
    }
    JsonObject object{{"kind", call_.served->resource.kind},
                      {"apiVersion", call_.served->api_version()},
                      {"metadata", metadata}};
    if (form_.shape == Shape::metadata) {
      object["kind"] = "PartialObjectMetadata";
      object["apiVersion"] = "meta.k8s.io/v1";
    } else if (form_.shape == Shape::table) {
      object = kinds::make_table(*call_.served, {}, now(), form_.rows).as_object();
      object["metadata"] = metadata;
    }
    send(objects::watch_line("BOOKMARK", Json(std::move(object))));
  }

  void send(std::string_view lines) {
    if (!lines.empty()) call_.responder.write(lines);
  }
  base::Timestamp now() const { return parts_.clock.now(); }

  Call& call_;
  const WatchParts& parts_;
  const Form form_;
  const Selection selection_;
  const bool bookmarks_;
};

}  // namespace

void serve_watch(Call& call, const WatchParts& parts) {
  if (parts.hub.watchers() >= parts.most_watches) throw too_many();
  Stream(call, parts).run();
}

}  // namespace meridian::kubeserver
