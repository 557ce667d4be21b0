// The normal distribution, and the expected improvement that is built on it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace meridian::tune {

double normal_pdf(double z);
double normal_cdf(double z);
double log_normal_cdf(double z);   // accurate far in the left tail, where the value underflows
double normal_quantile(double p);  // p in (0, 1); relative error below 1e-14

// log h(z), h(z) = pdf(z) + z cdf(z): the logarithm of the expected improvement of a unit normal
// over -z. Finite and strictly increasing for every finite z, also where h itself underflows, so
// that a search can climb it from anywhere (Ament et al., "Unexpected improvements to expected
// improvement", NeurIPS 2023; here by the asymptotic series instead of erfcx).
struct LogH {
  double value = 0;
  double slope = 0;  // d value / dz = cdf(z) / h(z)
};
LogH log_h(double z);

}  // namespace meridian::tune
