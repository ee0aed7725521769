// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the proof says about a document, as an editor shows it.

#ifndef FP8_TOOLS_LSP_PROOFDIAGNOSTICS_H
#define FP8_TOOLS_LSP_PROOFDIAGNOSTICS_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/JSON.h"

namespace mlir::fp8::server {

/// Proves the kernels of a document that verifies. Returns LSP diagnostics: an
/// error for each refuted kernel, and information for each of which it is not
/// known, with the notes as related places. Parts that `// -----` divides are
/// modules of their own. A part that does not verify or cannot be lowered is
/// left out.
llvm::json::Array getProofDiagnostics(const DialectRegistry &registry,
                                      StringRef document, StringRef uri);

} // namespace mlir::fp8::server

#endif // FP8_TOOLS_LSP_PROOFDIAGNOSTICS_H
