// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the patterns that spell ops share. They hold no state: what an op
// depends on is in the IR.

#ifndef FP8_LIB_CONVERSION_FP8TONVVM_LOWERING_H
#define FP8_LIB_CONVERSION_FP8TONVVM_LOWERING_H

#include "../FunctionPattern.h"
#include "Instructions.h"
#include "fp8/IR/Fp8.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::fp8 {

/// Which thread of its role this is. The values dominate the role's body.
struct RoleValues {
  Value leader; ///< i1: true in one lane of each warp, always the same one
  Value warp;   ///< i32: the warp's number within the role
  Value lane;   ///< i32: 0..31
  bool promotes = false; ///< it adds up over K blocks in registers
};

/// The thread of the role that the op is in: what its fp8.role_thread says,
/// which is converted behind all other ops.
RoleValues getRole(Operation *op);

/// True if the op uses getRole.
bool needsRole(Operation *op);

/// Makes branches on the warp's number of roles, and lets those that hold
/// fragments take registers. Behind this the kernel has no op of fp8.
void lowerRoles(FunctionOpInterface kernel);

/// Gives each promotion a view of its A scales that is its own, where the tile
/// and the row's number are there: that is often before the wait for the
/// accumulator, which then hides the loads behind the view. So their place
/// does not depend on the order in which promotions are lowered.
void separateScaleViews(FunctionOpInterface kernel);

/// Moves what was computed for the operands of each fp8.compute_here alone in
/// front of it, and erases it.
void placeComputations(FunctionOpInterface kernel);

/// A pattern with 1:N operands.
template <typename OpT>
class KernelPattern : public OpConversionPattern<OpT> {
public:
  using OpConversionPattern<OpT>::OpConversionPattern;
  using Adaptor = typename OpConversionPattern<OpT>::OneToNOpAdaptor;

  LogicalResult
  matchAndRewrite(OpT op, Adaptor operands,
                  ConversionPatternRewriter &rewriter) const final {
    return lower(op, operands, rewriter);
  }

protected:
  virtual LogicalResult lower(OpT op, Adaptor operands,
                              ConversionPatternRewriter &rewriter) const = 0;
};

/// The patterns of ops that are spelt by one function each.
struct SpellingPatterns {
  /// `spell(op, operands, instructions)` returns what the results become: void
  /// if there are none, a Value, a pair of them, or the parts of one result.
  template <typename OpT, typename Fn>
  void add(Fn spell) {
    auto lower = [spell](OpT op, Operands<OpT> operands,
                         ConversionPatternRewriter &rewriter) -> Results {
      Instructions to(rewriter, op.getLoc());
      if constexpr (OpT::template hasTrait<::mlir::OpTrait::ZeroResults>()) {
        spell(op, operands, to);
        return {};
      } else {
        return toResults(spell(op, operands, to));
      }
    };
    patterns.add<FunctionPattern<OpT, decltype(lower)>>(
        converter, patterns.getContext(), lower);
  }

  static Results toResults(Value value) { return {{value}}; }
  static Results toResults(std::pair<Value, Value> values) {
    return {{values.first}, {values.second}};
  }
  static Results toResults(SmallVector<Value> parts) {
    return {std::move(parts)};
  }

  const TypeConverter &converter;
  RewritePatternSet &patterns;
};

#define FP8_DECLARE_POPULATE(FAMILY)                                           \
  void populate##FAMILY##Patterns(const TypeConverter &converter,              \
                                  RewritePatternSet &patterns);
FP8_DECLARE_POPULATE(Add)
FP8_DECLARE_POPULATE(Barrier)
FP8_DECLARE_POPULATE(Exchange)
FP8_DECLARE_POPULATE(Fragment)
FP8_DECLARE_POPULATE(Promote)
FP8_DECLARE_POPULATE(Store)
FP8_DECLARE_POPULATE(Tile)
FP8_DECLARE_POPULATE(Warpgroup)
#undef FP8_DECLARE_POPULATE

} // namespace mlir::fp8

#endif // FP8_LIB_CONVERSION_FP8TONVVM_LOWERING_H
