// SPDX-License-Identifier: Apache-2.0
#include "tune/model/kernel.h"

#include <algorithm>

#include "tune/numeric/lanes.h"

namespace meridian::tune {

MERIDIAN_WIDE void squared_distances(const Layout& layout, std::span<const double> inverse_squares,
                                     const Rows& rows, std::span<const double> x, double* out) {
  const std::size_t count = rows.size(), width = layout.size();
  std::fill_n(out, count, 0.0);
  for (std::size_t d = 0; d < width; ++d) {
    const double* column = rows.values.data() + d;
    const double weight = inverse_squares[d], at = d < x.size() ? x[d] : 0;
    if (layout[d] == Coordinate::category) {
      for (std::size_t i = 0; i < count; ++i) out[i] += column[i * width] == at ? 0 : weight;
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        const double difference = column[i * width] - at;
        out[i] += weight * difference * difference;
      }
    }
  }
}

}  // namespace meridian::tune
