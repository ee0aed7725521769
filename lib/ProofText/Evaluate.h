// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What instructions compute, where only some bits are known.

#ifndef FP8_LIB_PROOFTEXT_EVALUATE_H
#define FP8_LIB_PROOFTEXT_EVALUATE_H

#include "Code.h"

namespace fp8::prooftext {

/// The result of a step of arithmetic for the values of its sources.
Number evaluate(const CodeStep &step, const std::vector<Number> &sources);

/// The bits of the result that may be known where those of the sources may be.
uint64_t getMayBeKnown(const CodeStep &step,
                       const std::vector<uint64_t> &sources);

/// The bits of the `number`-th source on which those of the result depend.
uint64_t getDemanded(const CodeStep &step, size_t number, uint64_t demanded);

} // namespace fp8::prooftext

#endif // FP8_LIB_PROOFTEXT_EVALUATE_H
