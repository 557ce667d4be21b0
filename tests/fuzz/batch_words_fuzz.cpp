// Words of AWS Batch requests and documents: ids of jobs, ranges of nodes, states of arrays,
// parameters in commands. A line each.
//
// LINK: region/batch/jobs
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/strings.h"
#include "region/batch/jobs/records.h"
#include "region/batch/jobs/spec.h"

using namespace meridian;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::string& line : base::split(text, '\n')) {
    if (const auto id = region::batch::parse_job_id(line)) {
      if (id->job.empty() || (id->index && *id->index >= 10'000)) std::abort();
    }
    for (const std::uint32_t count : {0u, 1u, 1000u})
      if (const auto nodes = region::batch::parse_node_range(line, count))
        if (nodes->from > nodes->to || nodes->to >= count) std::abort();
    if (const auto states = region::batch::States::parse(line)) {
      const auto again = region::batch::States::parse(states->text());
      if (!again || again->text() != states->text() || states->size() > 10'000) std::abort();
    }
    // What is put in is not looked at again, so that a value can't name another parameter.
    const std::map<std::string, std::string> none, one{{"a", "Ref::a"}};
    if (region::batch::substitute(line, none) != line) std::abort();
    (void)region::batch::substitute(line, one);
    (void)region::batch::name_of(line);
  }
  return 0;
}
