// A label selector that parses can be written again and read back the same, and matches an object
// in the end.
//
// LINK: base kube
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/strings.h"
#include "kube/selector.h"

using namespace meridian;
using Operator = kube::Requirement::Operator;

namespace {

std::string written(const kube::Requirement& one) {
  const std::string values =
      "(" + base::join(one.values, ",") + (one.values == std::vector<std::string>{""} ? ",)" : ")");
  switch (one.op) {
    case Operator::in: return one.key + " in " + values;
    case Operator::not_in: return one.key + " notin " + values;
    case Operator::exists: return one.key;
    case Operator::does_not_exist: return "!" + one.key;
    case Operator::greater: return one.key + ">" + one.values.at(0);
    case Operator::less: return one.key + "<" + one.values.at(0);
  }
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const base::Json object = {
      {"metadata", {{"labels", {{"app", "web"}, {"tier", "b"}, {"n", "5"}, {"e", ""}}}}}};
  const auto selector = kube::parse_label_selector({reinterpret_cast<const char*>(data), size});
  if (!selector) {
    if (selector.error().offset > size || selector.error().message.empty()) std::abort();
    return 0;
  }
  std::string text;
  for (const auto& one : selector->requirements()) text += (text.empty() ? "" : ",") + written(one);
  const auto again = kube::parse_label_selector(text);
  if (text.size() > 16 * 1024) return 0;
  if (!again || again->requirements().size() != selector->requirements().size()) std::abort();
  if (again->matches(object) != selector->matches(object)) std::abort();
  return 0;
}
