// SPDX-License-Identifier: Apache-2.0
#include "kube/cause.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace meridian::kube {
namespace {

using base::Json;

TEST(Cause, EachKindHasKubernetesReasonAndWords) {
  const struct {
    Cause cause;
    const char *reason, *message;
  } cases[] = {
      {required_value("a"), "FieldValueRequired", "Required value"},
      {required_value("a", "say so"), "FieldValueRequired", "Required value: say so"},
      {invalid_value("a", Json("x"), "no"), "FieldValueInvalid", "Invalid value: \"x\": no"},
      {invalid_value("a", Json{{"b", 1}}, "no"), "FieldValueInvalid",
       "Invalid value: {\"b\":1}: no"},
      {wrong_type("a", "string", "no"), "FieldValueTypeInvalid", "Invalid value: \"string\": no"},
      {not_supported("a", Json("x"), {"b", "c"}), "FieldValueNotSupported",
       "Unsupported value: \"x\": supported values: \"b\", \"c\""},
      {not_supported("a", Json("FullReplicated"), {"FullyReplicated"}), "FieldValueNotSupported",
       "Unsupported value: \"FullReplicated\": supported values: \"FullyReplicated\"; did you mean "
       "\"FullyReplicated\"?"},
      {forbidden("a", "no"), "FieldValueForbidden", "Forbidden: no"},
      {duplicate_value("a", Json("x")), "FieldValueDuplicate", "Duplicate value: \"x\""},
      {too_long("a", 5), "FieldValueTooLong", "Too long: may not be more than 5 bytes"},
      {too_many("a", 5, 3), "FieldValueTooMany", "Too many: 5: must have at most 3 items"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(c.cause.field, "a");
    EXPECT_EQ(c.cause.reason, c.reason);
    EXPECT_EQ(c.cause.message, c.message);
  }
}

TEST(Cause, LongValuesAreCut) {
  EXPECT_LT(invalid_value("a", Json(std::string(10'000, 'x')), "no").message.size(), 400u);
}

}  // namespace
}  // namespace meridian::kube
