// The bytes of a watch as events: one JSON object per line.
//
//   WatchStream stream;
//   for (WatchEvent& event : stream.feed(bytes)) …
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/client/api.h"

namespace meridian::kube {

class WatchStream {
 public:
  // The events that these bytes complete. Throws the StatusError of an ERROR event (whatever came
  // before it in `bytes` is then lost; the watch is over anyway) and Error(data_loss) for what is
  // no event, or a line past 16 MiB.
  std::vector<WatchEvent> feed(std::string_view bytes);

 private:
  std::string rest_;  // of a line that has not ended
};

}  // namespace meridian::kube
