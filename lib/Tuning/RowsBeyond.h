// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What rows of tiles beyond M cost, and what they gain.

#ifndef FP8_LIB_TUNING_ROWSBEYOND_H
#define FP8_LIB_TUNING_ROWSBEYOND_H

#include "fp8/Tuning/CostModel.h"

namespace fp8::tuning {

/// The share of a kernel's products that are of zeros, from 0 to 1, if these
/// save power where products last; else 0.
double getZeros(const Problem &problem, const KernelShape &kernel);

/// What copies of rows beyond M take alone, in us: TMA requests them from L2
/// like others, and all from one place. 0 if a box has few: these were never
/// measured to bound a kernel. Where one row of tiles of several has them, its
/// CTAs hold up the others.
double getFillUs(const Machine &machine, const Problem &problem,
                 const KernelShape &kernel);

/// How much longer a CTA waits for its K blocks because of rows beyond M, and
/// of columns beyond N if it has one tile, in us: the longer, the more CTAs ask
/// for the same rows at a time.
double getFillWaitUs(const Machine &machine, const Problem &problem,
                     const KernelShape &kernel, int64_t resident,
                     int64_t blocksOfOne, int64_t waves);

} // namespace fp8::tuning

#endif // FP8_LIB_TUNING_ROWSBEYOND_H
