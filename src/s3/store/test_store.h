// An object store in a temporary directory, for tests.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "s3/fake_objects.h"
#include "s3/store/object_store.h"

namespace meridian::s3 {

struct TestStore {
  explicit TestStore(std::string region = "us-west-2")
      : store({.directory = directory.path() / region, .region = region}, store::open_in_memory(),
              clock, random) {
    store.create_bucket({.name = "data", .account = "000000000000"});
  }
  base::TempDir directory{"s3-test"};
  base::ManualClock clock;
  base::SeededRandom random{7};
  ObjectStore store;
};

}  // namespace meridian::s3
