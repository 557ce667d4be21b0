// SPDX-License-Identifier: Apache-2.0
#include "identity/identity.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "base/json.h"
#include "base/strings.h"

namespace meridian::identity {
namespace {

using base::Code;
using base::Error;
using base::Json;
using base::JsonObject;

constexpr std::string_view key_prefix = "identity/keys/";
constexpr std::string_view role_prefix = "identity/roles/";
constexpr std::string_view first_account = "000000000000";

std::string key_of(const std::string& id) { return std::string(key_prefix) + id; }
std::string role_key(const std::string& account, const std::string& name) {
  return std::string(role_prefix) + account + "/" + name;
}

Json to_json(const AccessKey& key) {
  const Principal& p = key.principal;
  JsonObject out{{"id", key.id},
                 {"secret", key.secret},
                 {"session_token", key.session_token},
                 {"account", p.account},
                 {"name", p.name},
                 {"arn", p.arn},
                 {"role", name(p.role)},
                 {"scope", p.scope == Scope::job ? "job" : "full"},
                 {"created", key.created.ms},
                 {"owner", key.owner}};
  if (key.expires) out["expires"] = key.expires->ms;
  return out;
}

AccessKey key_from(const Json& json) {
  AccessKey key;
  key.id = base::string_or(json, "id");
  key.secret = base::string_or(json, "secret");
  key.session_token = base::string_or(json, "session_token");
  key.principal.account = base::string_or(json, "account");
  key.principal.name = base::string_or(json, "name");
  key.principal.arn = base::string_or(json, "arn");
  // An unknown role (a newer release's) reads as the weakest.
  key.principal.role = parse_role(base::string_or(json, "role")).value_or(Role::viewer);
  key.principal.scope = base::string_or(json, "scope") == "full" ? Scope::full : Scope::job;
  key.created = {base::int_or(json, "created", 0)};
  key.owner = base::string_or(json, "owner");
  if (base::find(json, "expires")) key.expires = base::Timestamp{base::int_or(json, "expires", 0)};
  return key;
}

Json to_json(const RoleRecord& role) {
  return JsonObject{{"name", role.name},
                    {"arn", role.arn},
                    {"policy", role.assume_role_policy},
                    {"description", role.description},
                    {"path", role.path},
                    {"id", role.id},
                    {"created", role.created.ms}};
}

RoleRecord role_from(const Json& json) {
  return {.name = base::string_or(json, "name"),
          .arn = base::string_or(json, "arn"),
          .assume_role_policy = base::string_or(json, "policy"),
          .description = base::string_or(json, "description"),
          .path = base::string_or(json, "path", "/"),
          .id = base::string_or(json, "id"),
          .created = {base::int_or(json, "created", 0)}};
}

// Every document below `prefix`, as the store has it now.
template <class F>
void for_each(store::Store& store, std::string_view prefix, F&& visit) {
  store::ListQuery query{.prefix = std::string(prefix), .limit = 1000};
  do {
    const store::Page page = store.list(query);
    for (const auto& document : page.documents) {
      visit(base::parse_stored_json(document.body, document.key));
    }
    query.token = page.next_token;
  } while (!query.token.empty());
}

void erase_owned(std::map<std::string, AccessKey>& keys, const std::string& owner,
                 std::vector<store::Write>& writes) {
  std::erase_if(keys, [&](const auto& entry) {
    if (entry.second.owner != owner) return false;
    writes.push_back(store::remove(key_of(entry.first)));
    return true;
  });
}

}  // namespace

bool is_user_name(const std::string& user) {
  return !user.empty() && user.size() <= 64 &&
         std::all_of(user.begin(), user.end(), [](unsigned char c) {
           return std::isalnum(c) || std::string_view("+=,.@_-").find(c) != std::string_view::npos;
         });
}

std::string owner_of_key(const std::string& id) { return "key/" + id; }

std::string_view name(Role role) {
  switch (role) {
    case Role::admin: return "admin";
    case Role::editor: return "editor";
    case Role::viewer: return "viewer";
  }
  return "viewer";
}

std::optional<Role> parse_role(std::string_view text) {
  for (const Role role : {Role::admin, Role::editor, Role::viewer}) {
    if (name(role) == text) return role;
  }
  return std::nullopt;
}

struct Identity::State {
  using Keys = std::map<std::string, AccessKey>;

  store::Store& store;
  const base::Clock& clock;
  base::Random& random;
  std::mutex writing;               // one change at a time, store first, then the snapshot
  mutable std::shared_mutex guard;  // of `keys`, held for a pointer's copy only
  std::shared_ptr<const Keys> keys = std::make_shared<const Keys>();

  std::shared_ptr<const Keys> snapshot() const {
    const std::shared_lock lock(guard);
    return keys;
  }
  void publish(Keys changed) {
    auto next = std::make_shared<const Keys>(std::move(changed));
    const std::unique_lock lock(guard);
    keys.swap(next);
  }

  // 40 characters of base64, as AWS's secrets look.
  std::string make_secret() { return base::base64(random.bytes(30)); }

  // Stores the key and forgets temporary ones that have ended; `writing` is held.
  void add(const AccessKey& key) {
    std::vector<store::Write> writes{
        store::put(key_of(key.id), base::to_text(to_json(key)), {}, store::Revision{0})};
    Keys next = *snapshot();
    const auto now = clock.now();
    // A day later, so that a client with an old token is told "expired" and not "unknown".
    std::erase_if(next, [&](const auto& entry) {
      const auto& old = entry.second;
      if (!old.expires || *old.expires + std::chrono::hours(24) > now) return false;
      writes.push_back(store::remove(key_of(old.id)));
      return true;
    });
    commit(std::move(writes));
    next.emplace(key.id, key);
    publish(std::move(next));
  }

  void commit(std::vector<store::Write> writes) {
    const auto result = store.commit(std::move(writes));
    if (!result) {
      throw Error(Code::conflict, "'" + result.error().key + "' was changed by another process");
    }
  }

  AccessKey add_user_key(const std::string& user, Role role) {
    if (!is_user_name(user)) {
      throw Error(Code::invalid_argument, "user name '" + user +
                                              "' must have 1 to 64 characters out of letters, "
                                              "digits and +=,.@_-");
    }
    for (const auto& [id, key] : *snapshot()) {
      if (!key.expires && key.principal.name == user) {
        throw Error(Code::already_exists, "user '" + user + "' has a key already: " + id);
      }
    }
    AccessKey key;
    key.id = "AKIA" + random.alphanumeric_upper(16);
    key.secret = make_secret();
    key.created = clock.now();
    key.principal = {.account = std::string(first_account),
                     .name = user,
                     .arn = "arn:aws:iam::" + std::string(first_account) + ":user/" + user,
                     .role = role};
    add(key);
    return key;
  }
};

Identity::Identity(store::Store& store, const base::Clock& clock, base::Random& random)
    : state_(new State{.store = store, .clock = clock, .random = random}) {
  State::Keys keys;
  for_each(store, key_prefix, [&](const Json& json) {
    AccessKey key = key_from(json);
    keys.emplace(key.id, std::move(key));
  });
  state_->publish(std::move(keys));
}

Identity::~Identity() = default;

AccessKey Identity::ensure_first_key() {
  const std::lock_guard lock(state_->writing);
  std::optional<AccessKey> oldest;
  for (const auto& [id, key] : *state_->snapshot()) {
    if (key.expires || key.principal.role != Role::admin) continue;
    if (!oldest || key.created < oldest->created) oldest = key;
  }
  return oldest ? *oldest : state_->add_user_key("admin", Role::admin);
}

AccessKey Identity::add_key(const std::string& user, Role role) {
  const std::lock_guard lock(state_->writing);
  return state_->add_user_key(user, role);
}

std::vector<AccessKey> Identity::list_keys() const {
  std::vector<AccessKey> out;
  for (const auto& [id, key] : *state_->snapshot()) {
    if (key.expires) continue;
    out.push_back(key);
    out.back().secret.clear();
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.created < b.created; });
  return out;
}

void Identity::remove_key(const std::string& id) {
  const std::lock_guard lock(state_->writing);
  auto keys = *state_->snapshot();
  const auto found = keys.find(id);
  if (found == keys.end()) throw Error(Code::not_found, "no access key '" + id + "'");
  const auto is_admin = [](const AccessKey& key) {
    return !key.expires && key.principal.role == Role::admin;
  };
  const auto admins = std::count_if(keys.begin(), keys.end(),
                                    [&](const auto& entry) { return is_admin(entry.second); });
  if (is_admin(found->second) && admins == 1) {
    throw Error(Code::failed_precondition,
                "'" + id + "' is the last admin key; add another before removing it");
  }
  keys.erase(found);
  std::vector<store::Write> writes{store::remove(key_of(id))};
  erase_owned(keys, owner_of_key(id), writes);
  state_->commit(std::move(writes));
  state_->publish(std::move(keys));
}

AccessKey Identity::add_temporary_key(const Principal& principal, base::Duration lifetime,
                                      std::string owner) {
  const std::lock_guard lock(state_->writing);
  AccessKey key;
  key.id = "ASIA" + state_->random.alphanumeric_upper(16);
  key.secret = state_->make_secret();
  key.session_token = base::base64(state_->random.bytes(96));
  key.principal = principal;
  key.created = state_->clock.now();
  key.expires = key.created + lifetime;
  key.owner = std::move(owner);
  state_->add(key);
  return key;
}

void Identity::remove_keys_of(const std::string& owner) {
  if (owner.empty()) return;  // that is everybody's, not nobody's
  const std::lock_guard lock(state_->writing);
  auto keys = *state_->snapshot();
  std::vector<store::Write> writes;
  erase_owned(keys, owner, writes);
  if (writes.empty()) return;
  state_->commit(std::move(writes));
  state_->publish(std::move(keys));
}

std::optional<AccessKey> Identity::find_key(const std::string& id) const {
  const auto keys = state_->snapshot();
  const auto found = keys->find(id);
  if (found == keys->end()) return std::nullopt;
  return found->second;
}

RoleRecord Identity::create_role(RoleRecord role) {
  const std::lock_guard lock(state_->writing);
  std::string account(first_account);
  if (const auto parts = base::split(role.arn, ':'); parts.size() > 4) account = parts[4];
  if (role.id.empty()) role.id = "AROA" + state_->random.alphanumeric_upper(17);
  role.created = state_->clock.now();
  if (role.arn.empty()) {
    role.arn = "arn:aws:iam::" + account + ":role" + role.path + role.name;
  }
  const auto result = state_->store.commit({store::put(
      role_key(account, role.name), base::to_text(to_json(role)), {}, store::Revision{0})});
  if (!result)
    throw Error(Code::already_exists, "Role with name " + role.name + " already exists.");
  return role;
}

std::optional<RoleRecord> Identity::find_role(const std::string& account,
                                              const std::string& name) const {
  const auto document = state_->store.find(role_key(account, name));
  if (!document) return std::nullopt;
  return role_from(base::parse_stored_json(document->body, document->key));
}

std::vector<RoleRecord> Identity::list_roles(const std::string& account) const {
  std::vector<RoleRecord> out;
  for_each(state_->store, std::string(role_prefix) + account + "/",
           [&](const Json& json) { out.push_back(role_from(json)); });
  return out;
}

}  // namespace meridian::identity
