// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sum of products in a GEMM: which elements are those of A, of B and of
// their scales.

#ifndef FP8_CONVERSION_LINALGTOFP8_PRODUCT_H
#define FP8_CONVERSION_LINALGTOFP8_PRODUCT_H

#include "Element.h"
#include "Refusal.h"

namespace mlir::fp8::fromlinalg {

/// What is read, as the operand of a GEMM op that has its axes in another
/// order: axis i of the operand is axis order[i] of the tensor or memref.
struct Operand {
  const Element *element = nullptr;
  SmallVector<int64_t, 3> order;

  explicit operator bool() const { return element; }
};

/// What is read for each operand of the GEMM op, as far as it is known.
class Operands {
public:
  Operand &operator[](gemm::Operand which) {
    return operands[static_cast<size_t>(which)];
  }
  const Operand &operator[](gemm::Operand which) const {
    return operands[static_cast<size_t>(which)];
  }
  operator ArrayRef<Operand>() const { return operands; }

private:
  std::array<Operand, gemm::kOperands> operands;
};

/// sum over k of A * a_scale * B * b_scale, added to `init`.
struct Product {
  linalg::LinalgOp op;
  /// 3 in a batch, else 2.
  int64_t rank = 0;
  Operands operands; ///< A, B and their scales
  int64_t bBlock = gemm::kDefaultBBlock;
  const Element *init = nullptr;
  /// The ops that compute it, but for `init`.
  OpSet ops;
};

/// The order in which `element`, which must be read, has the axes that are
/// asked for; none if it is read elsewhere.
std::optional<SmallVector<int64_t, 3>> getOrder(const Element *element,
                                                ArrayRef<AffineExpr> indices);

/// True if the op reduces products of f8 elements, so that it is worth a remark
/// if it is no GEMM. `product` then says what GEMM it is, or `refusal` why it
/// is none.
bool matchProduct(linalg::LinalgOp op, Tracer &tracer,
                  FailureOr<Product> &product, Refusal &refusal);

} // namespace mlir::fp8::fromlinalg

#endif // FP8_CONVERSION_LINALGTOFP8_PRODUCT_H
