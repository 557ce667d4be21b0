// What a job leaves in S3: checkpoints and other synced directories while it runs, model and output
// archives when it ends (contract §3.8, §3.9). Blocking: the work of activities.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <mutex>
#include <stop_token>

#include "region/training/beneath.h"
#include "region/training/core.h"

namespace meridian::region::training {

// The synced directories of one attempt. Thread-safe: one upload at a time.
class OutputSync {
 public:
  OutputSync(Core& core, const JobRecord& record, const JobSpec& spec);
  bool empty() const { return entries_.empty(); }
  s3::DirectorySync::Result upload(std::stop_token stop);

 private:
  // Pinned anew at each upload: the program may remove the directory and make it again, but can't
  // put a link in its place.
  struct Entry {
    std::filesystem::path instance, below;
    s3::Uri target;
    std::optional<PinnedDirectory> pinned;
    std::optional<s3::DirectorySync> sync;
  };
  s3::Objects& objects_;
  std::mutex mutex_;
  std::list<Entry> entries_;
};

struct Uploaded {
  std::string model_uri;              // "" when there was no model to keep
  std::vector<std::string> left_out;  // what could not go into an archive
};

// Reads the log to its end, syncs once more, and puts the archives that the record's cause allows:
// model and output after completion and stops, output alone after failures, nothing when the job
// goes on.
Uploaded upload_outputs(Core& core, const JobRecord& record, const JobSpec& spec, OutputSync& sync,
                        std::stop_token stop);

}  // namespace meridian::region::training
