// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Events as JSON, for the comparison with PTX (lib/ProofText).

#ifndef FP8_PROOF_EVENTJSON_H
#define FP8_PROOF_EVENTJSON_H

#include "fp8/Proof/Events.h"

#include "llvm/Support/JSON.h"

namespace fp8::proof {

/// The events as a JSON object. docs/Proof.md, "Down to the PTX", has its keys.
llvm::json::Object toJSON(const KernelEvents &events);

} // namespace fp8::proof

#endif // FP8_PROOF_EVENTJSON_H
