// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The constants of a machine, fitted to times of kernels that were measured
// there.
#ifndef FP8_TUNING_FIT_H
#define FP8_TUNING_FIT_H

#include "fp8/Tuning/CostModel.h"

#include <string>
#include <vector>

namespace fp8::tuning {

/// The time of a kernel on a problem, launched as its configuration says.
struct Measurement {
  Problem problem;
  KernelShape kernel;
  double us; ///< more than 0
};

/// A machine, and how well the model then predicts what was measured.
struct Fit {
  Machine machine;
  /// |predicted / measured - 1|: the median, and what nine in ten stay below.
  double median, ninetieth;
};

/// How well the model predicts the measurements, of which there is one at
/// least.
Fit judge(const Machine &machine, const std::vector<Measurement> &measured);

/// The constants that are fitted (MachineConstant::isFitted), or those of them
/// that `names` has unless it is empty, from those of `start`; the others stay.
/// What the measurements do not determine stays near `start`, too. The
/// differences between the kernels of a problem count more than their common
/// error, since a choice is made between them; and an outlier counts little.
Fit fit(const Machine &start, const std::vector<Measurement> &measured,
        const std::vector<std::string> &names = {});

} // namespace fp8::tuning

#endif // FP8_TUNING_FIT_H
