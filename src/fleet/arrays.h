// TrainingArrays of an installation: the cache of the resources, their controller, and the calls
// that the CLI makes.
//
//   Arrays arrays({…}, settings);
//   arrays.register_steps(steps);  // before the runner gets its first key
//   arrays.start();
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "fleet/array_controller.h"

namespace meridian::fleet {

class Arrays {
 public:
  Arrays(const ArrayParts& parts, ArraySettings settings, control::Runner& runner);
  ~Arrays();
  void register_steps(control::StepTable& steps);
  void start();  // lists and watches; keys follow

  // What an array would do, of its spec: {Columns: [{Name, Type}], Rows: n, Regions: {name: n},
  // Shown: [{Key, Region, Columns, Request}]}. Errors as the controller would report them.
  base::Json preview(const base::Json& spec, std::size_t shown) const;
  // Where and when its rows would run (array_planning.h): describe_plan(). The name leads to the
  // array's past rows.
  base::JsonObject plan(const base::Json& spec, const std::string& ns, const std::string& name,
                        const std::vector<std::string>& why) const;
  // A query on the campaigns and the catalog: {Columns: […], Rows: [[…]]}.
  Table query(const std::string& sql) const;

 private:
  ArrayParts parts_;
  ArraySettings settings_;
  control::Runner& runner_;
  ArrayController controller_;
  std::atomic<kube::Cache*> ready_{nullptr};
  std::unique_ptr<kube::Cache> cache_;  // last: its thread uses the others
};

}  // namespace meridian::fleet
