// SPDX-License-Identifier: Apache-2.0
#include "xgboost/hyperparameters.h"

#include <cmath>
#include <limits>
#include <optional>

#include "base/json.h"
#include "base/strings.h"

namespace meridian::xgboost {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

enum class Kind { integer, number, word, text };

struct Known {
  std::string_view name;
  Kind kind;
  double least = -kInfinity, most = kInfinity;
  std::vector<std::string> words{};
};

// Names and ranges: "XGBoost hyperparameters" of the SageMaker guide and XGBoost's own list.
const std::vector<Known>& known_hyperparameters() {
  static const std::vector<Known> all{
      {"num_round", Kind::integer, 1},
      {"early_stopping_rounds", Kind::integer, 1},
      {"csv_weights", Kind::integer, 0, 1},
      {"objective", Kind::text},
      {"eval_metric", Kind::text},
      {"num_class", Kind::integer, 2},
      {"eta", Kind::number, 0, 1},
      {"learning_rate", Kind::number, 0, 1},
      {"gamma", Kind::number, 0},
      {"min_split_loss", Kind::number, 0},
      {"max_depth", Kind::integer, 0},
      {"min_child_weight", Kind::number, 0},
      {"max_delta_step", Kind::number, 0},
      {"subsample", Kind::number, 0, 1},
      {"sampling_method", Kind::word, 0, 0, {"uniform", "gradient_based"}},
      {"colsample_bytree", Kind::number, 0, 1},
      {"colsample_bylevel", Kind::number, 0, 1},
      {"colsample_bynode", Kind::number, 0, 1},
      {"lambda", Kind::number, 0},
      {"reg_lambda", Kind::number, 0},
      {"alpha", Kind::number, 0},
      {"reg_alpha", Kind::number, 0},
      {"lambda_bias", Kind::number, 0},
      {"booster", Kind::word, 0, 0, {"gbtree", "gblinear", "dart"}},
      {"tree_method", Kind::word, 0, 0, {"auto", "exact", "approx", "hist"}},
      {"sketch_eps", Kind::number, 0, 1},
      {"scale_pos_weight", Kind::number},
      {"updater", Kind::text},
      {"refresh_leaf", Kind::integer, 0, 1},
      {"process_type", Kind::word, 0, 0, {"default", "update"}},
      {"grow_policy", Kind::word, 0, 0, {"depthwise", "lossguide"}},
      {"max_leaves", Kind::integer, 0},
      {"max_bin", Kind::integer, 2},
      {"num_parallel_tree", Kind::integer, 1},
      {"monotone_constraints", Kind::text},
      {"interaction_constraints", Kind::text},
      {"sample_type", Kind::word, 0, 0, {"uniform", "weighted"}},
      {"normalize_type", Kind::word, 0, 0, {"tree", "forest"}},
      {"rate_drop", Kind::number, 0, 1},
      {"one_drop", Kind::integer, 0, 1},
      {"skip_drop", Kind::number, 0, 1},
      {"base_score", Kind::number},
      {"seed", Kind::integer},
      {"nthread", Kind::integer, 1},
      {"verbosity", Kind::integer, 0, 3},
      {"silent", Kind::integer, 0, 1},
      {"dsplit", Kind::word, 0, 0, {"row", "col"}},
      {"tweedie_variance_power", Kind::number, 1, 2},
      {"huber_slope", Kind::number, 0},
      {"aft_loss_distribution", Kind::word, 0, 0, {"normal", "logistic", "extreme"}},
      {"deterministic_histogram", Kind::word, 0, 0, {"true", "false"}},
      {"save_model_on_termination", Kind::word, 0, 0, {"true", "false"}},
  };
  return all;
}

// Ours, or meaningless since XGBoost 1.0: not handed on.
bool is_for_the_library(std::string_view name) {
  for (std::string_view ours :
       {"num_round", "early_stopping_rounds", "csv_weights", "eval_metric", "silent", "dsplit",
        "save_model_on_termination", "sketch_eps", "deterministic_histogram", "lambda_bias"})
    if (name == ours) return false;
  return true;
}

// "\"abc\"" as SDKs send it, and plain abc, are both abc.
std::string plain_text(const base::Json& value) {
  if (!value.is_string()) return base::to_text(value);
  const std::string text(base::view(value.as_string()));
  if (text.size() >= 2 && text.front() == '"')
    if (auto inner = base::parse_json(text); inner && inner->is_string())
      return std::string(base::view(inner->as_string()));
  return text;
}

std::string bound_text(double value) {
  return value == std::floor(value) ? std::to_string(static_cast<long long>(value))
                                    : base::number_text(value);
}

std::string bounds_text(const Known& known) {
  std::string text;
  if (known.least > -kInfinity) text += " of at least " + bound_text(known.least);
  if (known.most < kInfinity)
    text += (text.empty() ? " of" : " and") + std::string(" at most ") + bound_text(known.most);
  return text;
}

// What is wrong with the value, or nothing.
std::optional<std::string> fault(const Known& known, const std::string& text) {
  const auto start = std::string(known.name) + " is '" + text + "'; it must be ";
  if (known.kind == Kind::word) {
    for (const auto& word : known.words)
      if (word == text) return {};
    return start + "one of " + base::join(known.words, ", ");
  }
  if (known.kind == Kind::text) return {};
  const auto value = base::to_double(text);
  const bool whole = value && *value == std::floor(*value) && base::to_int(text);
  const bool fits = value && *value >= known.least && *value <= known.most;
  if (known.kind == Kind::integer && !(whole && fits))
    return start + "an integer" + bounds_text(known);
  if (known.kind == Kind::number && !fits) return start + "a number" + bounds_text(known);
  return {};
}

const Known* find_known(std::string_view name) {
  for (const auto& known : known_hyperparameters())
    if (known.name == name) return &known;
  return nullptr;
}

std::string unknown(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& known : known_hyperparameters()) names.emplace_back(known.name);
  const auto near = base::nearest(name, names);
  return "unknown hyperparameter '" + name + "'" + (near ? "; did you mean '" + *near + "'?" : "");
}

// "rmse", "rmse,auc" or ["rmse", "auc"].
std::vector<std::string> metric_names(const std::string& text) {
  std::vector<std::string> names;
  if (auto list = base::parse_json(text); list && list->is_array()) {
    for (const auto& item : list->as_array()) names.push_back(plain_text(item));
    return names;
  }
  for (const auto& name : base::split(text, ','))
    if (!base::trim(name).empty()) names.emplace_back(base::trim(name));
  return names;
}

// Names that the platform and the SDKs add for their own purposes.
bool is_platform_name(std::string_view name) {
  return name.starts_with("sagemaker_") || name.starts_with("_");
}

}  // namespace

Hyperparameters parse_hyperparameters(const base::JsonObject& sent) {
  Hyperparameters all;
  std::map<std::string, std::string> values;
  std::vector<std::string> faults;
  for (const auto& [key, value] : sent) {
    const std::string name(key);
    if (is_platform_name(name)) continue;
    const auto* known = find_known(name);
    if (known == nullptr) {
      faults.push_back(unknown(name));
      continue;
    }
    values[name] = plain_text(value);
    if (auto why = fault(*known, values[name])) faults.push_back(*why);
  }
  if (!values.contains("num_round"))
    faults.push_back("num_round is missing: the number of rounds to train");
  const auto objective = values.find("objective");
  if (objective != values.end()) all.objective = objective->second;
  if (all.objective == "reg:linear") all.objective = "reg:squarederror";  // renamed in 0.90
  if (all.objective.starts_with("multi:") && !values.contains("num_class"))
    faults.push_back("objective " + all.objective + " needs num_class");
  if (!faults.empty()) throw base::Error(base::Code::invalid_argument, base::join(faults, "; "));

  all.rounds = static_cast<int>(*base::to_int(values["num_round"]));
  if (values.contains("early_stopping_rounds"))
    all.early_stopping_rounds = static_cast<int>(*base::to_int(values["early_stopping_rounds"]));
  all.csv_weights = values.contains("csv_weights") && values["csv_weights"] == "1";
  values["objective"] = all.objective;
  for (const auto& [name, value] : values)
    if (is_for_the_library(name)) all.parameters.emplace_back(name, value);
  if (values.contains("eval_metric"))
    for (const auto& metric : metric_names(values["eval_metric"]))
      all.parameters.emplace_back("eval_metric", metric);
  return all;
}

bool larger_is_better(std::string_view metric) {
  for (std::string_view prefix : {"auc", "aucpr", "map", "ndcg", "pre@", "accuracy", "f1", "r2"})
    if (metric.starts_with(prefix)) return metric != "mape";
  return false;
}

}  // namespace meridian::xgboost
