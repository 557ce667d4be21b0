// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/log_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "base/strings.h"
#include "region/telemetry/log_reader.h"
#include "region/telemetry/put_message.h"

namespace meridian::region::telemetry {
namespace {

constexpr std::size_t longest_file_name = 200;
constexpr std::size_t page_size = 1000;

// A name as one path component: readable, never "." or "..", at most 200 bytes.
std::string component(const std::string& name) {
  std::string out = base::percent_encode(name);
  if (!out.empty() && out[0] == '.') out = "%2E" + out.substr(1);
  if (out.size() <= longest_file_name) return out;
  return out.substr(0, 120) + "~" + base::sha256_hex(name).substr(0, 32);
}

store::Write group_write(const std::string& key, const GroupRecord& group,
                         std::optional<store::Revision> expect) {
  base::JsonObject body{{"name", group.name}, {"created", group.created.ms}};
  if (group.retention_days) body["retention_days"] = *group.retention_days;
  return store::put(key, base::to_text(body), {}, expect);
}

GroupRecord parse_group(const store::Document& document) {
  const base::Json body = base::parse_stored_json(document.body, document.key);
  GroupRecord out{base::string_or(body, "name"), {base::int_or(body, "created", 0)}, {}};
  if (base::find(body, "retention_days"))
    out.retention_days = base::int_or(body, "retention_days", 0);
  return out;
}

}  // namespace

LogStore::LogStore(store::Store& store, const base::Clock& clock, std::string prefix,
                   std::filesystem::path directory)
    : store_(store), clock_(clock), prefix_(std::move(prefix)), directory_(std::move(directory)) {}

// Neither names of groups nor of streams can hold ':', so keys are unambiguous.
std::string LogStore::group_key(const std::string& group) const {
  return prefix_ + "group/" + group;
}
std::string LogStore::stream_key(const std::string& group, const std::string& stream) const {
  return prefix_ + "stream/" + group + ":" + stream;
}

std::filesystem::path LogStore::file_of(const std::string& group, const std::string& stream) const {
  return directory_ / component(group) / (component(stream) + ".log");
}

bool LogStore::create_group(const std::string& group) {
  return store_.commit({group_write(group_key(group), {group, clock_.now(), {}}, 0)}).ok();
}

void LogStore::ensure_group(const std::string& group) {
  if (!store_.find(group_key(group))) (void)create_group(group);
}

std::optional<GroupRecord> LogStore::find_group(const std::string& group) const {
  const auto document = store_.find(group_key(group));
  if (!document) return std::nullopt;
  return parse_group(*document);
}

bool LogStore::set_retention(const std::string& group, std::optional<std::int64_t> days) {
  while (const auto document = store_.find(group_key(group))) {
    GroupRecord record = parse_group(*document);
    record.retention_days = days;
    if (store_.commit({group_write(document->key, record, document->revision)}).ok()) return true;
  }
  return false;
}

bool LogStore::remove_group(const std::string& group) {
  if (!store_.find(group_key(group))) return false;
  for (const auto& stream : all({.prefix = stream_key(group, "")}))
    remove_stream(group, stream.stream);
  (void)store_.commit({store::remove(group_key(group))});
  base::remove_tree(directory_ / component(group));
  return true;
}

std::vector<GroupRecord> LogStore::groups(const std::string& prefix, std::size_t limit,
                                          std::string& token) const {
  store::Page page =
      store_.list({.prefix = group_key(prefix), .limit = limit, .token = std::move(token)});
  std::vector<GroupRecord> out;
  for (const auto& document : page.documents) out.push_back(parse_group(document));
  token = std::move(page.next_token);
  return out;
}

store::Write LogStore::write_of(const StreamRecord& record,
                                std::optional<store::Revision> expect) const {
  store::IndexFields index{{"group", record.group},
                           {"last", store::index_number(record.last ? record.last->ms : 0)}};
  if (!record.job.empty()) index["job"] = record.job;
  if (record.following) index["following"] = "yes";
  return store::put(stream_key(record.group, record.stream), base::to_text(to_json(record)),
                    std::move(index), expect);
}

bool LogStore::create_stream(const StreamRecord& record) {
  base::make_directories(record.file.parent_path());
  return store_.commit({write_of(record, 0)}).ok();
}

std::optional<StreamRecord> LogStore::find_stream(const std::string& group,
                                                  const std::string& stream) const {
  const std::string key = stream_key(group, stream);
  {
    auto newer = newer_.lock();
    if (const auto found = newer->find(key); found != newer->end()) return found->second;
  }
  const auto document = store_.find(key);
  if (!document) return std::nullopt;
  return parse_stream(document->body, document->key);
}

void LogStore::save(const StreamRecord& record) { (void)store_.commit({write_of(record, {})}); }

void LogStore::show_newer(const StreamRecord& record) {
  (*newer_.lock())[stream_key(record.group, record.stream)] = record;
}

void LogStore::hide_newer(const StreamRecord& record) {
  newer_.lock()->erase(stream_key(record.group, record.stream));
}

bool LogStore::remove_stream(const std::string& group, const std::string& stream) {
  auto guard = append_lock_.lock();
  const auto record = find_stream(group, stream);
  if (!record) return false;
  hide_newer(*record);
  (void)store_.commit({store::remove(stream_key(group, stream))});
  std::error_code ignored;  // a file left behind is only unused space
  std::filesystem::remove(record->file, ignored);
  return true;
}

StreamRecord LogStore::newest(const store::Document& document) const {
  auto newer = newer_.lock();
  const auto found = newer->find(document.key);
  return found != newer->end() ? found->second : parse_stream(document.body, document.key);
}

std::vector<StreamRecord> LogStore::streams(const StreamQuery& query,
                                            std::string& next_token) const {
  store::ListQuery list;
  list.limit = query.limit;
  list.token = query.token;
  list.prefix = stream_key(query.group, query.prefix);
  if (query.order == StreamQuery::Order::by_last_event) list.order_by = "last";
  if (query.direction == StreamQuery::Direction::descending)
    list.order = store::ListQuery::Order::descending;
  store::Page page = store_.list(list);
  next_token = std::move(page.next_token);
  std::vector<StreamRecord> out;
  for (const auto& document : page.documents) out.push_back(newest(document));
  return out;
}

std::vector<StreamRecord> LogStore::all(store::ListQuery query) const {
  query.limit = page_size;
  std::vector<StreamRecord> out;
  do {
    store::Page page = store_.list(query);
    for (const auto& document : page.documents) out.push_back(newest(document));
    query.token = std::move(page.next_token);
  } while (!query.token.empty());
  return out;
}

std::vector<StreamRecord> LogStore::streams_of_job(const std::string& job) const {
  return all({.prefix = prefix_ + "stream/", .equals = {{"job", job}}});
}

std::vector<StreamRecord> LogStore::followed() const {
  return all({.prefix = prefix_ + "stream/", .equals = {{"following", "yes"}}});
}

void LogStore::append(const std::string& group, const std::string& stream,
                      const std::vector<PutEvent>& events) {
  auto guard = append_lock_.lock();
  auto record = find_stream(group, stream);
  if (!record) {
    record = StreamRecord{.group = group, .stream = stream};
    record->file = file_of(group, stream);
    record->created = clock_.now();
    base::make_directories(record->file.parent_path());
  }
  if (record->kind != StreamRecord::Kind::put)
    throw base::Error(base::Code::failed_precondition,
                      "stream '" + stream + "' holds a program's output and takes no other events");
  record->last_ingestion = clock_.now();
  std::string text;
  for (const PutEvent& event : events) {
    const std::string message = encode_put_message({record->last_ingestion, event.message});
    text += std::to_string(event.at.ms) + " - " + message + "\n";
    record->count(event.at, event.message.size());
  }
  const std::uint64_t end = end_of_events(*record);
  const auto fd = base::open_file(record->file, O_WRONLY | O_CREAT | O_CLOEXEC, 0640);
  if (::ftruncate(fd.get(), static_cast<off_t>(end)) != 0 || ::lseek(fd.get(), 0, SEEK_END) < 0)
    throw base::errno_error(errno, "truncate " + record->file.string());
  base::write_all(fd.get(), text);
  save(*record);
}

}  // namespace meridian::region::telemetry
