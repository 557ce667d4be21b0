// `meridian s3`: cp, ls, mb, rm.
//
// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "base/file.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/format.h"
#include "cli/s3_copy.h"
#include "cli/upload.h"
#include "s3/in_parallel.h"
#include "s3/local_copy.h"
#include "s3/staging.h"

namespace meridian::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t requests_at_once = 8;

struct S3Options {
  std::string from, to, target;
  bool recursive = false, quiet = false, human = false;
};

class Copier {
 public:
  Copier(Context& context, const S3Options& options) : context_(context), options_(options) {}

  int run() {
    const bool from_s3 = is_s3(options_.from), to_s3 = is_s3(options_.to);
    if (!from_s3 && !to_s3)
      throw base::Error(base::Code::invalid_argument,
                        "one of the two places must be s3://bucket/key");
    if (!from_s3) return upload();
    if (!to_s3) return download();
    return copy_inside();
  }

 private:
  void told(const std::string& line) {
    if (!options_.quiet) context_.console.say(line);
  }

  int upload() {
    const auto target = s3_uri(options_.to);
    if (fs::is_directory(options_.from)) {
      need_recursive(options_.from);
      auto prefix = target.key;
      if (!prefix.empty() && !prefix.ends_with('/')) prefix += '/';
      const auto files = find_files(options_.from);
      upload_files(context_.session().objects(), files, target.bucket, prefix,
                   [&](const UploadProgress& now) { context_.console.draw({now.text()}); });
      context_.console.clear();
      told("uploaded " + count_of(files.size(), "file") + " to s3://" + target.bucket + "/" +
           prefix);
      return 0;
    }
    const auto files = find_files(options_.from);
    const auto key = target_key(target.key, files.front().key);
    context_.session().objects().put_file(target.bucket, key, files.front().path);
    told("uploaded " + options_.from + " to s3://" + target.bucket + "/" + key);
    return 0;
  }

  int download() {
    const auto source = s3_uri(options_.from);
    if (!options_.recursive) {
      const auto name = source.key.substr(source.key.rfind('/') + 1);
      fs::path target(options_.to);
      if (fs::is_directory(target) || options_.to.ends_with('/')) target /= name;
      const auto info = context_.session().objects().find(source.bucket, source.key);
      if (!info) throw base::Error(base::Code::not_found, "no object " + options_.from);
      if (target.has_parent_path()) base::make_directories(target.parent_path());
      s3::copy_object(context_.session().objects(), source.bucket, *info, target);
      told("downloaded " + options_.from + " to " + target.string());
      return 0;
    }
    std::vector<s3::ChannelObject> objects;
    s3::for_each_object(context_.session().objects(), source.bucket, source.key,
                        [&](const s3::ObjectInfo& object) {
                          auto below = relative_target(object.key, source.key);
                          if (below) objects.push_back({source.bucket, object, std::move(*below)});
                        });
    need_any(static_cast<std::int64_t>(objects.size()));
    s3::stage(context_.session().objects(), objects, options_.to, s3::Decompress::none,
              [&](const s3::Progress& now) {
                context_.console.draw({UploadProgress{now.files_done, now.files_total,
                                                      now.bytes_done, now.bytes_total}
                                           .text()});
              },
              {});
    context_.console.clear();
    told("downloaded " + count_of(static_cast<std::int64_t>(objects.size()), "object") + " to " +
         options_.to);
    return 0;
  }

  int copy_inside() {
    const auto source = s3_uri(options_.from), target = s3_uri(options_.to);
    auto& buckets = context_.session().buckets();
    if (!options_.recursive) {
      const auto name = source.key.substr(source.key.rfind('/') + 1);
      buckets.copy(source, {target.bucket, target_key(target.key, name)});
      told("copied " + options_.from + " to " + options_.to);
      return 0;
    }
    std::int64_t count = 0;
    s3::for_each_object(
        context_.session().objects(), source.bucket, source.key, [&](const s3::ObjectInfo& object) {
          const auto below = relative_target(object.key, source.key);
          if (!below) return;
          const auto folder =
              target.key.empty() || target.key.ends_with('/') ? target.key : target.key + "/";
          buckets.copy({source.bucket, object.key}, {target.bucket, folder + *below});
          ++count;
        });
    need_any(count);
    told("copied " + count_of(count, "object") + " to " + options_.to);
    return 0;
  }

  void need_recursive(const std::string& place) const {
    if (!options_.recursive)
      throw base::Error(base::Code::invalid_argument, place + " is a directory: add --recursive");
  }
  void need_any(std::int64_t count) const {
    if (count == 0) throw base::Error(base::Code::not_found, "no objects below " + options_.from);
  }

  Context& context_;
  const S3Options& options_;
};

int list_buckets(Context& context) {
  for (const auto& bucket : context.session().buckets().list())
    context.console.out() << base::format_iso8601_seconds(bucket.created) << "  s3://"
                          << bucket.name << '\n';
  return 0;
}

void print_object(Context& context, const S3Options& options, const s3::ObjectInfo& object,
                  std::string_view name) {
  auto size = options.human ? base::format_bytes(object.size) : std::to_string(object.size);
  if (size.size() < 12) size.insert(0, 12 - size.size(), ' ');
  context.console.out() << base::format_iso8601_seconds(object.last_modified) << ' ' << size << "  "
                        << name << '\n';
}

int list(Context& context, const S3Options& options) {
  if (options.target.empty()) return list_buckets(context);
  const auto place = s3_uri(is_s3(options.target) ? options.target : "s3://" + options.target);
  if (options.recursive) {
    s3::for_each_object(
        context.session().objects(), place.bucket, place.key,
        [&](const s3::ObjectInfo& object) { print_object(context, options, object, object.key); });
    return 0;
  }
  const auto folder = place.key.rfind('/') == std::string::npos ? 0 : place.key.rfind('/') + 1;
  std::string token;
  do {
    const auto page = context.session().buckets().list_folder(place.bucket, place.key, token);
    for (const auto& name : page.folders)
      context.console.out() << std::string(29, ' ') << "PRE  " << name.substr(folder) << '\n';
    for (const auto& object : page.objects)
      print_object(context, options, object, std::string_view(object.key).substr(folder));
    token = page.next_token;
  } while (!token.empty());
  return 0;
}

int make_bucket(Context& context, const S3Options& options) {
  const auto place = s3_uri(is_s3(options.target) ? options.target : "s3://" + options.target);
  context.session().buckets().create(place.bucket);
  context.console.say("made bucket s3://" + place.bucket);
  return 0;
}

int remove(Context& context, const S3Options& options) {
  const auto place = s3_uri(options.target);
  if (!options.recursive) {
    if (place.key.empty())
      throw base::Error(base::Code::invalid_argument,
                        options.target +
                            " is a whole bucket: add --recursive to empty and "
                            "remove it");
    context.session().objects().remove(place.bucket, place.key);
    context.console.say("removed " + options.target);
    return 0;
  }
  std::vector<std::string> keys;
  s3::for_each_object(context.session().objects(), place.bucket, place.key,
                      [&](const s3::ObjectInfo& object) { keys.push_back(object.key); });
  auto& objects = context.session().objects();
  s3::in_parallel(keys.size(), requests_at_once,
                  [&](std::size_t i) { objects.remove(place.bucket, keys[i]); });
  context.console.say("removed " + count_of(static_cast<std::int64_t>(keys.size()), "object"));
  if (place.key.empty()) {
    context.session().buckets().remove(place.bucket);
    context.console.say("removed bucket s3://" + place.bucket);
  }
  return 0;
}

}  // namespace

void add_s3(Command root, Context& context) {
  auto s3 = root.add("s3", "Buckets and objects", "");
  auto c = std::make_shared<S3Options>();
  auto cp = s3.add("cp", "Copy files to, from and inside S3",
                   "meridian s3 cp --recursive ./data s3://bucket/data/");
  cp.argument("from", c->from, "PATH or s3://bucket/key");
  cp.argument("to", c->to, "PATH or s3://bucket/key");
  cp.flag("-r,--recursive", c->recursive, "everything below");
  cp.flag("-q,--quiet", c->quiet, "say nothing");
  cp.run([c, &context] { return Copier(context, *c).run(); });

  auto l = std::make_shared<S3Options>();
  auto ls =
      s3.add("ls", "List buckets, or what lies below a prefix", "meridian s3 ls s3://bucket/data/");
  ls.argument("place", l->target, "s3://bucket/prefix", Need::optional);
  ls.flag("-r,--recursive", l->recursive, "folders too");
  ls.flag("-H,--human", l->human, "sizes as 1.5 MiB");
  ls.run([l, &context] { return list(context, *l); });

  auto m = std::make_shared<S3Options>();
  auto mb = s3.add("mb", "Make a bucket", "meridian s3 mb s3://bucket");
  mb.argument("bucket", m->target, "s3://bucket");
  mb.run([m, &context] { return make_bucket(context, *m); });

  auto r = std::make_shared<S3Options>();
  auto rm = s3.add("rm", "Remove objects", "meridian s3 rm --recursive s3://bucket/old/");
  rm.argument("place", r->target, "s3://bucket/key");
  rm.flag("-r,--recursive", r->recursive, "everything below; a whole bucket when there is no key");
  rm.run([r, &context] { return remove(context, *r); });
}

}  // namespace meridian::cli
