// SPDX-License-Identifier: Apache-2.0
#include "operators/mirror_object.h"

#include <fmt/format.h>

#include "aws/model.h"
#include "base/digest.h"
#include "base/strings.h"
#include "operators/form.h"

namespace meridian::operators {

using base::Json;
using base::JsonObject;

bool is_mirror(const Json& object) { return kube::find_label(object, kMirrorLabel).has_value(); }

std::string mirror_name(std::string_view job) {
  const std::string lower = base::to_lower(job);
  if (lower == job) return lower;
  return lower + "-" + base::sha256_hex(job).substr(0, 8);
}

Json mirror_object(const Kind& kind, const Place& place, const Json& description,
                   const std::string& ns, std::string_view of) {
  const aws::Operation& create = *aws::get_model("sagemaker").find_operation(kind.create);
  JsonObject spec = from_api(*create.input, description).as_object();
  spec["region"] = place.region;
  if (!place.endpoint.empty()) spec["sageMakerEndpoint"] = place.endpoint;
  return {{"apiVersion", fmt::format("{}/{}", kGroup, kVersion)},
          {"kind", kind.name},
          {"metadata",
           {{"name", mirror_name(base::string_or(description, kind.name_member))},
            {"namespace", ns},
            {"labels", {{kMirrorLabel, of}}}}},
          {"spec", std::move(spec)}};
}

}  // namespace meridian::operators
