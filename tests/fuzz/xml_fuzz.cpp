// What parse_xml accepts can be written with XmlWriter and is read back the same.
//
// LINK: base
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/xml.h"

using namespace meridian::base;

namespace {

void write(XmlWriter& out, const XmlElement& element) {
  if (element.children.empty()) {
    out.element(element.name, element.text);
    return;
  }
  out.open(element.name);
  for (const XmlElement& child : element.children) write(out, child);
  out.close();
}

bool same(const XmlElement& a, const XmlElement& b) {
  if (a.name != b.name || a.children.size() != b.children.size()) return false;
  if (a.children.empty() && a.text != b.text) return false;
  for (std::size_t i = 0; i < a.children.size(); ++i) {
    if (!same(a.children[i], b.children[i])) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto root = parse_xml({reinterpret_cast<const char*>(data), size});
  if (!root) {
    if (root.error().offset > size || root.error().message.empty()) std::abort();
    return 0;
  }
  XmlWriter writer;
  write(writer, *root);
  const auto again = parse_xml(writer.finish(), 64u << 20);
  if (!again || !same(*root, *again)) std::abort();
  return 0;
}
