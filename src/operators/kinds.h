// The eight kinds of sagemaker.aws.amazon.com/v1, as a table: which API operations stand behind a
// kind, and how the original operator spelled its names, statuses and columns (they stay
// compatible).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/resource.h"

namespace meridian::operators {

inline constexpr std::string_view kGroup = "sagemaker.aws.amazon.com";
inline constexpr std::string_view kVersion = "v1";
inline constexpr std::string_view kFinalizer = "sagemaker-operator-finalizer";
// Of a resource that was accepted and not looked at yet.
inline constexpr std::string_view kFirstStatus = "SynchronizingK8sJobWithSageMaker";

// What a kind stands for in a region.
enum class Nature {
  job,         // runs once and ends: Complete, Failed or Stopped
  definition,  // made once and kept: Ready (Model, EndpointConfig)
  hosting,     // an endpoint with its models and configuration
  scaling,     // scalable targets and policies
};

struct Kind {
  std::string name, plural, singular;
  std::vector<std::string> short_names;
  Nature nature = Nature::job;

  // Operations of the API, and the members that name and describe one of them.
  std::string create, describe, list, end;  // end: Stop… for jobs, Delete… otherwise
  std::string name_member;                  // "TrainingJobName"
  std::string arn_member;                   // "TrainingJobArn"
  std::string status_member;                // of Describe: "TrainingJobStatus"; "" = none
  std::string summaries_member;             // of List: "TrainingJobSummaries"

  // Fields of status.
  std::string status_field;       // "trainingJobStatus"
  std::string status_name_field;  // "sageMakerTrainingJobName"
  std::string reconciling;        // status while errors are retried: "ReconcilingTrainingJob"
  std::string log_group;          // "/aws/sagemaker/TrainingJobs"; "" = none

  std::size_t name_limit = 63;                               // of the name in the region
  enum class UserName { no, yes } user_name = UserName::no;  // spec may choose the name
  std::vector<kube::PrinterColumn> columns;

  std::string name_field() const;  // of spec: name_member in lower camel case
  kube::ResourceId resource() const;
};

const std::vector<Kind>& kinds();
const Kind* find_kind(std::string_view name_plural_or_short);  // without regard to case
const Kind& get_kind(std::string_view name);                   // Error(not_found)

// "TrainingJobName" → "trainingJobName".
std::string lower_first(std::string_view name);

// The generated name in the region: the object's name and its uid without dashes, within `limit`;
// the name is shortened first. Under 34 (tuning jobs: 32) eight letters of the name stay, and the
// uid is cut, as the original did.
std::string remote_name(std::string_view object_name, std::string_view uid, std::size_t limit);

}  // namespace meridian::operators
