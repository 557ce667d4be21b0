// SPDX-License-Identifier: Apache-2.0
#include "kube/cel/cel.h"

#include <fmt/format.h>

#include "kube/cel/evaluator.h"
#include "kube/cel/parser.h"
#include "kube/cel/reads.h"

namespace meridian::kube {
namespace {

constexpr const char* too_long = "evaluation takes too many steps";

cel::Value run(const cel::Node& root, const CelProgram::Variables& variables, CelBudget* budget) {
  CelBudget own;
  std::uint64_t& steps = budget == nullptr ? own.steps : budget->steps;
  cel::Meter meter(steps);
  cel::Value out = cel::Evaluator(variables, meter).run(root);
  // Without steps left any answer may be a wrong one.
  return meter.empty() ? cel::fail(too_long) : out;
}

}  // namespace

base::Result<base::Json, std::string> CelProgram::evaluate(const Variables& variables,
                                                           CelBudget* budget) const {
  const cel::Value value = run(*root_, variables, budget);
  if (const auto* failure = value.as<cel::Failure>()) return failure->message;
  auto json = cel::to_json(value);
  if (!json) return std::string("the value is no JSON: a map with keys that are no strings");
  return std::move(*json);
}

base::Result<bool, std::string> CelProgram::test(const Variables& variables,
                                                 CelBudget* budget) const {
  const cel::Value value = run(*root_, variables, budget);
  if (const auto* failure = value.as<cel::Failure>()) return failure->message;
  if (const auto* flag = value.as<bool>()) return *flag;
  return fmt::format("the value is no bool but of type {}", cel::type_of(value));
}

std::vector<std::vector<std::string>> CelProgram::reads_of(std::string_view variable) const {
  auto chains = cel::reads_of(*root_, variable);
  for (auto& chain : chains) {
    for (std::string& name : chain) name = cel::unescaped(name);
  }
  return chains;
}

base::Result<CelProgram> compile_cel(std::string_view text) {
  auto parsed = cel::parse(text);
  if (!parsed) return parsed.error();
  return CelProgram(std::move(parsed->root), std::move(parsed->variables));
}

}  // namespace meridian::kube
