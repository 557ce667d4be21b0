// SPDX-License-Identifier: Apache-2.0
#include "operators/admission.h"

#include <fmt/format.h>

#include <set>

#include "aws/model.h"
#include "base/strings.h"
#include "kube/cause.h"
#include "kube/object.h"
#include "operators/job_status.h"
#include "operators/mirror_object.h"

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonArray;
using Causes = std::vector<kube::Cause>;

const JsonArray* find_list(const Json& value, std::string_view path) {
  const Json* found = base::find_path(value, path);
  return found != nullptr ? found->if_array() : nullptr;
}

// "metricDefinitions[0] has no regex, [1] has no name": two items where one was meant.
void check_metric_definitions(const Json& object, const std::string& path, Causes& causes) {
  const JsonArray* items = find_list(object, path);
  if (items == nullptr) return;
  std::vector<std::string> faults;
  for (std::size_t i = 0; i < items->size(); ++i) {
    const bool name = base::find((*items)[i], "name") != nullptr;
    const bool regex = base::find((*items)[i], "regex") != nullptr;
    if (name && regex) continue;
    const std::string_view what = name ? "no regex" : regex ? "no name" : "neither name nor regex";
    faults.push_back(
        fmt::format("{}[{}] has {}", faults.empty() ? "metricDefinitions" : "", i, what));
  }
  if (faults.empty()) return;
  causes.push_back({path, "FieldValueInvalid",
                    base::join(faults, ", ") + ": one item needs both name and regex"});
}

void check_unique(const Json& object, const std::string& path, std::string_view field,
                  Causes& causes) {
  const JsonArray* items = find_list(object, path);
  if (items == nullptr) return;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < items->size(); ++i) {
    const std::string value = base::string_or((*items)[i], field);
    if (!value.empty() && !seen.insert(value).second) {
      causes.push_back(
          kube::duplicate_value(fmt::format("{}[{}].{}", path, i, field), Json(value)));
    }
  }
}

// Instance types are text in the schema: machines come and go. A near miss is still worth a word.
void check_instance_type(const Json& object, const std::string& path, std::string_view shape,
                         std::vector<std::string>& warnings) {
  const Json* value = base::find_path(object, path);
  if (value == nullptr || !value->is_string()) return;
  const std::vector<std::string>& known = aws::get_model("sagemaker").find_shape(shape)->values;
  const std::string type(base::view(value->get_string()));
  if (std::ranges::find(known, type) != known.end()) return;
  const auto meant = base::nearest(type, known);
  warnings.push_back(fmt::format("{}: AWS has no instance type {}{}", path, type,
                                 meant ? fmt::format("; did you mean {}?", *meant) : ""));
}

void check_training(const Json& object, Review& review) {
  check_metric_definitions(object, "spec.algorithmSpecification.metricDefinitions", review.causes);
  check_unique(object, "spec.inputDataConfig", "channelName", review.causes);
  check_unique(object, "spec.hyperParameters", "name", review.causes);
  check_unique(object, "spec.environment", "name", review.causes);
  check_instance_type(object, "spec.resourceConfig.instanceType", "TrainingInstanceType",
                      review.warnings);
}

// The trials of a study report by these definitions; without them none ever counts.
void check_tuning(const Json& object, Review& review) {
  const std::string definition = "spec.trainingJobDefinition";
  check_metric_definitions(object, definition + ".algorithmSpecification.metricDefinitions",
                           review.causes);
  check_unique(object, definition + ".staticHyperParameters", "name", review.causes);
  if (base::find_path(object, definition) != nullptr &&
      base::find_path(object, "spec.trainingJobDefinitions") != nullptr) {
    review.causes.push_back(
        kube::forbidden("spec.trainingJobDefinitions",
                        "give trainingJobDefinition or trainingJobDefinitions, not both"));
  }
}

void check_variants(const Json& object, const std::set<std::string>& models,
                    const std::string& path, Causes& causes) {
  const JsonArray* variants = find_list(object, path);
  if (variants == nullptr) return;
  check_unique(object, path, "variantName", causes);
  for (std::size_t i = 0; i < variants->size(); ++i) {
    const std::string model = base::string_or((*variants)[i], "modelName");
    if (model.empty() || models.contains(model)) continue;
    causes.push_back(kube::not_supported(fmt::format("{}[{}].modelName", path, i), Json(model),
                                         {models.begin(), models.end()}));
  }
}

void check_hosting(const Json& object, Review& review) {
  check_unique(object, "spec.models", "name", review.causes);
  std::set<std::string> names;
  const JsonArray* models = find_list(object, "spec.models");
  if (models == nullptr) return;
  for (std::size_t i = 0; i < models->size(); ++i) {
    const Json& model = (*models)[i];
    names.insert(base::string_or(model, "name"));
    const Json* containers = base::find(model, "containers");
    if (containers == nullptr || !containers->is_array() || containers->get_array().size() < 2)
      continue;
    const std::string path = fmt::format("spec.models[{}].containers", i);
    std::set<std::string> hosts;
    for (std::size_t c = 0; c < containers->get_array().size(); ++c) {
      const std::string host = base::string_or(containers->get_array()[c], "containerHostname");
      const std::string field = fmt::format("{}[{}].containerHostname", path, c);
      if (host.empty()) {
        review.causes.push_back(
            kube::required_value(field, "several containers are told apart by it"));
      } else if (!hosts.insert(host).second) {
        review.causes.push_back(kube::duplicate_value(field, Json(host)));
      }
    }
  }
  check_variants(object, names, "spec.productionVariants", review.causes);
  check_variants(object, names, "spec.shadowProductionVariants", review.causes);
}

// A job that the region has is not changed by its resource: say so instead of ignoring it.
void check_unchanged(const Kind& kind, const Json& object, const Json& old_object, Causes& causes) {
  const Json* status = base::find(old_object, "status");
  if (kind.nature != Nature::job || status == nullptr) return;
  if (base::string_or(*status, kind.status_name_field).empty()) return;
  const Json* before = base::find(old_object, "spec");
  const Json* after = base::find(object, "spec");
  if (before == nullptr || after == nullptr || *before == *after) return;
  causes.push_back(kube::forbidden(
      "spec",
      fmt::format(
          "the job {} was created already and cannot be changed; delete this {} and apply a "
          "new one under another name",
          base::string_or(*status, kind.status_name_field), kind.name)));
}

// A mirror shows what the region has: nobody's wish is in it.
void check_mirror(const Json& object, const Json& old_object, Causes& causes) {
  if (kube::find_label(object, kMirrorLabel) != kube::find_label(old_object, kMirrorLabel)) {
    causes.push_back(kube::forbidden(fmt::format("metadata.labels[{}]", kMirrorLabel),
                                     "says who made the job, and stays as it is"));
  }
  const Json* before = base::find(old_object, "spec");
  const Json* after = base::find(object, "spec");
  if (is_mirror(old_object) && before != nullptr && after != nullptr && *before != *after) {
    causes.push_back(kube::forbidden(
        "spec", "this resource only shows a job that was made elsewhere; change it there"));
  }
}

}  // namespace

Review review(const Kind& kind, const Json& object, const Json* old_object) {
  Review review;
  if (kind.name == "TrainingJob") check_training(object, review);
  if (kind.name == "HyperparameterTuningJob") check_tuning(object, review);
  if (kind.nature == Nature::hosting) check_hosting(object, review);
  if (old_object == nullptr) return review;
  check_mirror(object, *old_object, review.causes);
  if (!is_mirror(*old_object)) check_unchanged(kind, object, *old_object, review.causes);
  return review;
}

}  // namespace meridian::operators
