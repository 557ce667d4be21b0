// A field selector that parses has terms with paths, and reads its values as they were written.
//
// LINK: base kube
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json.h"
#include "kube/selector.h"

using namespace meridian;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const base::Json object = {{"metadata", {{"name", "a"}}}, {"status", {{"count", 3}}}};
  const auto selector = kube::parse_field_selector({reinterpret_cast<const char*>(data), size});
  if (!selector) {
    if (selector.error().offset > size || selector.error().message.empty()) std::abort();
    return 0;
  }
  std::string text;
  for (const auto& term : selector->terms()) {
    if (term.path.empty()) std::abort();
    text += term.path + (term.op == kube::FieldSelector::Term::Operator::equals ? "=" : "!=");
    for (const char c : term.value) {
      if (c == '\\' || c == ',' || c == '=') text += '\\';
      text += c;
    }
    text += ',';
  }
  if (text.size() > 16 * 1024) return 0;
  const auto again = kube::parse_field_selector(text);
  if (!again || again->terms().size() != selector->terms().size()) std::abort();
  for (std::size_t i = 0; i < again->terms().size(); ++i) {
    if (again->terms()[i].value != selector->terms()[i].value) std::abort();
  }
  if (again->matches(object) != selector->matches(object)) std::abort();
  return 0;
}
