// Carries the resources of one job kind: TrainingJob, ProcessingJob, HyperparameterTuningJob,
// BatchTransformJob.
//
// A step reads the resource, asks plan() what is next, does it, and repeats until there is nothing
// to do but wait. It learns of the region's changes from the feed. Promises, each with a test:
//   1. A job is created once, whatever crashes in between: its name is fixed by the resource's uid,
//      and a name that is taken is ours exactly when its owner tag says so.
//   2. spec is never written to; names live in status.
//   3. An error that repeating cannot mend ends the resource at once; others are tried again later
//      each time, and status says when. A new generation starts over.
//   4. A deleted resource stops its job and waits for its end; after `escape` it is released
//      anyway, with an Event that says what may still run.
//   5. A mirror (mirror_object.h) gets the job's status and nothing else happens: its deletion does
//      not reach the job, and it goes when the job's record does.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/clock.h"
#include "control/runner.h"
#include "operators/attempts.h"
#include "operators/events.h"
#include "operators/feed.h"
#include "operators/kinds.h"
#include "operators/plan.h"
#include "operators/remote.h"
#include "operators/resources.h"
#include "operators/tuning_children.h"

namespace meridian::operators {

struct ControllerSettings {
  std::string installation;        // first part of the owner tag
  base::Duration escape{600'000};  // how long a deletion waits for the region
};

struct ControllerParts {
  Remotes& remotes;
  Feed& feed;
  Events& events;
  const base::Clock& clock;
};

// meridian:owner, the tag on everything that we make in a region (design D2).
inline constexpr std::string_view kOwnerTag = "meridian:owner";
std::string owner_of(const std::string& installation, const Kind& kind, const base::Json& object);

class JobController {
 public:
  // `children`: of a tuning job; null for other kinds.
  JobController(const Kind& kind, Resources& resources, const ControllerParts& parts,
                ControllerSettings settings, TuningChildren* children = nullptr);
  control::Outcome step(const control::Key& key);  // "<plural>/NAMESPACE/NAME"
  static control::Key key_for(const Kind& kind, const kube::ObjectKey& object);

 private:
  struct Work;
  Observed observe(const Work& work) const;
  control::Outcome carry(Work& work);
  control::Outcome carry_mirror(Work& work);
  void forget_mirror(const control::Key& key);
  void act(Act act, Work& work);
  void look(Work& work);
  void create(Work& work);
  void record(Work& work);
  void finish_failed(Work& work, const std::string& reason, const std::string& message);
  void release(Work& work);
  bool is_ours(const Work& work, const base::Json& description);
  control::Outcome after_error(Work& work, const base::Error& error);

  const Kind& kind_;
  Resources& resources_;
  ControllerParts parts_;
  ControllerSettings settings_;
  TuningChildren* const children_;
  base::Sync<std::map<control::Key, Record>> mirrored_;  // no finalizer tells of their end
  Attempts attempts_;
};

}  // namespace meridian::operators
