// Models and endpoint configurations of one region: records that are made, described, listed and
// deleted, and never change.
//
//   Definitions definitions(store, clock, {.account = …, .region = …});
//   front.add_region(name, {definitions.service()}, {});
//
// Names are unique per kind. A configuration is refused when a model that it names is not there.
// Thread-safe; calls block for the store only.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "aws/service.h"
#include "base/clock.h"
#include "store/store.h"

namespace meridian::region::hosting {

struct Settings {
  std::string account = "000000000000";
  std::string region = "us-west-2";
};

class Definitions {
 public:
  Definitions(store::Store& store, const base::Clock& clock, Settings settings);
  // Service "sagemaker": Create, Describe, List and Delete of Model and EndpointConfig.
  aws::Service service();

 private:
  struct Form;  // what differs between the two
  static const Form kModel, kEndpointConfig;

  base::Json create(const Form& form, const base::JsonObject& input);
  base::Json describe(const Form& form, const base::JsonObject& input) const;
  base::Json list(const Form& form, const base::JsonObject& input) const;
  base::Json remove(const Form& form, const base::JsonObject& input);
  void check_models(const base::JsonObject& input) const;
  store::Document get(const Form& form, const std::string& name) const;
  std::string prefix(const Form& form) const;
  std::string arn(const Form& form, const std::string& name) const;

  store::Store& store_;
  const base::Clock& clock_;
  Settings settings_;
};

}  // namespace meridian::region::hosting
