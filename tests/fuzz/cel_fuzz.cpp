// An expression compiles or says where it does not; compiled, it has one value, within its budget.
//
// LINK: base kube/cel
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "kube/cel/cel.h"

using namespace meridian;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const base::Json self =
      base::parse_json(R"({"run":10,"wait":20,"name":"résumé","ratio":0.5,
    "list":[1,2,3],"names":["a","b"],"map":{"a":1},"nothing":null,"yes":true,"a-b":1,
    "start":"2026-01-31T12:00:00Z","big":18446744073709551615})")
          .value();
  const auto program = kube::compile_cel({reinterpret_cast<const char*>(data), size});
  if (!program) {
    if (program.error().offset > size || program.error().message.empty()) std::abort();
    return 0;
  }
  const kube::CelProgram::Variables variables{{"self", &self}};
  kube::CelBudget budget{.steps = 5'000};
  kube::CelBudget same = budget;
  const auto value = program->evaluate(variables, &budget);
  const auto again = program->evaluate(variables, &same);
  if (value.ok() != again.ok() || budget.steps != same.steps) std::abort();
  if (!value && value.error().empty()) std::abort();
  if (value && base::to_text(*value) != base::to_text(*again)) std::abort();
  return 0;
}
