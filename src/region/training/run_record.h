// The run record: what a job was made from, as digests and versions taken at its start, because
// they can't be found out afterwards.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/digest.h"
#include "region/training/core.h"

namespace meridian::region::training {

// A channel's objects as one digest over bucket, key, ETag and size, in staging order.
class InputDigest {
 public:
  void add(const std::vector<s3::ChannelObject>& objects);
  base::JsonObject finish();  // Sha256, Objects, Bytes

 private:
  base::Digest digest_{base::DigestKind::sha256};
  std::uint64_t objects_ = 0, bytes_ = 0;
};

base::JsonObject make_run_record(const Core& core, const JobRecord& record, const JobSpec& spec,
                                 const Program& program, base::JsonObject inputs,
                                 const std::string& code_sha256);

// Names of installed distributions ("numpy-1.24.2") in an interpreter's directories, sorted.
std::vector<std::string> installed_packages(const std::vector<std::string>& directories);

}  // namespace meridian::region::training
