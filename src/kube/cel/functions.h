// The functions of CEL: a table from name and form to what they do.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "kube/cel/value.h"

namespace meridian::kube::cel {

enum class Form { global, method };  // f(x), x.f()

struct Function {
  std::string_view name;
  Form form;
  std::size_t fewest, most;  // arguments, the one that a method is called on included
  // Arguments are no failures. Spends what the arguments' sizes cost; past the budget any answer.
  Value (*run)(std::span<const Value> arguments, Meter& meter);
};

// Null when there is none of this name in this form.
const Function* find_function(std::string_view name, Form form);

std::span<const Function> conversion_functions();
std::span<const Function> string_functions();
std::span<const Function> list_functions();
std::span<const Function> time_functions();

// The operators of arithmetic; `symbol` is one of + - * / %.
Value calculate(char symbol, const Value& a, const Value& b, Meter& meter);
Value negate(const Value& value);

}  // namespace meridian::kube::cel
