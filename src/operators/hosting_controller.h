// Carries HostingDeployment: models and a configuration as resources of their own, then the
// endpoint.
//
//   models ready ──▶ configuration ready ──▶ CreateEndpoint ──▶ InService (Ready)
//                                             UpdateEndpoint when the configuration is another
//   In service with the wanted configuration: models and configurations of before are deleted.
//   An update that the region took back is not sent again until the spec changes (Stalled).
//   Deleted: the endpoint first; its resources follow by their owner reference.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operators/job_controller.h"

namespace meridian::operators {

class HostingController {
 public:
  HostingController(Resources& deployments, Resources& models, Resources& configs,
                    const ControllerParts& parts, ControllerSettings settings);
  control::Outcome step(const control::Key& key);

 private:
  struct Work;
  control::Outcome carry(Work& work);
  control::Outcome release(Work& work);
  // The children that the spec wants; nothing while one is not ready.
  std::optional<std::map<std::string, std::string>> ready_models(Work& work);
  std::optional<std::string> ready_config(Work& work,
                                          const std::map<std::string, std::string>& models);
  std::optional<base::Json> ensure_ready(Work& work, Resources& resources, const Kind& kind,
                                         base::Json wanted);
  void remove_older(Work& work);
  bool describe(Work& work);
  void create_endpoint(Work& work, const std::string& config);
  void update_endpoint(Work& work, const std::string& config);
  void record(Work& work, const std::string& config);
  void stall(Work& work, const std::string& reason, const std::string& message);
  control::Outcome after_error(Work& work, const base::Error& error);

  Resources& deployments_;
  Resources& models_;
  Resources& configs_;
  ControllerParts parts_;
  ControllerSettings settings_;
  Attempts attempts_;
};

}  // namespace meridian::operators
