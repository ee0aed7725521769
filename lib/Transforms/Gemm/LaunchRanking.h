// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The launches of a predicted configuration.

#ifndef FP8_LIB_TRANSFORMS_GEMM_LAUNCHRANKING_H
#define FP8_LIB_TRANSFORMS_GEMM_LAUNCHRANKING_H

#include "ConfigChooser.h"

namespace mlir::fp8 {

/// Adds the configuration with the fastest launch, or with each that is
/// `launch`: a programmatic kernel has two places to signal at, but with tensor
/// memory one.
void rankLaunches(const GemmConfig &config, const tuning::KernelModel &model,
                  const tuning::Predictions &times, LaunchChoice launch,
                  SmallVectorImpl<RankedConfig> &ranked);

/// The mean time of three launches, in microseconds. Two follow a kernel of the
/// library, beside whose end they run, and take `us`. One follows a kernel of
/// another library, such as a quantisation, starts when that has ended, and
/// takes `aloneUs`.
double getMeanTime(double us, double aloneUs);

/// The least mean time of the launches that are ranked.
double getBestMean(const tuning::KernelModel &model,
                   const tuning::Predictions &times, LaunchChoice launch);

} // namespace mlir::fp8

#endif // FP8_LIB_TRANSFORMS_GEMM_LAUNCHRANKING_H
