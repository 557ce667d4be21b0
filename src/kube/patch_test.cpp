// SPDX-License-Identifier: Apache-2.0
#include "kube/patch.h"

#include <gtest/gtest.h>

#include <random>

#include "base/json.h"
#include "kube/value.h"

namespace meridian::kube {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

Json parsed(std::string_view text) { return base::parse_json(text).value(); }

TEST(JsonPatch, EveryOperationDoesWhatTheRfcSays) {
  const struct {
    const char *target, *patch, *result;
  } cases[] = {
      {R"({"a":1})", R"([])", R"({"a":1})"},
      {R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])", R"({"a":1,"b":2})"},
      {R"({"a":1})", R"([{"op":"add","path":"/a","value":2}])", R"({"a":2})"},
      {R"({"a":1})", R"([{"op":"add","path":"","value":[1]}])", R"([1])"},
      {R"({"a":1})", R"([{"op":"add","path":"/n","value":null}])", R"({"a":1,"n":null})"},
      {R"([1,3])", R"([{"op":"add","path":"/1","value":2}])", R"([1,2,3])"},
      {R"([1])", R"([{"op":"add","path":"/-","value":2}])", R"([1,2])"},
      {R"([1])", R"([{"op":"add","path":"/1","value":2}])", R"([1,2])"},
      {R"({"a":1,"b":2})", R"([{"op":"remove","path":"/a"}])", R"({"b":2})"},
      {R"([1,2,3])", R"([{"op":"remove","path":"/1"}])", R"([1,3])"},
      {R"({"a":{"b":1}})", R"([{"op":"replace","path":"/a/b","value":{}}])", R"({"a":{"b":{}}})"},
      {R"({"a":1})", R"([{"op":"replace","path":"","value":5}])", R"(5)"},
      {R"({"a":{"x":1},"b":{}})", R"([{"op":"move","from":"/a/x","path":"/b/y"}])",
       R"({"a":{},"b":{"y":1}})"},
      {R"([1,2,3])", R"([{"op":"move","from":"/0","path":"/2"}])", R"([2,3,1])"},
      {R"({"a":1})", R"([{"op":"move","from":"/a","path":"/a"}])", R"({"a":1})"},
      {R"({"a":[1]})", R"([{"op":"copy","from":"/a","path":"/b"}])", R"({"a":[1],"b":[1]})"},
      {R"({"a/b":1,"m~n":2})",
       R"([{"op":"remove","path":"/a~1b"},{"op":"replace","path":"/m~0n","value":3}])",
       R"({"m~n":3})"},
      {R"({"a":{"b":[1.0]}})", R"([{"op":"test","path":"/a","value":{"b":[1]}}])",
       R"({"a":{"b":[1.0]}})"},
      {R"({"a":null})", R"([{"op":"test","path":"/a","value":null}])", R"({"a":null})"},
      {R"({"":{"":1}})", R"([{"op":"replace","path":"//","value":2}])", R"({"":{"":2}})"},
  };
  for (const auto& c : cases) {
    const auto result = apply_json_patch(parsed(c.target), parsed(c.patch));
    ASSERT_TRUE(result.ok()) << c.patch << ": " << result.error();
    EXPECT_EQ(*result, parsed(c.result)) << c.patch;
  }
}

TEST(JsonPatch, AFailureNamesTheOperation) {
  const struct {
    const char *patch, *why;
  } cases[] = {
      {R"({})", "a JSON patch is a list of operations"},
      {R"([5])", "operation 0: an operation is an object"},
      {R"([{"path":"/a"}])", "operation 0: 'op' must be a string"},
      {R"([{"op":"add","value":1}])", "operation 0: 'path' must be a string"},
      {R"([{"op":"add","path":"/a"}])", "operation 0: there is no 'value'"},
      {R"([{"op":"put","path":"/a"}])",
       "operation 0: 'put' is none of add, remove, replace, move, copy, test"},
      {R"([{"op":"remove","path":"/l/0"},{"op":"remove","path":"/x"}])",
       "operation 1: there is no /x"},
      {R"([{"op":"add","path":"/x/y","value":1}])", "operation 0: there is no /x/y"},
      {R"([{"op":"add","path":"/l/4","value":1}])", "operation 0: there is no /l/4"},
      {R"([{"op":"add","path":"/l/01","value":1}])", "operation 0: /l/01: '01' is no index"},
      {R"([{"op":"add","path":"/l/-1","value":1}])", "operation 0: /l/-1: '-1' is no index"},
      {R"([{"op":"remove","path":"/l/-"}])", "operation 0: /l/-: '-' is no index"},
      {R"([{"op":"replace","path":"/x","value":1}])", "operation 0: there is no /x"},
      {R"([{"op":"test","path":"/a","value":2}])", "operation 0: test failed at /a"},
      {R"([{"op":"test","path":"/x","value":null}])", "operation 0: there is no /x"},
      {R"([{"op":"add","path":"a","value":2}])", "operation 0: \"a\" does not start with '/'"},
      {R"([{"op":"add","path":"/~2","value":2}])",
       "operation 0: \"/~2\" has a '~' that is neither ~0 nor ~1"},
      {R"([{"op":"move","from":"/o","path":"/o/x"}])", "operation 0: /o/x is inside /o"},
      {R"([{"op":"add","path":"/a/b","value":2}])", "operation 0: there is no /a/b"},
  };
  for (const auto& c : cases) {
    const auto result = apply_json_patch(parsed(R"({"a":1,"l":[1,2],"o":{}})"), parsed(c.patch));
    ASSERT_FALSE(result.ok()) << c.patch;
    EXPECT_EQ(result.error(), c.why);
  }
}

TEST(JsonPatch, CopiesThatGrowTheResultAreBounded) {
  JsonArray doubling;
  for (int i = 0; i < 40; ++i) {
    doubling.push_back(parsed(R"({"op":"copy","from":"/a","path":"/a/-"})"));
  }
  const Json target{{"a", JsonArray{std::string(1 << 16, 'x')}}};
  EXPECT_EQ(apply_json_patch(target, doubling).error(), "operation 8: the patch moves too much");
  JsonArray deep;
  for (int i = 0; i < 100; ++i) {
    deep.push_back(parsed(R"({"op":"copy","from":"/a","path":"/a/b"})"));
  }
  EXPECT_EQ(apply_json_patch(parsed(R"({"a":{}})"), deep).error(),
            "operation 62: the result is too deep");
}

TEST(JsonPatch, WorkIsBounded) {
  const JsonArray many(10'001, parsed(R"({"op":"test","path":"","value":{}})"));
  EXPECT_FALSE(apply_json_patch(parsed("{}"), many).ok());
  EXPECT_TRUE(apply_json_patch(parsed("{}"), JsonArray(many.begin(), many.end() - 1)).ok());
  const JsonArray shifts(10'000, parsed(R"({"op":"add","path":"/0","value":0})"));
  EXPECT_FALSE(apply_json_patch(JsonArray(100'000, 0), shifts).ok());
}

TEST(MergePatch, FollowsTheExamplesOfTheRfc) {
  const struct {
    const char *target, *patch, *result;
  } cases[] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"(["a"])", R"(["c"])", R"(["c"])"},
      {R"({"a":"b"})", R"(null)", R"(null)"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(apply_merge_patch(parsed(c.target), parsed(c.patch)), parsed(c.result)) << c.patch;
  }
}

TEST(MergePatch, TheSmallestPatchNamesOnlyWhatDiffers) {
  const Json from = parsed(R"({"a":1,"b":{"c":1,"d":2},"e":[1],"same":{"x":[1,{}]}})");
  const Json to = parsed(R"({"b":{"c":1,"d":3},"e":[2],"f":{},"same":{"x":[1,{}]}})");
  EXPECT_EQ(make_merge_patch(from, to), parsed(R"({"a":null,"b":{"d":3},"e":[2],"f":{}})"));
  EXPECT_EQ(make_merge_patch(to, to), parsed("{}"));
}

// Values without null members, which a merge patch cannot express.
Json random_value(std::mt19937_64& random, int depth) {
  switch (random() % (depth > 3 ? 4 : 6)) {
    case 0: return static_cast<std::int64_t>(random() % 3);
    case 1: return random() % 2 == 0;
    case 2: return Json(std::string(random() % 3, 'x'));
    case 3: return Json(0.5);
    case 4: {
      JsonArray out;
      for (auto n = random() % 3; n > 0; --n) out.push_back(random_value(random, depth + 1));
      return out;
    }
    default: {
      JsonObject out;
      for (auto n = random() % 4; n > 0; --n) {
        out[std::string(1, static_cast<char>('a' + random() % 4))] =
            random_value(random, depth + 1);
      }
      return out;
    }
  }
}

TEST(MergePatch, EveryDifferenceIsMadeByItsPatch) {
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    std::mt19937_64 random(seed);
    const Json from = random_value(random, 0);
    const Json to = random_value(random, 0);
    const Json patch = make_merge_patch(from, to);
    const Json made = apply_merge_patch(from, patch);
    ASSERT_TRUE(same_value(made, to)) << "seed " << seed << ": " << base::to_text(from) << " by "
                                      << base::to_text(patch) << " is " << base::to_text(made);
  }
}

}  // namespace
}  // namespace meridian::kube
