// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Why a computation is left as it is.

#ifndef FP8_CONVERSION_LINALGTOFP8_REFUSAL_H
#define FP8_CONVERSION_LINALGTOFP8_REFUSAL_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/Twine.h"

namespace mlir::fp8::fromlinalg {

/// The first reason, and where its causes are.
struct Refusal {
  std::string reason;
  SmallVector<std::pair<Location, std::string>, 2> notes;

  /// Gives the reason and fails, as a step of a match does.
  LogicalResult because(const llvm::Twine &text) {
    reason = text.str();
    return failure();
  }
  LogicalResult because(const llvm::Twine &text, Location location,
                        const llvm::Twine &note) {
    notes.emplace_back(location, note.str());
    return because(text);
  }

  /// Says it in a remark that begins with `what`.
  void emit(Location location, const llvm::Twine &what) const {
    InFlightDiagnostic remark = emitRemark(location) << what << ": " << reason;
    for (const auto &[where, text] : notes)
      remark.attachNote(where) << text;
  }
};

} // namespace mlir::fp8::fromlinalg

#endif // FP8_CONVERSION_LINALGTOFP8_REFUSAL_H
