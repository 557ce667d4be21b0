// SPDX-License-Identifier: Apache-2.0
#include "base/xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <pugixml.hpp>

#include "base/strings.h"

namespace meridian::base {
namespace {

constexpr int kMostDepth = 32;
constexpr std::size_t kMostElements = 200'000;  // ten thousand parts of an upload need 80,000

ParseError located(std::string_view text, std::size_t offset, std::string message) {
  const std::string_view before = text.substr(0, offset);
  const auto line_start = before.rfind('\n');
  return {std::move(message), offset, 1 + static_cast<int>(std::ranges::count(before, '\n')),
          static_cast<int>(line_start == before.npos ? offset : offset - line_start - 1) + 1};
}

void append_utf8(std::string& out, std::uint32_t c) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((c >> shift) & 0x3f)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | (c >> 6));
    tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | (c >> 12));
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xf0 | (c >> 18));
    tail(12), tail(6), tail(0);
  }
}

// The character that the reference `&name;` stands for.
std::optional<std::uint32_t> referenced_character(std::string_view name) {
  if (name == "amp") return '&';
  if (name == "lt") return '<';
  if (name == "gt") return '>';
  if (name == "quot") return '"';
  if (name == "apos") return '\'';
  if (name.size() < 2 || name.front() != '#') return std::nullopt;
  name.remove_prefix(1);
  const int base = name.front() == 'x' ? 16 : 10;
  if (base == 16) name.remove_prefix(1);
  std::uint32_t value = 0;
  for (const char c : name) {
    const auto digit = std::string_view("0123456789abcdef").find(to_lower({&c, 1}));
    if (digit >= static_cast<std::size_t>(base)) return std::nullopt;
    value = value * base + static_cast<std::uint32_t>(digit);
    if (value > 0x10ffff) return std::nullopt;
  }
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  return name.empty() || value == 0 || surrogate ? std::nullopt : std::optional(value);
}

// pugixml's tree → ours. Throws ParseError, caught in parse_xml: the way out of the recursion.
class Converter {
 public:
  explicit Converter(std::string_view text) : text_(text) {}

  XmlElement element(const pugi::xml_node& node, int depth) {
    const auto offset = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, node.offset_debug()));
    if (depth > kMostDepth) throw located(text_, offset, "elements are nested too deeply (32)");
    if (++elements_ > kMostElements) throw located(text_, offset, "too many elements (200000)");
    XmlElement out;
    out.name = without_prefix(node.name(), offset);
    for (const pugi::xml_attribute& a : node.attributes()) {
      out.attributes.emplace_back(without_prefix(a.name(), offset), decoded(a.value(), offset));
    }
    for (const pugi::xml_node& child : node.children()) {
      switch (child.type()) {
        case pugi::node_element: out.children.push_back(element(child, depth + 1)); break;
        case pugi::node_pcdata: out.text += decoded(child.value(), offset); break;
        case pugi::node_cdata: out.text += child.value(); break;
        default: break;
      }
    }
    // Between child elements, blanks are layout.
    if (!out.children.empty() && trim(out.text).empty()) out.text.clear();
    return out;
  }

 private:
  // "prefix:name" or "name", with one colon at most (Namespaces in XML 1.0, §4).
  std::string_view without_prefix(std::string_view name, std::size_t offset) const {
    const auto colon = name.find(':');
    const std::string_view local = colon == name.npos ? name : name.substr(colon + 1);
    if (colon == 0 || local.empty() || local.find(':') != local.npos) {
      throw located(text_, offset, fmt::format("'{}' is not a name", utf8_prefix(name, 40)));
    }
    return local;
  }

  // Entities are decoded here because pugixml leaves unknown ones as they stand.
  std::string decoded(std::string_view raw, std::size_t offset) const {
    std::string out;
    for (auto at = raw.find('&'); at != raw.npos; at = raw.find('&')) {
      out += raw.substr(0, at);
      const auto end = raw.find(';', at);
      const std::string_view name =
          end == raw.npos ? std::string_view() : raw.substr(at + 1, end - at - 1);
      const auto character = referenced_character(name);
      if (!character) {
        throw located(text_, offset,
                      fmt::format("'&{}' in this element is neither &amp; &lt; &gt; &quot; &apos; "
                                  "nor a character number",
                                  utf8_prefix(name, 20)));
      }
      append_utf8(out, *character);
      raw.remove_prefix(end + 1);
    }
    return out.append(raw);
  }

  std::string_view text_;
  std::size_t elements_ = 0;
};

Result<XmlElement> convert(const pugi::xml_document& document, std::string_view text) {
  std::optional<XmlElement> root;
  try {
    for (const pugi::xml_node& node : document.children()) {
      const auto offset =
          static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, node.offset_debug()));
      if (node.type() == pugi::node_doctype) {
        return located(text, offset, "a DOCTYPE is not allowed");
      }
      if (node.type() == pugi::node_pcdata && trim(node.value()).empty()) continue;
      if (node.type() != pugi::node_element || root) {
        return located(text, offset, "something stands beside the root element");
      }
      root = Converter(text).element(node, 1);
    }
  } catch (ParseError& e) {
    return std::move(e);
  }
  if (!root) return ParseError{"there is no element"};
  return std::move(*root);
}

}  // namespace

const XmlElement* XmlElement::find(std::string_view child) const {
  const auto it = std::ranges::find(children, child, &XmlElement::name);
  return it == children.end() ? nullptr : &*it;
}

std::string XmlElement::text_of(std::string_view child) const {
  const XmlElement* found = find(child);
  return found == nullptr ? "" : found->text;
}

Result<XmlElement> parse_xml(std::string_view text, std::size_t bytes) {
  if (text.size() > bytes) {
    return ParseError{fmt::format("XML of {} bytes; at most {} are allowed", text.size(), bytes)};
  }
  if (!is_valid_utf8(text)) return ParseError{"the XML is not UTF-8"};
  if (const auto nul = text.find('\0'); nul != text.npos) {
    return located(text, nul, "a zero byte is not allowed in XML");
  }
  constexpr unsigned options = pugi::parse_cdata | pugi::parse_eol | pugi::parse_wconv_attribute |
                               pugi::parse_ws_pcdata | pugi::parse_doctype |
                               pugi::parse_fragment;  // or text beside the root is passed over
  pugi::xml_document document;
  const auto result = document.load_buffer(text.data(), text.size(), options, pugi::encoding_utf8);
  if (!result) {
    const auto offset = std::min(text.size(), static_cast<std::size_t>(result.offset));
    return located(text, offset, fmt::format("not valid XML: {}", result.description()));
  }
  return convert(document, text);
}

std::string xml_escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\t':
      case '\n': out += c; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("&#x{:x};", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  return out;
}

XmlWriter::XmlWriter() : out_("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n") {}

XmlWriter& XmlWriter::open(std::string_view name, std::string_view xmlns) {
  out_.append("<").append(name);
  if (!xmlns.empty()) out_.append(" xmlns=\"").append(xml_escape(xmlns)).append("\"");
  out_ += '>';
  open_.emplace_back(name);
  return *this;
}

XmlWriter& XmlWriter::close() {
  if (open_.empty()) throw Error(Code::internal, "XmlWriter::close without an open element");
  out_.append("</").append(open_.back()).append(">");
  open_.pop_back();
  return *this;
}

XmlWriter& XmlWriter::element(std::string_view name, std::string_view text) {
  out_.append("<").append(name).append(">").append(xml_escape(text));
  out_.append("</").append(name).append(">");
  return *this;
}

std::string XmlWriter::finish() {
  while (!open_.empty()) close();
  return std::move(out_);
}

}  // namespace meridian::base
