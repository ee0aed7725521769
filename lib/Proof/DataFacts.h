// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run says of data, where they decide which way it goes.

#ifndef FP8_LIB_PROOF_DATAFACTS_H
#define FP8_LIB_PROOF_DATAFACTS_H

#include "Linear.h"

namespace fp8::proof {

/// True if signs of the sums may be chosen independently, as far as functions
/// of data go that no arithmetic follows: no two of them are of one datum, and
/// none is of a datum of which a sum says something by itself.
bool areOfDifferentData(const AtomTable &atoms, llvm::ArrayRef<Linear> sums);

} // namespace fp8::proof

#endif // FP8_LIB_PROOF_DATAFACTS_H
