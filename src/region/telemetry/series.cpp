// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/series.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"

namespace meridian::region::telemetry {
namespace {

constexpr const char* put_source = "put";
constexpr std::size_t most_declared = 100'000;

void write_at(int fd, std::string_view bytes, std::uint64_t place, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(place));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw base::errno_error(errno, "write " + path);
    bytes.remove_prefix(static_cast<std::size_t>(n));
    place += static_cast<std::uint64_t>(n);
  }
}

base::Json to_json(const SeriesKey& key) {
  base::JsonObject dimensions;
  for (const auto& [name, value] : key.dimensions) dimensions[name] = value;
  return base::JsonObject{
      {"namespace", key.name_space}, {"name", key.name}, {"dimensions", std::move(dimensions)}};
}

SeriesKey parse_series(const store::Document& document) {
  const base::Json body = base::parse_stored_json(document.body, document.key);
  SeriesKey key{base::string_or(body, "namespace"), base::string_or(body, "name"), {}};
  if (const auto* dimensions = base::find(body, "dimensions");
      dimensions && dimensions->is_object())
    for (const auto& [name, value] : dimensions->as_object())
      if (value.is_string()) key.dimensions[name] = base::view(value.as_string());
  return key;
}

bool fits(const SeriesKey& key, const SeriesStore::Filter& filter) {
  return std::all_of(filter.dimensions.begin(), filter.dimensions.end(), [&](const auto& wanted) {
    const auto found = key.dimensions.find(wanted.first);
    return found != key.dimensions.end() && (!wanted.second || *wanted.second == found->second);
  });
}

}  // namespace

std::string SeriesKey::id() const {
  return base::sha256_hex(base::to_text(to_json(*this))).substr(0, 32);
}

SeriesStore::SeriesStore(store::Store& store, std::string prefix, std::filesystem::path directory)
    : store_(store), prefix_(std::move(prefix)), directory_(std::move(directory)) {}

std::filesystem::path SeriesStore::segment(const SeriesKey& key, const std::string& source) const {
  const std::string id = key.id();
  return directory_ / id.substr(0, 2) / id / (source + ".points");
}

void SeriesStore::declare(const SeriesKey& key) {
  const std::string id = key.id();
  if (declared_.lock()->contains(id)) return;
  const std::string name = prefix_ + id;
  if (!store_.find(name)) {
    store::IndexFields index{{"namespace", key.name_space}, {"metric", key.name}};
    // A conflict means that someone else declared it just now: just as good.
    (void)store_.commit({store::put(name, base::to_text(to_json(key)), std::move(index), 0)});
  }
  base::make_directories(segment(key, put_source).parent_path());
  auto declared = declared_.lock();
  if (declared->size() >= most_declared) declared->clear();
  declared->insert(id);
}

std::uint64_t SeriesStore::write(const SeriesKey& key, const std::string& source,
                                 std::uint64_t place, const std::vector<Point>& points) {
  declare(key);
  const auto path = segment(key, source);
  const auto fd = base::open_file(path, O_WRONLY | O_CREAT | O_CLOEXEC);
  const std::string bytes = encode_points(points);
  write_at(fd.get(), bytes, place, path.string());
  return place + bytes.size();
}

std::uint64_t SeriesStore::segment_bytes(const SeriesKey& key, const std::string& source) const {
  struct stat info{};
  if (::stat(segment(key, source).c_str(), &info) != 0) return 0;
  return static_cast<std::uint64_t>(info.st_size);
}

void SeriesStore::append(const SeriesKey& key, const std::vector<Point>& points) {
  if (points.empty()) return;
  auto guard = put_lock_.lock();
  const std::uint64_t bytes = segment_bytes(key, put_source);
  write(key, put_source, bytes - bytes % point_bytes, points);  // over a torn end
}

std::vector<Point> SeriesStore::read(const SeriesKey& key, base::Timestamp from,
                                     base::Timestamp to) const {
  std::vector<Point> out;
  std::error_code absent;
  const auto directory = segment(key, put_source).parent_path();
  for (const auto& entry : std::filesystem::directory_iterator(directory, absent)) {
    if (entry.path().extension() != ".points") continue;
    decode_points(base::read_file_if_exists(entry.path(), 1u << 30), from, to, out);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Point& a, const Point& b) { return a.at < b.at; });
  return out;
}

SeriesStore::Listing SeriesStore::list(const Filter& filter, const std::string& token,
                                       std::size_t limit) const {
  store::ListQuery query;
  query.prefix = prefix_;
  if (!filter.name_space.empty()) query.equals["namespace"] = filter.name_space;
  if (!filter.name.empty()) query.equals["metric"] = filter.name;
  query.limit = limit;
  query.token = token;
  store::Page page = store_.list(query);
  Listing out;
  out.next_token = std::move(page.next_token);
  for (const auto& document : page.documents) {
    SeriesKey key = parse_series(document);
    if (fits(key, filter)) out.series.push_back(std::move(key));
  }
  return out;
}

}  // namespace meridian::region::telemetry
