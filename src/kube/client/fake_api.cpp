// SPDX-License-Identifier: Apache-2.0
#include "kube/client/fake_api.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "base/sync.h"
#include "kube/client/fake_store.h"
#include "kube/selector.h"

namespace meridian::kube {
namespace {

using base::Json;

// Which objects a list or watch is about.
struct Selection {
  std::string ns;
  LabelSelector labels;
  FieldSelector fields;

  bool has(const Json& object) const {
    return object.is_object() && (ns.empty() || namespace_of(object) == ns) &&
           labels.matches(object) && fields.matches(object);
  }
};

Selection selection_of(const std::string& ns, const std::string& labels,
                       const std::string& fields) {
  auto label_selector = parse_label_selector(labels);
  auto field_selector = parse_field_selector(fields);
  if (!label_selector) throw bad_request(label_selector.error().text());
  if (!field_selector) throw bad_request(field_selector.error().text());
  return {ns, std::move(*label_selector), std::move(*field_selector)};
}

// The event as this selection sees it; nothing when it does not.
std::optional<WatchEvent> seen(const Selection& selection, const FakeStore::Event& event) {
  using Type = WatchEvent::Type;
  const bool before = selection.has(event.before);
  const bool after = selection.has(event.after);
  if (after) return WatchEvent{before ? Type::modified : Type::added, event.after};
  if (!before) return std::nullopt;
  Json last = event.before;
  metadata_of(last)["resourceVersion"] = std::to_string(event.revision);
  return WatchEvent{Type::deleted, std::move(last)};
}

}  // namespace

struct FakeApi::State {
  struct Failure {
    StatusError error;
    int count;
  };
  struct Inner {
    FakeStore store;
    std::map<std::string, Failure> failures;
    std::vector<std::string> calls;
    int breaks = 0;  // how often watches were broken
  };

  State(base::Clock& clock, base::Random& random) : inner({FakeStore(clock, random), {}, {}}) {}

  // Notes the call, and throws when it was to fail.
  static void begin(Inner& inner, const std::string& verb, const ResourceId& resource,
                    const ObjectKey& key) {
    if (verb != "watch") {
      inner.calls.push_back(fmt::format("{} {} {}", verb, resource.plural, key.text()));
    }
    const auto failure = inner.failures.find(verb);
    if (failure == inner.failures.end()) return;
    const StatusError error = failure->second.error;
    if (--failure->second.count == 0) inner.failures.erase(failure);
    throw error;
  }

  template <class Work>
  auto run(const std::string& verb, const ResourceId& resource, const ObjectKey& key, Work work) {
    auto locked = inner.lock();
    begin(*locked, verb, resource, key);
    const auto notify = [this](const base::Sync<Inner>* sync) { sync->notify_all(); };
    const std::unique_ptr<const base::Sync<Inner>, decltype(notify)> at_end(&inner, notify);
    return work(locked->store);
  }

  base::Sync<Inner> inner;
};

FakeApi::FakeApi(base::Clock& clock, base::Random& random)
    : state_(std::make_unique<State>(clock, random)) {}
FakeApi::~FakeApi() = default;

void FakeApi::serve(Resource resource) { state_->inner.lock()->store.serve(std::move(resource)); }

void FakeApi::fail_next(const std::string& verb, const StatusError& error, int count) {
  state_->inner.lock()->failures.insert_or_assign(verb, State::Failure{error, count});
}

void FakeApi::break_watches() {
  ++state_->inner.lock()->breaks;
  state_->inner.notify_all();
}

void FakeApi::forget_history() { state_->inner.lock()->store.forget_history(); }
std::vector<std::string> FakeApi::calls() const { return state_->inner.lock()->calls; }
void FakeApi::forget_calls() { state_->inner.lock()->calls.clear(); }

Json FakeApi::get(const ResourceId& resource, const ObjectKey& key) {
  return state_->run("get", resource, key,
                     [&](FakeStore& store) { return Json(store.get(resource, key)); });
}

List FakeApi::list(const ResourceId& resource, const std::string& ns, const ListOptions& options) {
  const Selection selection = selection_of(ns, options.label_selector, options.field_selector);
  return state_->run("list", resource, {ns, ""}, [&](FakeStore& store) {
    List out{.resource_version = std::to_string(store.revision())};
    for (const auto& [key, object] : store.objects(resource)) {
      if (selection.has(object)) out.items.push_back(object);
    }
    return out;
  });
}

void FakeApi::watch(const ResourceId& resource, const std::string& ns, const WatchOptions& options,
                    const std::function<bool(WatchEvent)>& sink, std::stop_token stop) {
  const Selection selection = selection_of(ns, options.label_selector, options.field_selector);
  const auto end = std::chrono::steady_clock::now() + options.timeout;
  std::vector<WatchEvent> events;
  auto at = base::to_int(options.resource_version).value_or(0);
  int breaks = 0;
  {
    auto locked = state_->inner.lock();
    State::begin(*locked, "watch", resource, {ns, ""});
    breaks = locked->breaks;
    if (at <= 0) {  // from any revision: first what there is
      at = locked->store.revision();
      for (const auto& [key, object] : locked->store.objects(resource)) {
        if (selection.has(object)) events.push_back({WatchEvent::Type::added, object});
      }
    }
  }
  for (;;) {
    for (WatchEvent& event : events) {
      if (!sink(std::move(event))) return;
    }
    events.clear();
    auto locked = state_->inner.lock();
    const bool news = locked.wait_until(stop, end, [&](const State::Inner& inner) {
      return inner.breaks != breaks || inner.store.revision() > at;
    });
    if (!news || stop.stop_requested() || locked->breaks != breaks) return;
    if (at < locked->store.oldest()) {
      throw expired(fmt::format("too old resource version: {} ({})", at, locked->store.oldest()));
    }
    const auto& history = locked->store.history();
    auto next =
        std::upper_bound(history.begin(), history.end(), at,
                         [](std::int64_t a, const auto& event) { return a < event.revision; });
    for (; next != history.end(); ++next) {
      if (next->resource != resource) continue;
      if (auto one = seen(selection, *next)) events.push_back(std::move(*one));
    }
    at = locked->store.revision();
  }
}

Json FakeApi::create(const ResourceId& resource, const Json& object) {
  return state_->run("create", resource, key_of(object), [&](FakeStore& store) {
    return store.create(resource, object, {"meridian", api_version_of(object), ""});
  });
}

Json FakeApi::update(const ResourceId& resource, const Json& object) {
  return state_->run("update", resource, key_of(object), [&](FakeStore& store) {
    return store.update(resource, object, Part::all, {"meridian", api_version_of(object), ""});
  });
}

Json FakeApi::update_status(const ResourceId& resource, const Json& object) {
  return state_->run("update_status", resource, key_of(object), [&](FakeStore& store) {
    return store.update(resource, object, Part::status,
                        {"meridian", api_version_of(object), "status"});
  });
}

Json FakeApi::patch(const ResourceId& resource, const ObjectKey& key, PatchType type,
                    const Json& patch, const PatchOptions& options,
                    const std::string& subresource) {
  const Manager manager{options.field_manager,
                        GroupVersion{resource.group, resource.version}.text(), subresource};
  const Force force = options.force == PatchOptions::Force::yes ? Force::yes : Force::no;
  return state_->run("patch", resource, key, [&](FakeStore& store) {
    return store.patch(resource, key, type, patch,
                       subresource == "status" ? Part::status : Part::all, manager, force);
  });
}

void FakeApi::remove(const ResourceId& resource, const ObjectKey& key, Propagation propagation,
                     const std::string& uid) {
  state_->run("remove", resource, key, [&](FakeStore& store) {
    store.remove(resource, key, propagation, uid);
    return 0;
  });
}

}  // namespace meridian::kube
