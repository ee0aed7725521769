// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The syntax `(%arg = %operand, ...) : types -> types { ... }` of ops whose
// region arguments are bound to operands.

#ifndef FP8_LIB_IR_BINDINGREGION_H
#define FP8_LIB_IR_BINDINGREGION_H

#include "fp8/IR/Fp8.h"

#include "mlir/IR/OpImplementation.h"

namespace mlir::fp8 {

/// Gives the type of the region argument that an operand of that type binds;
/// null if the operand's type is wrong.
using BindingTypeFn = function_ref<Type(Type)>;

/// Parses bindings, types, optional result types and the region into `result`.
/// `expected` names what may be bound, for errors.
ParseResult parseBindingRegion(OpAsmParser &parser, OperationState &result,
                               BindingTypeFn argumentType, StringRef expected);

/// Prints what parseBindingRegion reads.
void printBindingRegion(OpAsmPrinter &printer, Operation *op,
                        ValueRange operands, Region &body);

/// Adds the `fp8.yield` that the text left out to each region block without a
/// terminator.
void ensureYield(Region &body, Location loc);

/// Prints the attributes and the region; a bare `fp8.yield` at the end of a
/// single block is left out.
void printBody(OpAsmPrinter &printer, Operation *op, Region &body,
               ArrayRef<StringRef> elidedAttrs = {});

/// Checks that the region's arguments are those that the operands bind.
LogicalResult verifyBindingRegion(Operation *op, ValueRange operands,
                                  Region &body, BindingTypeFn argumentType,
                                  StringRef expected);

/// Checks that the last ops of the region have operands: verifiers of ops look
/// at those before the verifier of the whole does, and a reducer takes some
/// out.
LogicalResult verifyYieldedValues(Operation *op, Region &body);

/// Checks that the op stands in the entry block of a function; `label` names
/// the constraint.
LogicalResult verifyInEntryBlock(Operation *op, StringRef label);

/// Checks the body of an elementwise function: it yields one f32 (E2), and its
/// ops are those that a map has (E3, E4).
LogicalResult verifyElementwiseBody(Operation *op, Block &body);

/// The syntax `(%x) { ... }` of a function of one element.
ParseResult parseElementwise(OpAsmParser &parser, Region &body);
void printElementwise(OpAsmPrinter &printer, Operation *op, Region &body);

/// Checks that the results have the given types.
LogicalResult verifyResultTypes(Operation *op, ArrayRef<Type> expected,
                                StringRef what);

/// Checks an op that makes a ring: it stands in the entry block (P3) and yields
/// the ends of one ring, producers first (P1, P2). `what` names the ring, for
/// errors.
LogicalResult verifyRingEnds(Operation *op, function_ref<bool(Type)> isRing,
                             StringRef what);

/// The text of a product's registers: `accumulate(%sum : type)` or
/// `into(%old : type)`; nothing where the product has registers of its own.
ParseResult
parseRegisters(OpAsmParser &parser,
               std::optional<OpAsmParser::UnresolvedOperand> &registers,
               Type &type, UnitAttr &overwrites);
void printRegisters(OpAsmPrinter &printer, WarpgroupMmaOp op, Value registers,
                    Type type, UnitAttr overwrites);

} // namespace mlir::fp8

#endif // FP8_LIB_IR_BINDINGREGION_H
