// Who may look at every object before it is stored, and refuse it.
//
// Asked after defaults are filled in and the schema has been checked, before the object is
// committed. Asked also when the schema refuses, so that hints stand beside its causes: nothing
// about the shape may be taken for granted. May be asked again for the same write when the commit
// lost a race. Pure rules: no side effects, no waiting. Called from many threads.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "kube/resource.h"
#include "kube/status.h"

namespace meridian::kubeserver::objects {

enum class Operation { create, update, remove };

struct Review {
  const kube::Resource& resource;
  Operation operation;
  std::string subresource;   // "" or "status"
  const base::Json* object;  // as it would be stored; null on removal
  const base::Json* old;     // as it is stored; null on creation
  std::string user;          // who asks
};

struct Verdict {
  std::vector<kube::Cause> causes;    // any: the write is refused, 422 with all of them
  std::vector<std::string> warnings;  // shown by kubectl as "Warning: …"
};

class Admission {
 public:
  virtual ~Admission() = default;
  virtual Verdict review(const Review& review) = 0;
};

// Lets everything pass.
class AdmitAll final : public Admission {
 public:
  Verdict review(const Review&) override { return {}; }
};

}  // namespace meridian::kubeserver::objects
