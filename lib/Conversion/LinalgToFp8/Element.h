// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One element of a tensor or buffer as an expression of what it was computed
// from, so that named ops, generics and reshapes are all one form.

#ifndef FP8_CONVERSION_LINALGTOFP8_ELEMENT_H
#define FP8_CONVERSION_LINALGTOFP8_ELEMENT_H

#include "Views.h"

#include "fp8/IR/GemmOperands.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SetVector.h"

#include <deque>

namespace mlir {
class AliasAnalysis;
} // namespace mlir

namespace mlir::fp8::fromlinalg {

/// The axes of a product. All indices are affine expressions of these
/// dimensions.
enum Axis : unsigned { kBatch, kRow, kColumn, kDepth };

/// Where the GEMM op reads or writes the element of an operand that belongs to
/// m, n and k: [k floordiv 128, m] of a_scale. `rank` is 3 in a batch, where
/// those of batched operands come after l; else it is 2.
Indices getIndices(const gemm::OperandInfo &operand, int64_t rank,
                   MLIRContext *context);

/// The same of D: m and n, in a batch after l.
Indices getResultIndices(int64_t rank, MLIRContext *context);

/// An element: a node of an expression.
struct Element {
  enum class Kind {
    Read,     ///< read of a tensor or memref whose contents are given
    Constant, ///< the same number everywhere
    Compute,  ///< by an op of one result, from other elements
    Opaque,   ///< anything else
  };
  Kind kind;
  Type type;
  /// Read: the tensor or memref, and where it is read.
  Value value;
  Indices indices;
  /// Read: the op that wrote it last, null if that is not known.
  Operation *writer = nullptr;
  /// Read: the op that reads it. Compute, Opaque: the op in the body.
  Operation *op = nullptr;
  Attribute constant;
  SmallVector<const Element *, 3> operands;
  /// The elementwise ops that were looked through to find it.
  SmallVector<Operation *, 2> through;
  /// Compute, Opaque: the same as a read of what it was stored in, if it was.
  Element *stored = nullptr;

  /// True for a computation by that op.
  template <typename OpTy>
  bool is() const {
    return kind == Kind::Compute && isa<OpTy>(op);
  }
  bool isRead() const { return kind == Kind::Read; }
  bool isConstant(double number) const;
  /// That of the op; in the body of a named op, that of the named op.
  Location getLoc() const;
};

/// True for the types of eight bits, whichever it is.
bool isFloat8(Type type);

/// True if both are the same expression of the same elements.
bool areEqual(const Element *left, const Element *right);

/// Ops in the order in which they were found.
using OpSet = llvm::SetVector<Operation *>;

/// The read that gives the element: within extensions, which are exact, or of
/// what it is stored in; null if there is none. Adds the ops looked through.
const Element *getRead(const Element *element, OpSet &ops);

/// Calls `visit` with the element and all that it was computed from.
void walk(const Element *element,
          llvm::function_ref<void(const Element *)> visit);

/// Writes indices in l, m, n and k, as in [m, k floordiv 128].
std::string print(ArrayRef<AffineExpr> indices);

/// The op that writes all of one buffer or tensor, each element from elements
/// of others: a linalg op of parallel loops, or a copy.
bool isElementwise(Operation *op);

/// The tensor that the elementwise op or reduction makes, or the memref that
/// it writes.
Value getTarget(Operation *op);

/// The indices of an element in what the op writes, of those in a tensor, or in
/// a memref that is no view. None if it does not write all of that.
std::optional<Indices> getWritten(linalg::LinalgOp op, Value source,
                                  Indices indices);

/// Looks through elementwise ops for what elements were computed from.
class Tracer {
public:
  explicit Tracer(AliasAnalysis &aliases) : aliases(aliases) {}

  /// The element of a tensor, or of a memref as it is before `reader`.
  Element *read(Value source, Indices indices, Operation *reader);

  /// A value of the body of `op`, in the iteration with those loop indices.
  Element *evaluate(Value scalar, linalg::LinalgOp op,
                    ArrayRef<AffineExpr> iteration);

  /// The loop indices of the iteration of `op` that writes the element read;
  /// those of reductions are null. None if it does not write all of what is
  /// read, each element once or in sum.
  std::optional<Indices> getIteration(linalg::LinalgOp op, Value source,
                                      const Indices &indices);

private:
  Element *readStored(Value source, const Indices &indices, Operation *reader,
                      Operation *writer);
  Element *readWritten(Value source, const Indices &indices, Operation *writer);
  Operation *findWriter(Value source, Operation *reader);
  Element *create(Element::Kind kind, Type type, Operation *op);

  AliasAnalysis &aliases;
  std::deque<Element> elements;
};

} // namespace mlir::fp8::fromlinalg

#endif // FP8_CONVERSION_LINALGTOFP8_ELEMENT_H
