// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host values as manifest expressions (not public).

#ifndef FP8_LIB_TARGET_MANIFESTEXPRESSIONS_H
#define FP8_LIB_TARGET_MANIFESTEXPRESSIONS_H

#include "fp8/Analysis/NonNegative.h"
#include "fp8/IR/Fp8.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/JSON.h"

namespace mlir::fp8 {

/// Writes values of one host function as expressions over the shapes and
/// strides of its arguments and over the device's properties.
class ManifestExpressions {
public:
  explicit ManifestExpressions(func::FuncOp host);

  /// The name of argument `index`, from `fp8.name`.
  StringRef getArgumentName(unsigned index) const { return names[index]; }

  /// `value`, an integer or index, as an expression. `user` is the op that
  /// needs it, for the note.
  FailureOr<llvm::json::Value> getExpression(Value value, Operation *user);

  /// The integer that `value` is at compile time; an error otherwise. `what`
  /// names it in that error.
  FailureOr<int64_t> getConstant(Value value, Operation *user, StringRef what);

  /// The function's memref argument that `value` is, through casts that change
  /// its type only.
  FailureOr<BlockArgument> getArgument(Value value, Operation *user);

  /// Size and stride (in elements) of a memref argument along `axis`.
  llvm::json::Value getDim(BlockArgument argument, int64_t axis) const;
  llvm::json::Value getStride(BlockArgument argument, int64_t axis) const;

  /// The rows of a map's matrices, and those of its boxes; `fits`: these have
  /// no more than a matrix (fp8.fit_rows).
  FailureOr<llvm::json::Value> getRows(TensorMapOp map);
  FailureOr<llvm::json::Value> getBoxRows(TensorMapOp map, bool fits);

private:
  FailureOr<llvm::json::Value> translateBoxBytes(BoxBytesOp op);
  FailureOr<llvm::json::Value> translate(Value value, Operation *user);
  bool isExact(Operation *op);
  FailureOr<llvm::json::Value> translateOperator(Operation *op);
  FailureOr<llvm::json::Value> translateMetadata(OpResult result);

  func::FuncOp host;
  SmallVector<std::string> names;
  /// Expressions are trees: a value used twice is written twice. The count of
  /// nodes bounds what a chain of such uses can grow to.
  int64_t nodes = 0;
  NonNegative nonNegative{/*asUnsigned=*/false}, unwrapped{/*asUnsigned=*/true};
};

} // namespace mlir::fp8

#endif // FP8_LIB_TARGET_MANIFESTEXPRESSIONS_H
