// `meridian spot reclaim`: takes the instances of a spot job away, as a cloud would.
//
// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "cli/commands.h"

namespace meridian::cli {

void add_spot(Command root, Context& context) {
  auto spot = root.add("spot", "Managed spot capacity", "");
  auto name = std::make_shared<std::string>();
  auto reclaim = spot.add("reclaim", "Take a job's spot instances back; it resumes when it can",
                          "meridian spot reclaim digits-spot");
  reclaim.argument("name", *name, "NAME or trainingjob/NAME");
  reclaim.run([name, &context] {
    const auto job = job_name_of(*name);
    context.session().sagemaker().call_meridian("spot-reclaim", {{"job", job}});
    context.console.say(
        job + ": its instances are being reclaimed; follow it with meridian logs -f " + job);
    return 0;
  });
}

}  // namespace meridian::cli
