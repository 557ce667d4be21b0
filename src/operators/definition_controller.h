// Carries Model and EndpointConfig: made once per content, kept until the resource goes.
//
// The name in the region ends with a hash of the content. A changed spec is a new name: it is made
// first, then the old one is deleted, so nothing that is in use ever vanishes under its users (the
// original deleted and made again under one name). Names that are to be deleted stand in
// status.staleNames before they are, so a crash leaves nothing behind.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operators/job_controller.h"

namespace meridian::operators {

// Of the spec, without what says where it goes; 8 hex digits.
std::string content_hash(const base::Json& spec);

class DefinitionController {
 public:
  DefinitionController(const Kind& kind, Resources& resources, const ControllerParts& parts,
                       ControllerSettings settings);
  control::Outcome step(const control::Key& key);

 private:
  control::Outcome carry(base::Json& object);
  void create(const base::Json& object, const std::string& name);
  void remove(const base::Json& object, const std::string& name);
  void settle(base::Json& object, const std::string& name);
  void remove_stale(base::Json& object);
  control::Outcome release(base::Json& object);
  control::Outcome after_error(base::Json& object, const base::Error& error);

  const Kind& kind_;
  Resources& resources_;
  ControllerParts parts_;
  ControllerSettings settings_;
  Attempts attempts_;
};

}  // namespace meridian::operators
