// SPDX-License-Identifier: Apache-2.0
#include "operators/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/strings.h"

namespace meridian::operators {
namespace {

using Columns = std::vector<kube::PrinterColumn>;

kube::PrinterColumn column(std::string name, std::string path, std::string type = "string",
                           int priority = 0) {
  return {std::move(name), std::move(type), "", "", std::move(path), priority};
}

// The original's columns in their order, then what its users missed.
Columns with_reason(Columns columns) {
  columns.push_back(column("Age", ".metadata.creationTimestamp", "date"));
  columns.push_back(column("Reason", ".status.reason"));
  columns.push_back(column("Additional", ".status.additional", "string", 1));
  return columns;
}

Kind training() {
  return {
      .name = "TrainingJob",
      .plural = "trainingjobs",
      .singular = "trainingjob",
      .create = "CreateTrainingJob",
      .describe = "DescribeTrainingJob",
      .list = "ListTrainingJobs",
      .end = "StopTrainingJob",
      .name_member = "TrainingJobName",
      .arn_member = "TrainingJobArn",
      .status_member = "TrainingJobStatus",
      .summaries_member = "TrainingJobSummaries",
      .status_field = "trainingJobStatus",
      .status_name_field = "sageMakerTrainingJobName",
      .reconciling = "ReconcilingTrainingJob",
      .log_group = "/aws/sagemaker/TrainingJobs",
      .user_name = Kind::UserName::yes,
      .columns = with_reason({
          column("Status", ".status.trainingJobStatus"),
          column("Secondary-Status", ".status.secondaryStatus"),
          column("Creation-Time", ".metadata.creationTimestamp"),
          column("Sagemaker-Job-Name", ".status.sageMakerTrainingJobName"),
          column("Training-Seconds", ".status.trainingTimeInSeconds", "integer", 1),
          column("Billable-Seconds", ".status.billableTimeInSeconds", "integer", 1),
          column("Cost", ".status.cost", "string", 1),
      }),
  };
}

Kind processing() {
  return {
      .name = "ProcessingJob",
      .plural = "processingjobs",
      .singular = "processingjob",
      .create = "CreateProcessingJob",
      .describe = "DescribeProcessingJob",
      .list = "ListProcessingJobs",
      .end = "StopProcessingJob",
      .name_member = "ProcessingJobName",
      .arn_member = "ProcessingJobArn",
      .status_member = "ProcessingJobStatus",
      .summaries_member = "ProcessingJobSummaries",
      .status_field = "processingJobStatus",
      .status_name_field = "sageMakerProcessingJobName",
      .reconciling = "Reconciling",
      .log_group = "/aws/sagemaker/ProcessingJobs",
      .columns = with_reason({
          column("Status", ".status.processingJobStatus"),
          column("Creation-Time", ".metadata.creationTimestamp"),
          column("Sagemaker-Job-Name", ".status.sageMakerProcessingJobName"),
      }),
  };
}

Kind tuning() {
  return {
      .name = "HyperparameterTuningJob",
      .plural = "hyperparametertuningjobs",
      .singular = "hyperparametertuningjob",
      .create = "CreateHyperParameterTuningJob",
      .describe = "DescribeHyperParameterTuningJob",
      .list = "ListHyperParameterTuningJobs",
      .end = "StopHyperParameterTuningJob",
      .name_member = "HyperParameterTuningJobName",
      .arn_member = "HyperParameterTuningJobArn",
      .status_member = "HyperParameterTuningJobStatus",
      .summaries_member = "HyperParameterTuningJobSummaries",
      .status_field = "hyperParameterTuningJobStatus",
      .status_name_field = "sageMakerHyperParameterTuningJobName",
      .reconciling = "ReconcilingTuningJob",
      .name_limit = 32,
      .user_name = Kind::UserName::yes,
      .columns = with_reason({
          column("Status", ".status.hyperParameterTuningJobStatus"),
          column("Creation-Time", ".metadata.creationTimestamp"),
          column("Completed", ".status.trainingJobStatusCounters.completed", "integer"),
          column("InProgress", ".status.trainingJobStatusCounters.inProgress", "integer"),
          column("Errors", ".status.trainingJobStatusCounters.totalError", "integer"),
          column("Stopped", ".status.trainingJobStatusCounters.stopped", "integer"),
          column("Best-Training-Job", ".status.bestTrainingJob.trainingJobName"),
          column("Sagemaker-Job-Name", ".status.sageMakerHyperParameterTuningJobName"),
      }),
  };
}

Kind transform() {
  return {
      .name = "BatchTransformJob",
      .plural = "batchtransformjobs",
      .singular = "batchtransformjob",
      .create = "CreateTransformJob",
      .describe = "DescribeTransformJob",
      .list = "ListTransformJobs",
      .end = "StopTransformJob",
      .name_member = "TransformJobName",
      .arn_member = "TransformJobArn",
      .status_member = "TransformJobStatus",
      .summaries_member = "TransformJobSummaries",
      .status_field = "transformJobStatus",
      .status_name_field = "sageMakerTransformJobName",
      .reconciling = "ReconcilingTransformJob",
      .log_group = "/aws/sagemaker/TransformJobs",
      .user_name = Kind::UserName::yes,
      .columns = with_reason({
          column("Status", ".status.transformJobStatus"),
          column("Creation-Time", ".metadata.creationTimestamp"),
          column("Sagemaker-Job-Name", ".status.sageMakerTransformJobName"),
      }),
  };
}

Kind hosting() {
  return {
      .name = "HostingDeployment",
      .plural = "hostingdeployments",
      .singular = "hostingdeployment",
      .nature = Nature::hosting,
      .create = "CreateEndpoint",
      .describe = "DescribeEndpoint",
      .list = "ListEndpoints",
      .end = "DeleteEndpoint",
      .name_member = "EndpointName",
      .arn_member = "EndpointArn",
      .status_member = "EndpointStatus",
      .summaries_member = "Endpoints",
      .status_field = "endpointStatus",
      .status_name_field = "endpointName",
      .reconciling = "ReconcilingEndpoint",
      .log_group = "/aws/sagemaker/Endpoints",
      .user_name = Kind::UserName::yes,
      .columns = with_reason({
          column("Status", ".status.endpointStatus"),
          column("Sagemaker-endpoint-name", ".status.endpointName"),
      }),
  };
}

Kind model() {
  return {
      .name = "Model",
      .plural = "models",
      .singular = "model",
      .nature = Nature::definition,
      .create = "CreateModel",
      .describe = "DescribeModel",
      .list = "ListModels",
      .end = "DeleteModel",
      .name_member = "ModelName",
      .arn_member = "ModelArn",
      .summaries_member = "Models",
      .status_field = "status",
      .status_name_field = "sageMakerModelName",
      .reconciling = "Reconciling",
      .columns = with_reason({
          column("Status", ".status.status"),
          column("Sage-Maker-Model-Name", ".status.sageMakerModelName"),
      }),
  };
}

Kind endpoint_config() {
  return {
      .name = "EndpointConfig",
      .plural = "endpointconfigs",
      .singular = "endpointconfig",
      .nature = Nature::definition,
      .create = "CreateEndpointConfig",
      .describe = "DescribeEndpointConfig",
      .list = "ListEndpointConfigs",
      .end = "DeleteEndpointConfig",
      .name_member = "EndpointConfigName",
      .arn_member = "EndpointConfigArn",
      .summaries_member = "EndpointConfigs",
      .status_field = "status",
      .status_name_field = "sageMakerEndpointConfigName",
      .reconciling = "Reconciling",
      .columns = with_reason({
          column("Status", ".status.status"),
          column("Sage-Maker-EndpointConfig-Name", ".status.sageMakerEndpointConfigName"),
      }),
  };
}

Kind autoscaling() {
  return {
      .name = "HostingAutoscalingPolicy",
      .plural = "hostingautoscalingpolicies",
      .singular = "hostingautoscalingpolicy",
      .short_names = {"hap"},
      .nature = Nature::scaling,
      .create = "PutScalingPolicy",
      .describe = "DescribeScalingPolicies",
      .end = "DeleteScalingPolicy",
      .status_field = "hostingAutoscalingPolicyStatus",
      .status_name_field = "policyName",
      .reconciling = "Reconciling",
      .columns = with_reason({
          column("Status", ".status.hostingAutoscalingPolicyStatus"),
          column("Creation-Time", ".metadata.creationTimestamp"),
      }),
  };
}

}  // namespace

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {training(), processing(), tuning(),          transform(),
                                        hosting(),  model(),      endpoint_config(), autoscaling()};
  return all;
}

const Kind* find_kind(std::string_view word) {
  const std::string wanted = base::to_lower(word);
  for (const Kind& kind : kinds()) {
    if (wanted == kind.singular || wanted == kind.plural) return &kind;
    if (std::ranges::find(kind.short_names, wanted) != kind.short_names.end()) return &kind;
  }
  return nullptr;
}

const Kind& get_kind(std::string_view name) {
  if (const Kind* kind = find_kind(name)) return *kind;
  throw base::Error(base::Code::not_found, fmt::format("no kind is called '{}'", name));
}

std::string Kind::name_field() const { return lower_first(name_member); }

kube::ResourceId Kind::resource() const {
  return {std::string(kGroup), std::string(kVersion), plural};
}

std::string lower_first(std::string_view name) {
  std::string field(name);
  if (!field.empty()) {
    field[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(field[0])));
  }
  return field;
}

std::string remote_name(std::string_view object_name, std::string_view uid, std::size_t limit) {
  std::string id;
  std::ranges::copy_if(uid, std::back_inserter(id), [](char c) { return c != '-'; });
  // A limit of 32 leaves no room for both: eight letters of the name, then what fits of the uid.
  if (limit < id.size() + 2) {
    std::string name(object_name.substr(0, std::min<std::size_t>(8, limit / 4)));
    std::erase(name, '.');
    while (!name.empty() && name.back() == '-') name.pop_back();
    return name + id.substr(0, limit - name.size());
  }
  std::string name(object_name.substr(0, limit - id.size() - 1));
  // Names of objects may hold dots, which names in a region may not.
  std::ranges::replace(name, '.', '-');
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? id : name + "-" + id;
}

}  // namespace meridian::operators
