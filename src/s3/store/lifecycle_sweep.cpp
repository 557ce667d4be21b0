// Applies life cycle rules to a bucket.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "s3/error.h"
#include "s3/store/lifecycle.h"

namespace meridian::s3 {
namespace {

constexpr std::int64_t day_ms = 24 * 60 * 60 * 1000;
constexpr std::size_t removed_at_once = 10'000;  // bounds what is remembered of a large bucket
constexpr std::size_t page_size = 1000;

base::Timestamp after_days(base::Timestamp from, int days) {
  const auto until = from.ms + days * day_ms;
  return {(until + day_ms - 1) / day_ms * day_ms};  // the next midnight UTC
}

bool covers(const LifecycleRule& rule, const ObjectRecord& record) {
  if (!rule.enabled || !record.key.starts_with(rule.prefix)) return false;
  if (rule.larger_than && record.size <= *rule.larger_than) return false;
  if (rule.smaller_than && record.size >= *rule.smaller_than) return false;
  return std::all_of(rule.tags.begin(), rule.tags.end(), [&](const auto& tag) {
    const auto found = record.tags.find(tag.first);
    return found != record.tags.end() && found->second == tag.second;
  });
}

class Sweep {
 public:
  Sweep(ObjectStore& store, const std::string& bucket, const std::vector<LifecycleRule>& rules,
        base::Timestamp now, const std::stop_token& stop)
      : store_(store), bucket_(bucket), rules_(rules), now_(now), stop_(stop) {}

  LifecycleCounts run() {
    sweep_objects();
    sweep_uploads();
    return counts_;
  }

 private:
  struct Due {
    VersionSeen seen;
    std::size_t LifecycleCounts::* counter;
  };

  void sweep_objects();
  void sweep_uploads();
  void visit(const ObjectRecord& record, bool latest);
  void end_key();
  bool current_is_due(const ObjectRecord& record) const;
  bool old_version_is_due(const ObjectRecord& record) const;
  void note(const ObjectRecord& record, Expiry how, std::size_t LifecycleCounts::* counter);
  void remove_due();
  bool upload_is_due(const UploadRecord& upload) const;

  ObjectStore& store_;
  const std::string& bucket_;
  const std::vector<LifecycleRule>& rules_;
  const base::Timestamp now_;
  const std::stop_token& stop_;
  LifecycleCounts counts_;
  std::vector<Due> due_;

  // The key whose versions are being visited, newest first.
  std::string key_;
  std::size_t versions_ = 0;
  base::Timestamp replaced_{};          // when the version visited next was replaced
  std::optional<ObjectRecord> marker_;  // the latest version, if it is a delete marker
};

void Sweep::sweep_objects() {
  ListRequest request{.bucket = bucket_, .limit = page_size};
  for (bool more = true; more && !stop_.stop_requested();) {
    const auto page = store_.list_versions(request);
    for (std::size_t i = 0; i < page.objects.size(); ++i) {
      if (page.objects[i].key != key_) {
        end_key();
        // Only between keys: the listing goes on behind a version that is still there.
        if (due_.size() >= removed_at_once) remove_due();
      }
      visit(page.objects[i], page.latest[i]);
    }
    more = page.truncated;
    request.after = page.next;
    request.after_version = page.next_version;
  }
  if (stop_.stop_requested()) return;
  end_key();
  remove_due();
}

void Sweep::visit(const ObjectRecord& record, bool latest) {
  key_ = record.key;
  ++versions_;
  if (latest && record.delete_marker)
    marker_ = record;
  else if (latest && current_is_due(record))
    note(record, Expiry::current, &LifecycleCounts::expired);
  else if (!latest && old_version_is_due(record))
    note(record, Expiry::version, &LifecycleCounts::old_versions);
  replaced_ = record.modified;
}

void Sweep::end_key() {
  if (marker_ && versions_ == 1 &&
      std::any_of(rules_.begin(), rules_.end(), [&](const LifecycleRule& rule) {
        return rule.expire_lone_markers && covers(rule, *marker_);
      }))
    note(*marker_, Expiry::version, &LifecycleCounts::markers);
  marker_.reset();
  versions_ = 0;
  key_.clear();  // no key is empty
}

bool Sweep::current_is_due(const ObjectRecord& record) const {
  return std::any_of(rules_.begin(), rules_.end(), [&](const LifecycleRule& rule) {
    if (!covers(rule, record)) return false;
    if (rule.expire_date && *rule.expire_date <= now_) return true;
    return rule.expire_days && after_days(record.modified, *rule.expire_days) <= now_;
  });
}

bool Sweep::old_version_is_due(const ObjectRecord& record) const {
  const auto newer_old_ones = versions_ - 2;  // without this one and the latest
  return std::any_of(rules_.begin(), rules_.end(), [&](const LifecycleRule& rule) {
    return rule.noncurrent_days && covers(rule, record) &&
           newer_old_ones >= rule.newer_noncurrent &&
           after_days(replaced_, *rule.noncurrent_days) <= now_;
  });
}

void Sweep::note(const ObjectRecord& record, Expiry how, std::size_t LifecycleCounts::* counter) {
  due_.push_back({{record.key, record.version_id, record.order, how}, counter});
}

void Sweep::remove_due() {
  for (const auto& due : due_) {
    if (stop_.stop_requested()) return;
    if (store_.expire(bucket_, due.seen)) ++(counts_.*due.counter);
  }
  due_.clear();
}

bool Sweep::upload_is_due(const UploadRecord& upload) const {
  return std::any_of(rules_.begin(), rules_.end(), [&](const LifecycleRule& rule) {
    return rule.enabled && rule.abort_days && upload.key.starts_with(rule.prefix) &&
           after_days(upload.started, *rule.abort_days) <= now_;
  });
}

void Sweep::sweep_uploads() {
  std::string after_key, after_id;
  for (bool more = true; more && !stop_.stop_requested();) {
    const auto page = store_.list_uploads(bucket_, "", "", after_key, after_id, page_size);
    for (const auto& upload : page.uploads) {
      if (!upload_is_due(upload)) continue;
      try {
        store_.abort_upload(bucket_, upload.key, upload.id);
        ++counts_.uploads;
      } catch (const S3Error& error) {  // completed or aborted a moment ago
        if (error.s3_code() != "NoSuchUpload") throw;
      }
    }
    more = page.truncated;
    after_key = page.next_key;
    after_id = page.next_id;
  }
}

}  // namespace

LifecycleCounts apply_lifecycle(ObjectStore& store, const std::string& bucket,
                                const std::vector<LifecycleRule>& rules, base::Timestamp now,
                                std::stop_token stop) {
  return Sweep(store, bucket, rules, now, stop).run();
}

}  // namespace meridian::s3
