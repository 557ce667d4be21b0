// SPDX-License-Identifier: Apache-2.0
#include "s3/objects.h"

#include <algorithm>
#include <cctype>

#include "base/strings.h"
#include "s3/local_copy.h"

namespace meridian::s3 {
namespace {

base::ParseError bad_uri(std::string_view text, std::string why) {
  return {"'" + std::string(text) + "' is not an S3 URI (" + std::move(why) +
          "); expected s3://bucket/key"};
}

bool is_bucket_name(std::string_view name) {
  return name.size() >= 3 && name.size() <= 63 &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) || c == '.' || c == '-' || c == '_';
         });
}

base::Result<Uri> checked(std::string_view text, std::string bucket, std::string key) {
  if (bucket.empty()) return bad_uri(text, "the bucket is missing");
  if (!is_bucket_name(bucket))
    return bad_uri(text,
                   "bucket '" + bucket + "' has 3 to 63 of a-z, 0-9, '.' and '-' to be valid");
  if (key.size() > 1024) return bad_uri(text, "the key is longer than 1,024 bytes");
  return Uri{std::move(bucket), std::move(key)};
}

base::Result<Uri> parse_http(std::string_view text, std::string_view rest) {
  const auto slash = std::min(rest.find('/'), rest.size());
  const auto host = rest.substr(0, slash);
  auto path = slash < rest.size() ? rest.substr(slash + 1) : std::string_view{};
  path = path.substr(0, path.find('?'));
  auto decoded = base::percent_decode(path);
  if (!decoded) return bad_uri(text, "broken percent escape");
  if (auto bucket = bucket_of_host(host); !bucket.empty()) return checked(text, bucket, *decoded);
  const auto end = std::min(decoded->find('/'), decoded->size());
  return checked(text, decoded->substr(0, end),
                 end < decoded->size() ? decoded->substr(end + 1) : "");
}

}  // namespace

std::string bucket_of_host(std::string_view host) {
  host = host.substr(0, host.rfind(':'));
  for (std::string_view mark : {".s3.", ".s3-"}) {
    if (auto at = host.find(mark); at != std::string_view::npos && at > 0)
      return std::string(host.substr(0, at));
  }
  constexpr std::string_view local = ".localhost";
  if (host.size() > local.size() && host.ends_with(local)) {
    const auto bucket = host.substr(0, host.size() - local.size());
    return bucket == "s3" ? "" : std::string(bucket);
  }
  return "";
}

base::Result<Uri> parse_uri(std::string_view text) {
  for (std::string_view scheme : {"https://", "http://"}) {
    if (text.starts_with(scheme)) return parse_http(text, text.substr(scheme.size()));
  }
  constexpr std::string_view scheme = "s3://";
  if (!text.starts_with(scheme)) return bad_uri(text, "it does not start with s3://");
  const auto rest = text.substr(scheme.size());
  const auto slash = rest.find('/');
  return checked(text, std::string(rest.substr(0, slash)),
                 slash == std::string_view::npos ? "" : std::string(rest.substr(slash + 1)));
}

std::optional<std::vector<Objects::LocalPiece>> Objects::find_pieces(const std::string& bucket,
                                                                     const std::string& key) {
  auto file = find_file(bucket, key);
  const auto info = file ? find(bucket, key) : std::nullopt;
  if (!info) return std::nullopt;
  return std::vector<LocalPiece>{{std::move(*file), info->size}};
}

void Objects::fetch(const std::string& bucket, const std::string& key, int file,
                    const std::optional<Stretch>& stretch) {
  auto body = stretch ? open(bucket, key, stretch->offset, stretch->count) : open(bucket, key);
  auto offset = stretch ? stretch->offset : 0;
  std::string buffer(256u << 10, '\0');
  while (const auto n = body->read(buffer.data(), buffer.size())) {
    write_at(file, offset, {buffer.data(), n});
    offset += n;
  }
}

void Objects::adopt_file(const std::string& bucket, const std::string& key,
                         const std::filesystem::path& file, std::stop_token stop) {
  put_file(bucket, key, file, stop);
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
}

void for_each_object(Objects& objects, const std::string& bucket, const std::string& prefix,
                     const std::function<void(const ObjectInfo&)>& visit) {
  std::string after;
  do {
    auto page = objects.list(bucket, prefix, after);
    for (const auto& object : page.objects) visit(object);
    after = page.next_after;
  } while (!after.empty());
}

}  // namespace meridian::s3
