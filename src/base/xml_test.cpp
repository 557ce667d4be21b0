// SPDX-License-Identifier: Apache-2.0
#include "base/xml.h"

#include <gmock/gmock.h>

namespace meridian::base {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view text) {
  const auto root = parse_xml(text);
  return root ? "accepted" : root.error().text();
}

TEST(Xml, ReadsElementsTextAndAttributes) {
  const auto root = parse_xml(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- c -->\n"
      "<s3:Delete xmlns:s3=\"http://x/\" xsi:type=\"a&amp;b\">\n"
      "  <Object><Key>a &lt;b&gt; &#233;&#x1F600;</Key></Object>\n"
      "  <Object><Key><![CDATA[<&raw;>]]></Key></Object>\n"
      "  <Quiet>true</Quiet><Empty/>\n"
      "</s3:Delete>\n");
  ASSERT_TRUE(root.ok()) << root.error().text();
  EXPECT_EQ(root->name, "Delete");
  EXPECT_EQ(root->attributes[1], (std::pair<std::string, std::string>("type", "a&b")));
  ASSERT_EQ(root->children.size(), 4u);
  EXPECT_EQ(root->children[0].text_of("Key"), "a <b> é😀");
  EXPECT_EQ(root->children[1].text_of("Key"), "<&raw;>");
  EXPECT_EQ(root->text_of("Quiet"), "true");
  EXPECT_EQ(root->text, "");
  EXPECT_NE(root->find("Empty"), nullptr);
  EXPECT_EQ(root->find("Absent"), nullptr);
  EXPECT_EQ(root->text_of("Absent"), "");
}

TEST(Xml, BlanksInsideATextElementAreKept) {
  EXPECT_EQ(parse_xml("<a> </a>")->text, " ");
  EXPECT_EQ(parse_xml("<a> x\r\ny </a>")->text, " x\ny ");
}

TEST(Xml, EntitiesOfTheDocumentsOwnAreRefused) {
  EXPECT_THAT(error_of("<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>"), HasSubstr("DOCTYPE"));
  EXPECT_THAT(error_of("<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a/>"), HasSubstr("DOCTYPE"));
  EXPECT_THAT(error_of("<a>&nbsp;</a>"), HasSubstr("&nbsp"));
  EXPECT_THAT(error_of("<a b=\"&x;\"/>"), HasSubstr("&x"));
  for (const char* bad :
       {"<a>&</a>", "<a>&;</a>", "<a>&#;</a>", "<a>&#x;</a>", "<a>&#0;</a>", "<a>&#xD800;</a>",
        "<a>&#1114112;</a>", "<a>&#12a;</a>", "<a>&#99999999999999999999;</a>"}) {
    EXPECT_NE(error_of(bad), "accepted") << bad;
  }
}

TEST(Xml, WhatIsNotWellFormedIsRefused) {
  for (const char* bad : {"", "  ", "text", "<a>", "<a></b>", "<a/><b/>", "<a/>x", "<a b=c/>",
                          "</a>", "<a \xff/>", "<a>\xc3</a>"}) {
    EXPECT_NE(error_of(bad), "accepted") << bad;
  }
  EXPECT_NE(error_of(std::string_view("<a>\0</a>", 8)), "accepted");
}

TEST(Xml, ANameHasOneColonAtMostWithSomethingOnBothSides) {
  for (const char* bad : {"<:a/>", "<a:/>", "<a::/>", "<a:b:c/>", "<:/>", "<a b:=\"1\"/>"}) {
    EXPECT_THAT(error_of(bad), HasSubstr("is not a name")) << bad;
  }
  EXPECT_EQ(error_of("<a:b c:d=\"1\"/>"), "accepted");
}

TEST(Xml, AnErrorSaysWhere) {
  const auto bad = parse_xml("<a>\n  <b>\n  </c>\n</a>");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().line, 3);
}

TEST(Xml, DepthSizeAndNumberAreBounded) {
  const auto nested = [](int n) {
    std::string text;
    for (int i = 0; i < n; ++i) text += "<a>";
    for (int i = 0; i < n; ++i) text += "</a>";
    return text;
  };
  EXPECT_EQ(error_of(nested(32)), "accepted");
  EXPECT_THAT(error_of(nested(33)), HasSubstr("too deeply"));
  EXPECT_THAT(error_of(nested(100'000)), HasSubstr("too deeply"));
  EXPECT_FALSE(parse_xml("<a>12345</a>", 11).ok());
  std::string many = "<a>";
  for (int i = 0; i < 200'000; ++i) many += "<b/>";
  EXPECT_THAT(error_of(many + "</a>"), HasSubstr("too many"));
}

TEST(Xml, TheWriterEscapesAndClosesWhatIsOpen) {
  XmlWriter xml;
  xml.open("A", "http://x/?a&b").element("B", "<\"&'>").open("C").element("D", "").close();
  xml.open("E");
  EXPECT_EQ(xml.finish(),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<A xmlns=\"http://x/?a&amp;b\"><B>&lt;&quot;&amp;'&gt;</B><C><D></D></C><E></E></A>");
}

TEST(Xml, ControlCharactersSurviveTheWayOutAndBack) {
  std::string all;
  for (int c = 1; c < 0x80; ++c) all += static_cast<char>(c);
  XmlWriter xml;
  xml.open("A").element("K", all);
  const auto root = parse_xml(xml.finish());
  ASSERT_TRUE(root.ok()) << root.error().text();
  EXPECT_EQ(root->text_of("K"), all);
  EXPECT_EQ(xml_escape("\x01\r\n"), "&#x1;&#xd;\n");
}

TEST(Xml, ClosingTooOftenIsADefect) {
  XmlWriter xml;
  EXPECT_THROW(xml.close(), Error);
}

}  // namespace
}  // namespace meridian::base
