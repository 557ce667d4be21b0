// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/point.h"

#include <bit>
#include <cstring>

#include "base/digest.h"

namespace meridian::region::telemetry {
namespace {

static_assert(std::endian::native == std::endian::little, "segments are little-endian");

template <class T>
void add(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

template <class T>
T take(std::string_view& in) {
  T value;
  std::memcpy(&value, in.data(), sizeof value);
  in.remove_prefix(sizeof value);
  return value;
}

constexpr std::size_t covered = point_bytes - sizeof(std::uint32_t);

}  // namespace

std::string encode_points(const std::vector<Point>& points) {
  std::string out;
  out.reserve(points.size() * point_bytes);
  for (const Point& point : points) {
    const std::size_t start = out.size();
    add(out, point.at.ms);
    for (const double value : {point.sum, point.count, point.minimum, point.maximum})
      add(out, value);
    add(out, point.unit);
    add(out, std::uint16_t{0});
    add(out, base::crc32(0, std::string_view(out).substr(start, covered)));
  }
  return out;
}

void decode_points(std::string_view segment, base::Timestamp from, base::Timestamp to,
                   std::vector<Point>& out) {
  for (; segment.size() >= point_bytes; segment.remove_prefix(point_bytes)) {
    std::string_view record = segment.substr(0, point_bytes);
    const std::uint32_t expected = base::crc32(0, record.substr(0, covered));
    Point point;
    point.at.ms = take<std::int64_t>(record);
    if (point.at < from || point.at >= to) continue;
    point.sum = take<double>(record);
    point.count = take<double>(record);
    point.minimum = take<double>(record);
    point.maximum = take<double>(record);
    point.unit = take<std::uint16_t>(record);
    take<std::uint16_t>(record);
    if (take<std::uint32_t>(record) == expected) out.push_back(point);
  }
}

}  // namespace meridian::region::telemetry
