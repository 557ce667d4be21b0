// Who may do what: accounts, principals, access keys, roles, temporary credentials (design D12).
//
// Keys live in the store of the installation (control.db) and in memory; look-ups by access key id
// read an immutable snapshot, so that every request can afford one. Secrets never appear in logs or
// errors. A temporary key is kept for a day after its end, so that its user reads "expired" instead
// of "unknown".
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "store/store.h"

namespace meridian::identity {

enum class Role { admin, editor, viewer };
std::string_view name(Role role);
std::optional<Role> parse_role(std::string_view text);

// 1 to 64 characters out of letters, digits and +=,.@_-.
bool is_user_name(const std::string& text);

// What temporary credentials may reach. A job's keys reach its account's S3, logs, metrics,
// SageMaker and Batch; nothing else.
enum class Scope { full, job };

struct Principal {
  std::string account = "000000000000";
  std::string name;  // user name, or "role/session" for assumed roles
  std::string
      arn;  // arn:aws:iam::ACCOUNT:user/NAME or arn:aws:sts::ACCOUNT:assumed-role/ROLE/SESSION
  Role role = Role::admin;
  Scope scope = Scope::full;
};

struct AccessKey {
  std::string id;  // AKIA… or ASIA… (temporary)
  std::string secret;
  std::string session_token;  // temporary keys only
  Principal principal;
  base::Timestamp created{};
  std::optional<base::Timestamp> expires;
  std::string owner;  // what ends it: "job/us-west-2/NAME"; empty = nobody
};

// Owner of the temporary keys that were made with a permanent key: they go with it.
std::string owner_of_key(const std::string& id);

struct RoleRecord {
  std::string name, arn, assume_role_policy, description, path = "/", id;
  base::Timestamp created{};
};

class Identity {
 public:
  Identity(store::Store& store, const base::Clock& clock, base::Random& random);
  ~Identity();

  // The first admin key, made when there is none yet.
  AccessKey ensure_first_key();
  AccessKey add_key(const std::string& user,
                    Role role);              // Error(already_exists), (invalid_argument)
  std::vector<AccessKey> list_keys() const;  // permanent keys, without secrets
  void remove_key(const std::string& id);    // Error(not_found); the last admin key stays;
                                             // temporary keys made with it go too

  AccessKey add_temporary_key(const Principal& principal, base::Duration lifetime,
                              std::string owner);
  void remove_keys_of(const std::string& owner);  // a job has ended

  // Nothing for an unknown or removed id. The caller checks expiry and session token.
  std::optional<AccessKey> find_key(const std::string& id) const;

  RoleRecord create_role(RoleRecord role);  // Error(already_exists)
  std::optional<RoleRecord> find_role(const std::string& account, const std::string& name) const;
  std::vector<RoleRecord> list_roles(const std::string& account) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meridian::identity
