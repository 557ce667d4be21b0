// Bearer tokens of the Kubernetes face: who may do what in which namespace.
//
//   auto made = tokens.add("ann", {{Role::editor, "team-a"}});
//   made.secret;                       // shown once; the store has only its digest
//   tokens.find(made.secret);          // {user ann, …}; nothing when unknown, removed or expired
//
// A secret is 256 random bits, so its SHA-256 is all that is kept, and comparing takes the same
// time whatever is wrong. Secrets never appear in logs or errors.
//
// Thread-safe; look-ups read an immutable snapshot.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "identity/identity.h"
#include "store/store.h"

namespace meridian::identity {

struct Grant {
  Role role = Role::viewer;
  std::string ns;  // "" = every namespace, and what is in none
};

struct Token {
  std::string id;
  std::string user;
  std::vector<Grant> grants;
  base::Timestamp created{};
  std::optional<base::Timestamp> expires;
  std::string purpose;  // what Meridian itself made it for; "" = a person's

  // The strongest role that holds in the namespace ("" = outside of namespaces).
  std::optional<Role> role_in(std::string_view ns) const;
};

struct NewToken {
  Token token;
  std::string secret;  // "mk-ID-…": what the client sends
};

class Tokens {
 public:
  Tokens(store::Store& store, const base::Clock& clock, base::Random& random);
  ~Tokens();

  // Error(invalid_argument): an unfit user name, or no grants.
  NewToken add(const std::string& user, std::vector<Grant> grants,
               std::optional<base::Duration> lifetime = std::nullopt, std::string purpose = "");
  std::optional<Token> find(std::string_view secret) const;
  std::vector<Token> list() const;
  void remove(const std::string& id);  // Error(not_found)

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meridian::identity
