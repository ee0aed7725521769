// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the dialect's TableGen files say about its ops, types and attributes.

#ifndef FP8_TOOLS_LSP_DOCUMENTATION_H
#define FP8_TOOLS_LSP_DOCUMENTATION_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/LSP/Protocol.h"

#include <string>

namespace mlir::fp8::server {

/// The Markdown of a name as text spells it, "fp8.acquire", "!fp8.tile" or
/// "#fp8.gemm_config"; empty if the dialect has none of that name.
std::string getDocumentation(StringRef name);

/// The name of the dialect's that stands at the position; empty if none does.
std::string getNameAt(StringRef text, llvm::lsp::Position position);

} // namespace mlir::fp8::server

#endif // FP8_TOOLS_LSP_DOCUMENTATION_H
