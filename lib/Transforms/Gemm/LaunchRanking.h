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

/// The time of the fastest launch that is ranked.
double getFastest(const tuning::KernelModel &model,
                  const tuning::Predictions &times, LaunchChoice launch);

} // namespace mlir::fp8

#endif // FP8_LIB_TRANSFORMS_GEMM_LAUNCHRANKING_H
