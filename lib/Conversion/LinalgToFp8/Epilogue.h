// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a GEMM does to the sum: residual, bias, an elementwise function, an
// output scale, the conversion to D's type.

#ifndef FP8_CONVERSION_LINALGTOFP8_EPILOGUE_H
#define FP8_CONVERSION_LINALGTOFP8_EPILOGUE_H

#include "Product.h"

#include "mlir/IR/Builders.h"

namespace mlir::fp8::fromlinalg {

/// D = round(d_scale * f(sum + beta * C + bias)), each part if it is there.
struct Epilogue {
  Operands operands; ///< those of the product, too
  /// f, null if it is the identity, and the element of which it is one.
  const Element *function = nullptr, *argument = nullptr;
  /// The ops that compute it.
  OpSet ops;
};

/// A place behind a product where its result is complete: the op that makes
/// it and the tensor or memref that it is in.
struct Result {
  Operation *end;
  Value target;
};

/// The product's own result and those of the elementwise ops that follow it,
/// one after the other.
SmallVector<Result> getResults(const Product &product, AliasAnalysis &aliases);

/// What was done to the sum of the product in an element of a result.
FailureOr<Epilogue> matchEpilogue(const Product &product,
                                  const Element *element, Refusal &refusal);

/// Makes the body of `map` for a function that was matched.
void buildFunction(OpBuilder &builder, Location location, Region &body,
                   const Epilogue &epilogue);

} // namespace mlir::fp8::fromlinalg

#endif // FP8_CONVERSION_LINALGTOFP8_EPILOGUE_H
