// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Edits that mend what the linearity check reports.

#ifndef FP8_TOOLS_LSP_REPAIRS_H
#define FP8_TOOLS_LSP_REPAIRS_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/LSP/Protocol.h"

#include <string>
#include <vector>

namespace mlir::fp8::server {

struct Repair {
  std::string title;
  std::vector<llvm::lsp::TextEdit> edits;
  /// The line of the error that it mends, from 0 on.
  int line;
  /// True if the check reports nothing any more once the edits are made.
  bool mendsAll;
};

/// Finds edits for the errors of the linearity check, or their notes, that
/// stand in `range` of a document: consuming a handle that leaks, or leaving
/// out an op that consumes it a second time. Each has been tried: it leaves
/// fewer errors. Empty where the document does not parse.
std::vector<Repair> findRepairs(const DialectRegistry &registry,
                                StringRef document, llvm::lsp::Range range);

} // namespace mlir::fp8::server

#endif // FP8_TOOLS_LSP_REPAIRS_H
