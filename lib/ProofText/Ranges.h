// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What instructions compute, where bounds are known.

#ifndef FP8_LIB_PROOFTEXT_RANGES_H
#define FP8_LIB_PROOFTEXT_RANGES_H

#include "Code.h"

namespace fp8::prooftext {

/// The range of the result of a step of arithmetic.
Range evaluateRange(const CodeStep &step, const std::vector<Number> &sources);

/// What a comparison says of all numbers of both ranges; none if it differs.
std::optional<bool> compareRanges(const CodeStep &step, const Number &first,
                                  const Number &second);

} // namespace fp8::prooftext

#endif // FP8_LIB_PROOFTEXT_RANGES_H
