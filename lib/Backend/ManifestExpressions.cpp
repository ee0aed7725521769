// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host values as manifest expressions.

#include "ManifestExpressions.h"
#include "fp8/IR/Fp8.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fp8;
using llvm::json::Array;
using llvm::json::Object;

static constexpr int64_t maxNodes = 100000;

ManifestExpressions::ManifestExpressions(func::FuncOp host) : host(host) {
  for (unsigned index = 0; index < host.getNumArguments(); ++index) {
    auto name = host.getArgAttrOfType<StringAttr>(index, "fp8.name");
    names.push_back(name ? name.str() : "arg" + std::to_string(index));
  }
}

static InFlightDiagnostic reportUnexpressible(Operation *op, Operation *user) {
  InFlightDiagnostic error =
      isa<IsConstantOp>(op)
          ? op->emitOpError("is a parameter of its own in a launch manifest; "
                            "pass its result to the kernel as it is")
          : op->emitOpError(
                "cannot be expressed in a launch manifest; compute sizes "
                "by integer arithmetic from constants, the sizes and "
                "strides of memref arguments, and device properties");
  error.attachNote(user->getLoc()) << "needed by '" << user->getName() << "'";
  return error;
}

FailureOr<BlockArgument> ManifestExpressions::getArgument(Value value,
                                                          Operation *user) {
  while (auto cast = value.getDefiningOp<memref::CastOp>())
    value = cast.getSource();
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner() == &host.getBody().front() &&
      isa<MemRefType>(argument.getType()))
    return argument;
  if (Operation *op = value.getDefiningOp())
    return reportUnexpressible(op, user);
  return user->emitOpError("uses ")
         << value.getType()
         << ", which is not a memref argument of the host function";
}

llvm::json::Value ManifestExpressions::getDim(BlockArgument argument,
                                              int64_t axis) const {
  auto type = cast<MemRefType>(argument.getType());
  if (!type.isDynamicDim(axis))
    return type.getDimSize(axis);
  return Object{{"dim", Array{names[argument.getArgNumber()], axis}}};
}

llvm::json::Value ManifestExpressions::getStride(BlockArgument argument,
                                                 int64_t axis) const {
  auto [strides, offset] =
      cast<MemRefType>(argument.getType()).getStridesAndOffset();
  if (!ShapedType::isDynamic(strides[axis]))
    return strides[axis];
  return Object{{"stride", Array{names[argument.getArgNumber()], axis}}};
}

/// The manifest's operator for an arith op, or empty.
static StringRef getOperatorName(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    using arith::CmpIPredicate;
    switch (compare.getPredicate()) {
    case CmpIPredicate::eq:
      return "eq";
    case CmpIPredicate::ne:
      return "ne";
    case CmpIPredicate::slt:
    case CmpIPredicate::ult:
      return "lt";
    case CmpIPredicate::sle:
    case CmpIPredicate::ule:
      return "le";
    case CmpIPredicate::sgt:
    case CmpIPredicate::ugt:
      return "gt";
    case CmpIPredicate::sge:
    case CmpIPredicate::uge:
      return "ge";
    }
  }
  // The manifest's `and` and `or` are logical.
  if (isa<arith::AndIOp, arith::OrIOp>(op) &&
      !op->getResult(0).getType().isInteger(1))
    return "";
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<arith::AddIOp>([](auto) { return "add"; })
      .Case<arith::SubIOp>([](auto) { return "sub"; })
      .Case<arith::MulIOp>([](auto) { return "mul"; })
      .Case<arith::FloorDivSIOp, arith::DivSIOp, arith::DivUIOp>(
          [](auto) { return "floordiv"; })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>(
          [](auto) { return "ceildiv"; })
      .Case<arith::RemSIOp, arith::RemUIOp>([](auto) { return "rem"; })
      .Case<arith::MinSIOp, arith::MinUIOp>([](auto) { return "min"; })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([](auto) { return "max"; })
      .Case<arith::AndIOp>([](auto) { return "and"; })
      .Case<arith::OrIOp>([](auto) { return "or"; })
      .Case<arith::SelectOp>([](auto) { return "select"; })
      .Default([](Operation *) { return ""; });
}

/// Whether the op means what the manifest's operator computes with signed
/// integers that do not wrap, and rounds down. The manifest's conditions are 0
/// and 1.
bool ManifestExpressions::isExact(Operation *op) {
  if (isa<arith::AndIOp, arith::OrIOp, arith::SelectOp>(op))
    return true;
  if (op->getOperand(0).getType().isInteger(1)) {
    auto compare = dyn_cast<arith::CmpIOp>(op);
    return isa<arith::ExtUIOp, arith::IndexCastUIOp>(op) ||
           (compare && (compare.getPredicate() == arith::CmpIPredicate::eq ||
                        compare.getPredicate() == arith::CmpIPredicate::ne));
  }
  auto contains = [](NonNegative &numbers, Operation *op) {
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return numbers.contains(operand);
    });
  };
  if (isUnsigned(op))
    return contains(unwrapped, op);
  return !isa<arith::DivSIOp, arith::RemSIOp>(op) || contains(nonNegative, op);
}

FailureOr<llvm::json::Value>
ManifestExpressions::translateOperator(Operation *op) {
  Array operands;
  for (Value operand : op->getOperands()) {
    FailureOr<llvm::json::Value> expression = translate(operand, op);
    if (failed(expression))
      return failure();
    operands.push_back(std::move(*expression));
  }
  return llvm::json::Value(Object{{getOperatorName(op), std::move(operands)}});
}

/// A result of memref.extract_strided_metadata. The launcher passes the address
/// of element 0, so the offset is 0.
FailureOr<llvm::json::Value>
ManifestExpressions::translateMetadata(OpResult result) {
  auto op = cast<memref::ExtractStridedMetadataOp>(result.getOwner());
  FailureOr<BlockArgument> argument = getArgument(op.getSource(), op);
  if (failed(argument))
    return failure();
  int64_t rank = cast<MemRefType>(argument->getType()).getRank();
  int64_t index = static_cast<int64_t>(result.getResultNumber()) - 2;
  if (index < 0)
    return llvm::json::Value(int64_t(0));
  return index < rank ? getDim(*argument, index)
                      : getStride(*argument, index - rank);
}

FailureOr<llvm::json::Value> ManifestExpressions::getRows(TensorMapOp map) {
  if (Value rows = map.getRows())
    return getExpression(rows, map);
  FailureOr<BlockArgument> argument = getArgument(map.getSource(), map);
  if (failed(argument))
    return failure();
  return getDim(*argument, map.getMap().getType().getRank() - 2);
}

FailureOr<llvm::json::Value> ManifestExpressions::getBoxRows(TensorMapOp map,
                                                             bool fits) {
  // Those of a swizzle atom.
  constexpr int64_t kStep = 8;
  int64_t most = map.getMap().getType().getTile().getRows();
  if (!fits || most <= kStep)
    return llvm::json::Value(most);
  FailureOr<llvm::json::Value> rows = getRows(map);
  if (failed(rows))
    return failure();
  if (std::optional<int64_t> known = rows->getAsInteger())
    return llvm::json::Value(
        std::clamp<int64_t>(llvm::alignTo(*known, kStep), kStep, most));
  llvm::json::Value atoms = Object{{"ceildiv", Array{*rows, kStep}}};
  llvm::json::Value whole = Object{{"mul", Array{std::move(atoms), kStep}}};
  llvm::json::Value some = Object{{"max", Array{std::move(whole), kStep}}};
  return llvm::json::Value(Object{{"min", Array{std::move(some), most}}});
}

FailureOr<llvm::json::Value>
ManifestExpressions::translateBoxBytes(BoxBytesOp op) {
  auto fit = op.getMap().getDefiningOp<FitRowsOp>();
  auto map = (fit ? fit.getMap() : op.getMap()).getDefiningOp<TensorMapOp>();
  if (!map)
    return reportUnexpressible(op, op);
  FailureOr<llvm::json::Value> rows = getBoxRows(map, bool(fit));
  if (failed(rows))
    return failure();
  int64_t rowBytes = op.getMap().getType().getTile().getRowBytes();
  if (std::optional<int64_t> known = rows->getAsInteger())
    return llvm::json::Value(*known * rowBytes);
  return llvm::json::Value(Object{{"mul", Array{std::move(*rows), rowBytes}}});
}

FailureOr<llvm::json::Value> ManifestExpressions::translate(Value value,
                                                            Operation *user) {
  if (++nodes > maxNodes)
    return user->emitOpError("needs an expression of more than ")
           << maxNodes << " terms, too large for a launch manifest";
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) &&
      constant.isSignedIntN(64))
    return llvm::json::Value(value.getType().isInteger(1)
                                 ? int64_t(constant.getBoolValue())
                                 : constant.getSExtValue());
  Operation *op = value.getDefiningOp();
  if (!op)
    return host.emitOpError("computes the launch from its argument ")
           << names[cast<BlockArgument>(value).getArgNumber()] << " of type "
           << value.getType()
           << ", which a launch manifest cannot express; only sizes and "
              "strides of memref arguments can be used";
  bool isCast = isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
                    arith::ExtUIOp>(op);
  if ((isCast || !getOperatorName(op).empty()) && !isExact(op))
    return reportUnexpressible(op, user);
  if (isCast)
    return translate(op->getOperand(0), op);
  if (isa<memref::ExtractStridedMetadataOp>(op))
    return translateMetadata(cast<OpResult>(value));
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    std::optional<int64_t> axis = dim.getConstantIndex();
    if (!axis)
      return reportUnexpressible(op, user);
    FailureOr<BlockArgument> argument = getArgument(dim.getSource(), op);
    if (failed(argument))
      return failure();
    // MLIR verifies it not: such a size is undefined.
    int64_t rank = cast<MemRefType>(argument->getType()).getRank();
    if (*axis < 0 || *axis >= rank)
      return op->emitOpError("uses size ")
             << *axis << " of " << argument->getType() << ", whose rank is "
             << rank;
    return getDim(*argument, *axis);
  }
  if (auto bytes = dyn_cast<BoxBytesOp>(op))
    return translateBoxBytes(bytes);
  if (isa<MultiprocessorCountOp>(op))
    return llvm::json::Value(Object{{"device", "multiprocessor_count"}});
  if (!getOperatorName(op).empty())
    return translateOperator(op);
  return reportUnexpressible(op, user);
}

FailureOr<llvm::json::Value>
ManifestExpressions::getExpression(Value value, Operation *user) {
  nodes = 0;
  return translate(value, user);
}

FailureOr<int64_t>
ManifestExpressions::getConstant(Value value, Operation *user, StringRef what) {
  APInt constant;
  while (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return user->emitOpError("must have a constant ")
         << what << " to be written to a launch manifest";
}
