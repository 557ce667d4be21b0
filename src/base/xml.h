// Small XML: a reader of whole documents and an escaping writer.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace meridian::base {

// An element; text is the concatenated character data directly inside it. Namespaces prefixes are
// cut.
struct XmlElement {
  std::string name;
  std::string text;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<XmlElement> children;

  const XmlElement* find(std::string_view child) const;  // the first of that name
  std::string text_of(std::string_view child) const;     // "" when absent
};

// Bounded: `bytes` of input, depth 32. DOCTYPE and entities beyond the five of XML are refused.
Result<XmlElement> parse_xml(std::string_view text, std::size_t bytes = 4u << 20);

// Writes `<?xml version="1.0" encoding="UTF-8"?>` and then what is asked. Control characters that
// XML 1.0 cannot hold are written as &#xN; as S3 does.
class XmlWriter {
 public:
  XmlWriter();
  XmlWriter& open(std::string_view name, std::string_view xmlns = "");
  XmlWriter& close();  // the innermost open element
  XmlWriter& element(std::string_view name, std::string_view text);
  std::string finish();  // closes what is open

 private:
  std::string out_;
  std::vector<std::string> open_;
};

std::string xml_escape(std::string_view text);

}  // namespace meridian::base
