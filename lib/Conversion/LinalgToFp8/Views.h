// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices through ops that give the same elements another shape.

#ifndef FP8_CONVERSION_LINALGTOFP8_VIEWS_H
#define FP8_CONVERSION_LINALGTOFP8_VIEWS_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Value.h"

namespace mlir::fp8::fromlinalg {

using Indices = SmallVector<AffineExpr, 4>;

/// What the value is a view of: the source of an expand_shape, collapse_shape,
/// transpose or cast, of memrefs or tensors, which has all elements of the view
/// and no other; null if it is none.
Value getViewSource(Value view);

/// The buffer behind all such views.
Value getBase(Value view);

/// Turns indices into a view into those of the same element in its source.
/// Fails if they depend on extents that are not static.
LogicalResult toSource(Value view, Indices &indices);

/// Turns indices into the base of a view into those of the same element in the
/// view. Fails as above.
LogicalResult fromBase(Value view, Indices &indices);

/// The expression, where a row put together again, 128 (x floordiv 128) +
/// x mod 128, is x.
AffineExpr simplify(AffineExpr expression);

} // namespace mlir::fp8::fromlinalg

#endif // FP8_CONVERSION_LINALGTOFP8_VIEWS_H
