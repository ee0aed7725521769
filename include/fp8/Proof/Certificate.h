// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Skeletons as JSON, for those who check a proof without this library.

#ifndef FP8_PROOF_CERTIFICATE_H
#define FP8_PROOF_CERTIFICATE_H

#include "fp8/Proof/Skeleton.h"

#include "llvm/Support/JSON.h"

namespace fp8::proof {

/// The skeleton as a JSON object. Expressions, parameters, channels, ends and
/// processes are arrays, and what refers to one of them has its number there.
llvm::json::Object toJSON(const Skeleton &skeleton);

} // namespace fp8::proof

#endif // FP8_PROOF_CERTIFICATE_H
