// `meridian keys`: access keys of this installation.
//
// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/format.h"
#include "cli/output.h"

namespace meridian::cli {
namespace {

struct KeyOptions {
  std::string user, role = "editor", id, format = "table";
};

int add_key(Context& context, const KeyOptions& options) {
  const auto answer = context.session().sagemaker().call_meridian(
      "keys-add", {{"User", options.user}, {"Role", options.role}});
  const auto format = parse_format(options.format);
  if (format == Format::json || format == Format::yaml) {
    print_value(context.console.out(), answer, format);
    return 0;
  }
  context.console.out() << "[" << options.user
                        << "]\naws_access_key_id = " << base::string_or(answer, "AccessKeyId")
                        << "\naws_secret_access_key = "
                        << base::string_or(answer, "SecretAccessKey") << '\n';
  context.console.say("The secret is shown only now: keep it in ~/.aws/credentials.");
  return 0;
}

int list_keys(Context& context, const KeyOptions& options) {
  const auto answer = context.session().sagemaker().call_meridian("keys-list", {});
  const auto* keys = base::find(answer, "Keys");
  const base::JsonArray all =
      keys != nullptr && keys->is_array() ? keys->as_array() : base::JsonArray{};
  const auto format = parse_format(options.format);
  if (format == Format::json || format == Format::yaml) {
    print_value(context.console.out(), base::Json(all), format);
    return 0;
  }
  Table table({"ACCESS KEY", "USER", "ROLE", "CREATED"});
  for (const auto& key : all) {
    const auto created = find_time(key, "Created");
    table.add({base::string_or(key, "AccessKeyId"), base::string_or(key, "User"),
               base::string_or(key, "Role"),
               created ? base::format_iso8601_seconds(*created) : "-"});
  }
  table.print(context.console.out());
  return 0;
}

int remove_key(Context& context, const KeyOptions& options) {
  context.session().sagemaker().call_meridian("keys-remove", {{"AccessKeyId", options.id}});
  context.console.say(options.id + ": removed; requests signed with it are refused from now on");
  return 0;
}

}  // namespace

void add_keys(Command root, Context& context) {
  auto keys = root.add("keys", "Access keys of this installation", "");
  auto o = std::make_shared<KeyOptions>();
  auto add = keys.add("add", "Make a key for a user", "meridian keys add alice --role viewer");
  add.argument("user", o->user, "name of the user; made when it is new");
  add.option("--role", o->role, "admin, editor or viewer");
  add.option("-o,--format", o->format, "table, json or yaml");
  add.run([o, &context] { return add_key(context, *o); });
  auto list = keys.add("list", "List the keys, without their secrets", "meridian keys list");
  list.option("-o,--format", o->format, "table, json or yaml");
  list.run([o, &context] { return list_keys(context, *o); });
  auto remove = keys.add("remove", "Remove a key at once", "meridian keys remove AKIA…");
  remove.argument("id", o->id, "the access key id");
  remove.run([o, &context] { return remove_key(context, *o); });
}

}  // namespace meridian::cli
