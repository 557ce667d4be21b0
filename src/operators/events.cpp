// SPDX-License-Identifier: Apache-2.0
#include "operators/events.h"

#include <fmt/format.h>

#include "base/log.h"
#include "kube/object.h"

namespace meridian::operators {

Events::Events(kube::Api& api, const base::Clock& clock, base::Random& random)
    : api_(api), clock_(clock), random_(random) {}

void Events::write(const base::Json& about, EventType type, const std::string& reason,
                   const std::string& message) {
  static const kube::ResourceId kEvents{"", "v1", "events"};
  const std::string now = kube::time_text(clock_.now());
  const std::string name =
      fmt::format("{}.{}", kube::name_of(about).substr(0, 200), random_.hex(16));
  const base::Json event = {
      {"apiVersion", "v1"},
      {"kind", "Event"},
      {"metadata", {{"name", name}, {"namespace", kube::namespace_of(about)}}},
      {"involvedObject",
       {{"apiVersion", kube::api_version_of(about)},
        {"kind", kube::kind_of(about)},
        {"namespace", kube::namespace_of(about)},
        {"name", kube::name_of(about)},
        {"uid", kube::uid_of(about)},
        {"resourceVersion", kube::resource_version_of(about)}}},
      {"type", type == EventType::normal ? "Normal" : "Warning"},
      {"reason", reason},
      {"message", message.substr(0, 1000)},
      {"source", {{"component", "meridian"}}},
      {"reportingComponent", "meridian"},
      {"reportingInstance", "meridian"},
      {"firstTimestamp", now},
      {"lastTimestamp", now},
      {"count", 1}};
  try {
    api_.create(kEvents, event);
  } catch (const base::Error& error) {
    // An event is a courtesy: the state is in the status.
    base::log_warn("cannot write an event",
                   {{"about", kube::name_of(about)}, {"why", error.what()}});
  }
}

}  // namespace meridian::operators
