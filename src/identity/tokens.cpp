// SPDX-License-Identifier: Apache-2.0
#include "identity/tokens.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "base/digest.h"
#include "base/json.h"
#include "base/strings.h"

namespace meridian::identity {
namespace {

using base::Code;
using base::Error;
using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr std::string_view prefix = "identity/tokens/";
constexpr std::string_view mark = "mk-";
constexpr std::size_t id_digits = 12;

struct Record {
  Token token;
  std::string digest;  // of the secret, hexadecimal
};

std::string key_of(const std::string& id) { return std::string(prefix) + id; }

Json to_json(const Record& record) {
  JsonArray grants;
  for (const Grant& grant : record.token.grants) {
    grants.push_back(JsonObject{{"role", name(grant.role)}, {"namespace", grant.ns}});
  }
  JsonObject out{{"id", record.token.id},
                 {"user", record.token.user},
                 {"grants", std::move(grants)},
                 {"created", record.token.created.ms},
                 {"sha256", record.digest}};
  if (!record.token.purpose.empty()) out["purpose"] = record.token.purpose;
  if (record.token.expires) out["expires"] = record.token.expires->ms;
  return out;
}

Record record_from(const Json& json) {
  Record record;
  record.token.id = base::string_or(json, "id");
  record.token.user = base::string_or(json, "user");
  record.token.created = {base::int_or(json, "created", 0)};
  record.token.purpose = base::string_or(json, "purpose");
  record.digest = base::string_or(json, "sha256");
  if (base::find(json, "expires")) {
    record.token.expires = base::Timestamp{base::int_or(json, "expires", 0)};
  }
  if (const Json* grants = base::find(json, "grants"); grants != nullptr && grants->is_array()) {
    for (const Json& grant : grants->get_array()) {
      // An unknown role (a newer release's) reads as the weakest.
      const auto role = parse_role(base::string_or(grant, "role")).value_or(Role::viewer);
      record.token.grants.push_back({role, base::string_or(grant, "namespace")});
    }
  }
  return record;
}

// The id within "mk-ID-…".
std::optional<std::string> id_of(std::string_view secret) {
  if (!secret.starts_with(mark)) return std::nullopt;
  secret.remove_prefix(mark.size());
  if (secret.size() <= id_digits || secret[id_digits] != '-') return std::nullopt;
  return std::string(secret.substr(0, id_digits));
}

bool is_stronger(Role a, Role b) { return static_cast<int>(a) < static_cast<int>(b); }

}  // namespace

std::optional<Role> Token::role_in(std::string_view ns) const {
  std::optional<Role> best;
  for (const Grant& grant : grants) {
    const bool holds = grant.ns.empty() || grant.ns == ns;
    if (holds && (!best || is_stronger(grant.role, *best))) best = grant.role;
  }
  return best;
}

struct Tokens::State {
  using Records = std::map<std::string, Record, std::less<>>;

  store::Store& store;
  const base::Clock& clock;
  base::Random& random;
  std::mutex writing;               // one change at a time, store first, then the snapshot
  mutable std::shared_mutex guard;  // of `records`, held for a pointer's copy only
  std::shared_ptr<const Records> records = std::make_shared<const Records>();

  std::shared_ptr<const Records> snapshot() const {
    const std::shared_lock lock(guard);
    return records;
  }
  void publish(Records changed) {
    auto next = std::make_shared<const Records>(std::move(changed));
    const std::unique_lock lock(guard);
    records.swap(next);
  }
  void commit(store::Write write) {
    const auto result = store.commit({std::move(write)});
    if (!result) {
      throw Error(Code::conflict, "'" + result.error().key + "' was changed by another process");
    }
  }
};

Tokens::Tokens(store::Store& store, const base::Clock& clock, base::Random& random)
    : state_(new State{.store = store, .clock = clock, .random = random}) {
  State::Records records;
  store::ListQuery query{.prefix = std::string(prefix), .limit = 1000};
  do {
    const store::Page page = store.list(query);
    for (const store::Document& document : page.documents) {
      Record record = record_from(base::parse_stored_json(document.body, document.key));
      records.emplace(record.token.id, std::move(record));
    }
    query.token = page.next_token;
  } while (!query.token.empty());
  state_->publish(std::move(records));
}

Tokens::~Tokens() = default;

NewToken Tokens::add(const std::string& user, std::vector<Grant> grants,
                     std::optional<base::Duration> lifetime, std::string purpose) {
  if (!is_user_name(user)) {
    throw Error(Code::invalid_argument, "user name '" + user +
                                            "' must have 1 to 64 characters out of letters, "
                                            "digits and +=,.@_-");
  }
  if (grants.empty()) {
    throw Error(Code::invalid_argument, "a token without a role could do nothing: give it one");
  }
  const std::lock_guard lock(state_->writing);
  NewToken made;
  made.token = {.id = state_->random.hex(id_digits),
                .user = user,
                .grants = std::move(grants),
                .created = state_->clock.now(),
                .purpose = std::move(purpose)};
  if (lifetime) made.token.expires = made.token.created + *lifetime;
  made.secret = std::string(mark) + made.token.id + "-" + base::hex(state_->random.bytes(32));
  const Record record{made.token, base::sha256_hex(made.secret)};
  state_->commit(
      store::put(key_of(made.token.id), base::to_text(to_json(record)), {}, store::Revision{0}));
  State::Records next = *state_->snapshot();
  next.emplace(made.token.id, record);
  state_->publish(std::move(next));
  return made;
}

std::optional<Token> Tokens::find(std::string_view secret) const {
  const auto id = id_of(secret);
  if (!id) return std::nullopt;
  const auto records = state_->snapshot();
  const auto found = records->find(*id);
  const std::string digest = base::sha256_hex(secret);
  // An unknown id takes as long as a wrong secret.
  const std::string& expected = found == records->end() ? digest : found->second.digest;
  const bool same = base::equal_in_constant_time(digest, expected);
  if (!same || found == records->end()) return std::nullopt;
  const Token& token = found->second.token;
  if (token.expires && *token.expires <= state_->clock.now()) return std::nullopt;
  return token;
}

std::vector<Token> Tokens::list() const {
  std::vector<Token> out;
  for (const auto& [id, record] : *state_->snapshot()) out.push_back(record.token);
  std::ranges::stable_sort(out, {}, [](const Token& t) { return t.created.ms; });
  return out;
}

void Tokens::remove(const std::string& id) {
  const std::lock_guard lock(state_->writing);
  State::Records next = *state_->snapshot();
  if (next.erase(id) == 0) throw Error(Code::not_found, "no token '" + id + "'");
  state_->commit(store::remove(key_of(id)));
  state_->publish(std::move(next));
}

}  // namespace meridian::identity
