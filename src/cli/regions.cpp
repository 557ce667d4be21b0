// `meridian region`: regions of other installations, and AWS's with keys of their own, for the
// controllers of this installation and for `meridian operator run`.
//
// They stand in DATA/regions.yaml, which the controllers read again when it changes.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "aws/client.h"
#include "base/file.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/yaml.h"
#include "cli/output.h"
#include "cli/regions.h"

namespace meridian::cli {
namespace {

namespace fs = std::filesystem;
using base::Json;
using base::JsonObject;

struct RegionOptions {
  std::string name, endpoint, keys, ca, file, format = "table";
};

[[noreturn]] void refuse(const std::string& text) {
  throw base::Error(base::Code::invalid_argument, text);
}

fs::path file_of(const Context& context, const RegionOptions& options) {
  return options.file.empty() ? context.data() / "regions.yaml" : fs::path(options.file);
}

JsonObject read_regions(const fs::path& file) {
  const std::string text = base::read_file_if_exists(file);
  if (base::trim(text).empty()) return {};
  const auto documents = base::parse_yaml(text);
  if (!documents) refuse(file.string() + ": " + documents.error().text());
  const Json* regions =
      documents->empty() ? nullptr : base::find(documents->front().value, "regions");
  if (regions == nullptr || !regions->is_object())
    refuse(file.string() + ": expected regions by name");
  return regions->get_object();
}

void write_regions(const fs::path& file, JsonObject regions) {
  if (file.has_parent_path()) fs::create_directories(file.parent_path());
  base::write_file(file, to_yaml(JsonObject{{"regions", std::move(regions)}}),
                   base::Durability::synced, 0644);
}

std::vector<std::string> served_here(const Context& context) {
  const auto run = find_run_file(context.data());
  return run && is_running(*run) ? run->regions : std::vector<std::string>{};
}

void check(const Context& context, const RegionOptions& options) {
  const bool plain = !options.name.empty() && std::ranges::all_of(options.name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
  if (!plain) refuse(fmt::format("'{}' is no region's name; like us-west-2", options.name));
  if (std::ranges::count(served_here(context), options.name) > 0)
    refuse(fmt::format("{} is served by this installation; its jobs run here", options.name));
  if (options.endpoint.empty() && options.keys.empty()) {
    refuse(
        "give --endpoint URL, --keys FILE or both; an AWS region with the environment's keys needs "
        "no entry");
  }
  if (!options.endpoint.empty() && !options.endpoint.starts_with("http://") &&
      !options.endpoint.starts_with("https://"))
    refuse(fmt::format("--endpoint {}: expected http://… or https://…", options.endpoint));
}

// Whether the region answers these keys: told, not required, as it may be down today.
void try_region(Context& context, const RegionOptions& options, const aws::Credentials& keys) {
  if (options.endpoint.empty() || keys.access_key_id.empty()) return;
  net::HttpClient http(options.ca);
  aws::ServiceClient client(http, context.clock,
                            {.endpoint = options.endpoint,
                             .region = options.name,
                             .service = "sagemaker",
                             .target_prefix = "SageMaker",
                             .credentials = keys,
                             .attempts = 1});
  try {
    client.call("ListTrainingJobs", {{"MaxResults", 1}});
    context.console.say(options.name + ": answers");
  } catch (const base::Error& error) {
    context.console.say(
        fmt::format("{}: kept, though it does not answer: {}", options.name, error.message()));
  }
}

int add(Context& context, const RegionOptions& options) {
  check(context, options);
  JsonObject entry;
  aws::Credentials keys;
  if (!options.endpoint.empty()) entry["endpoint"] = options.endpoint;
  if (!options.keys.empty()) {
    const auto parsed = parse_credentials(base::read_file(options.keys));
    if (!parsed) refuse(fmt::format("{}: {}", options.keys, parsed.error().text()));
    keys = *parsed;
    entry["credentials"] = fs::absolute(options.keys).string();
  }
  if (!options.ca.empty()) entry["ca"] = fs::absolute(options.ca).string();
  const fs::path file = file_of(context, options);
  JsonObject regions = read_regions(file);
  regions[options.name] = std::move(entry);
  write_regions(file, std::move(regions));
  try_region(context, options, keys);
  return 0;
}

int list(Context& context, const RegionOptions& options) {
  const JsonObject regions = read_regions(file_of(context, options));
  const auto format = parse_format(options.format);
  if (format == Format::json || format == Format::yaml) {
    print_value(context.console.out(), regions, format);
    return 0;
  }
  Table table({"REGION", "ENDPOINT", "KEYS"});
  for (const std::string& name : served_here(context)) table.add({name, "this installation", "-"});
  for (const auto& [name, entry] : regions) {
    table.add({std::string(name), base::string_or(entry, "endpoint", "AWS"),
               base::string_or(entry, "credentials", "the environment's")});
  }
  table.print(context.console.out());
  return 0;
}

int remove(Context& context, const RegionOptions& options) {
  const fs::path file = file_of(context, options);
  JsonObject regions = read_regions(file);
  if (!regions.contains(options.name)) {
    std::vector<std::string> names;
    for (const auto& [name, _] : regions) names.emplace_back(name);
    throw base::Error(base::Code::not_found,
                      fmt::format("{} has no region '{}'{}", file.string(), options.name,
                                  names.empty() ? "" : "; there are: " + base::join(names, ", ")));
  }
  regions.erase(options.name);
  write_regions(file, std::move(regions));
  context.console.say(options.name + ": removed; its jobs go on there");
  return 0;
}

}  // namespace

RegionAccess find_region(Context& context, const std::string& region, const std::string& endpoint) {
  RegionAccess access;
  const std::vector<std::string> here = served_here(context);
  const JsonObject elsewhere = read_regions(context.data() / "regions.yaml");
  if (std::ranges::count(here, region) > 0) {
    const Installation own = find_installation(context.data(), region, context.environment);
    access = {own.endpoint, own.ca_bundle, own.credentials};
  } else if (elsewhere.contains(region)) {
    const Json& entry = elsewhere.at(region);
    const std::string keys = base::string_or(entry, "credentials");
    access.endpoint = base::string_or(entry, "endpoint");
    access.ca_file = base::string_or(entry, "ca");
    if (!keys.empty()) {
      const auto parsed = parse_credentials(base::read_file(keys));
      if (!parsed) refuse(fmt::format("{}: {}", keys, parsed.error().text()));
      access.credentials = *parsed;
    }
  }
  if (!endpoint.empty()) access.endpoint = endpoint;
  return access;
}

void add_regions(Command root, Context& context) {
  auto group = root.add("region", "Regions elsewhere that resources may name", "");
  auto o = std::make_shared<RegionOptions>();
  const auto common = [o](Command command) {
    command.option("--regions-file", o->file, "the file that holds them; DATA/regions.yaml");
  };
  auto adding = group.add("add", "Say where a region is, and with which keys",
                          "meridian region add eu-central-1 --endpoint https://gpu.example:8470 "
                          "--keys gpu.keys");
  adding.argument("name", o->name, "as spec.region names it");
  adding.option("--endpoint", o->endpoint, "its URL; AWS's own without it");
  adding.option("--keys", o->keys, "file with its keys in AWS's ini format");
  adding.option("--ca", o->ca, "PEM file of those who may vouch for an https endpoint");
  common(adding);
  adding.run([o, &context] { return add(context, *o); });
  auto listing = group.add("list", "List the regions that there are", "meridian region list");
  listing.option("-o,--format", o->format, "table, json or yaml");
  common(listing);
  listing.run([o, &context] { return list(context, *o); });
  auto removing = group.add("remove", "Forget a region", "meridian region remove eu-central-1");
  removing.argument("name", o->name, "as the list shows it");
  common(removing);
  removing.run([o, &context] { return remove(context, *o); });
}

}  // namespace meridian::cli
