// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions of a kernel's integers and handles.

#include "Expressions.h"

#include "Poison.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace ::fp8::proof;
using ::fp8::proof::Parameter;

unsigned ProcessExpressions::makeVariable(Value value) {
  unsigned number = numVariables++;
  known[value] = table.getVariable(number);
  return number;
}

/// True if the op's result is the same whenever its operands are, for all
/// threads. Effects do not tell that: a shuffle, or text of an assembler, has
/// none. A load counts, since the proof takes for granted that what roles read
/// in order to decide does not change, unless the kernel changes it.
static bool isFunction(Operation *op) {
  return op && op->getNumResults() == 1 && op->getNumOperands() &&
         (isa_and_present<arith::ArithDialect, math::MathDialect>(
              op->getDialect()) ||
          isa<memref::LoadOp>(op));
}

SmallVector<Value> mlir::fp8::getSources(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (auto handler = dyn_cast<HandleOpInterface>(op))
    for (OpOperand &operand : op->getOpOperands())
      if (handler.getContinuation(operand) == value)
        return {operand.get()};
  if (isFunction(op))
    return SmallVector<Value>(op->getOperands());
  return {};
}

Value mlir::fp8::getOutside(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto role = argument && argument.getOwner()->isEntryBlock()
                  ? dyn_cast<RoleOp>(argument.getOwner()->getParentOp())
                  : RoleOp();
  return role ? role.getInits()[argument.getArgNumber()] : value;
}

bool mlir::fp8::mayChange(Value array) {
  array = getOutside(array);
  if (!isa<BlockArgument>(array) ||
      !isa<FunctionOpInterface>(array.getParentBlock()->getParentOp()))
    return true;
  auto changes = [](OpOperand &use) {
    auto role = dyn_cast<RoleOp>(use.getOwner());
    if (!role)
      return !isa<memref::LoadOp, memref::DimOp, LoadElementOp>(use.getOwner());
    Value inside = role.getBody().getArgument(use.getOperandNumber());
    return !llvm::all_of(inside.getUsers(),
                         llvm::IsaPred<memref::LoadOp, memref::DimOp>);
  };
  return llvm::any_of(array.getUses(), changes);
}

ExprId ProcessExpressions::get(Value value) {
  auto it = known.find(value);
  if (it != known.end())
    return it->second;
  ExprId id = compute(value);
  known[value] = id;
  return id;
}

/// Nothing is known of the value, which each thread may see another of.
ExprId ProcessExpressions::makeUnknown(Value value) {
  std::string name;
  llvm::raw_string_ostream stream(name);
  Operation *op = value.getDefiningOp();
  stream << (op ? op->getName().getStringRef() : "a block argument") << " ("
         << table.getNames().size() << ')';
  return table.getOpaque(name, {}, Scope::Thread);
}

ExprId ProcessExpressions::makeOpaque(Value value) {
  SmallVector<ExprId> operands;
  std::string name;
  llvm::raw_string_ostream stream(name);
  Operation *op = value.getDefiningOp();
  auto load = dyn_cast_or_null<memref::LoadOp>(op);
  if (!isFunction(op) || mayBePoison(op) ||
      (load && mayChange(load.getMemRef())))
    return makeUnknown(value);
  for (Value operand : op->getOperands())
    operands.push_back(get(operand));
  stream << op->getName().stripDialect();
  for (NamedAttribute attribute : op->getAttrs())
    stream << ' ' << attribute.getValue();
  // Casts that keep a number are not seen, so that one number may have several
  // types.
  if (!isa<memref::LoadOp>(op))
    stream << " of " << op->getOperand(0).getType() << " to "
           << value.getType();
  return table.getOpaque(name, operands, Scope::Launch,
                         /*isData=*/isa<memref::LoadOp>(op));
}

static ExprId negate(ExprTable &table, ExprId id) {
  return table.get(ExprKind::Multiply, {id, table.getConstant(-1)});
}

/// A condition on the values in the order of the predicate, of which signed and
/// unsigned ones are alike.
static ExprId compare(ExprTable &table, arith::CmpIPredicate predicate,
                      ExprId left, ExprId right) {
  using P = arith::CmpIPredicate;
  auto invert = [&](ExprId id) { return table.get(ExprKind::Not, {id}); };
  switch (predicate) {
  case P::eq:
    return table.get(ExprKind::Equal, {left, right});
  case P::ne:
    return invert(table.get(ExprKind::Equal, {left, right}));
  case P::slt:
  case P::ult:
    return table.get(ExprKind::Less, {left, right});
  case P::sge:
  case P::uge:
    return invert(table.get(ExprKind::Less, {left, right}));
  case P::sgt:
  case P::ugt:
    return table.get(ExprKind::Less, {right, left});
  case P::sle:
  case P::ule:
    return invert(table.get(ExprKind::Less, {right, left}));
  }
  llvm_unreachable("all predicates are handled");
}

/// What a constant does to single bits of a number, and shifts by a constant,
/// are sums of products, quotients and remainders. Quotients are rounded down:
/// a negative number has the bits of its two's complement.
std::optional<ExprId> ProcessExpressions::computeBits(Operation *op) {
  APInt bits;
  if (op->getNumOperands() != 2 ||
      !matchPattern(op->getOperand(1), m_ConstantInt(&bits)))
    return std::nullopt;
  ExprId number = get(op->getOperand(0));
  auto by = [&](ExprKind kind, ExprId id, int64_t factor) {
    return table.get(kind, {id, table.getConstant(factor)});
  };
  constexpr unsigned kMostBits = 40;
  bool isAnd = isa<arith::AndIOp>(op), isOr = isa<arith::OrIOp>(op);
  if (isAnd && bits.isMask() && bits.getActiveBits() <= kMostBits &&
      bits.getActiveBits() < getWidth(op->getResult(0).getType()))
    return by(ExprKind::Remainder, number, bits.getZExtValue() + 1);
  if (isAnd && bits.isNegatedPowerOf2() &&
      (-bits).getActiveBits() <= kMostBits) {
    int64_t unit = (-bits).getZExtValue();
    return by(ExprKind::Multiply, by(ExprKind::FloorDivide, number, unit),
              unit);
  }
  if (isAnd || isOr || isa<arith::XOrIOp>(op)) {
    if (!bits.isStrictlyPositive() || !bits.isPowerOf2() ||
        bits.getActiveBits() > kMostBits)
      return std::nullopt;
    int64_t unit = bits.getZExtValue();
    ExprId bit =
        by(ExprKind::Remainder, by(ExprKind::FloorDivide, number, unit), 2);
    if (isAnd)
      return by(ExprKind::Multiply, bit, unit);
    ExprId with = by(ExprKind::Add, number, unit);
    return table.get(ExprKind::Add, {with, by(ExprKind::Multiply, bit,
                                              isOr ? -unit : -2 * unit)});
  }
  if (bits.ugt(kMostBits))
    return std::nullopt;
  int64_t factor = int64_t(1) << bits.getZExtValue();
  if (isa<arith::ShLIOp>(op))
    return by(ExprKind::Multiply, number, factor);
  if (isa<arith::ShRUIOp, arith::ShRSIOp>(op))
    return by(ExprKind::FloorDivide, number, factor);
  return std::nullopt;
}

/// Of a dividend that may be negative. The quotient is cut off towards zero,
/// and the remainder has the dividend's sign.
ExprId ProcessExpressions::divideTowardsZero(Operation *op, ExprKind kind) {
  ExprId dividend = get(op->getOperand(0)), divisor = get(op->getOperand(1));
  if (isUnsigned(op) || nonNegative.contains(op->getOperand(0)))
    return table.get(kind, {dividend, divisor});
  ExprId ofOpposite = table.get(kind, {negate(table, dividend), divisor});
  return table.get(ExprKind::Select,
                   {table.get(ExprKind::Less, {dividend, table.getConstant(0)}),
                    negate(table, ofOpposite),
                    table.get(kind, {dividend, divisor})});
}

/// Ops on numbers of one bit: conditions. 1 is -1 to a signed op.
std::optional<ExprId> ProcessExpressions::computeBool(Operation *op) {
  ExprId first = get(op->getOperand(0)),
         second = op->getNumOperands() > 1 ? get(op->getOperand(1)) : first;
  auto binary = [&](ExprKind kind) { return table.get(kind, {first, second}); };
  return llvm::TypeSwitch<Operation *, std::optional<ExprId>>(op)
      .Case<arith::AndIOp>([&](auto) { return binary(ExprKind::And); })
      .Case<arith::OrIOp>([&](auto) { return binary(ExprKind::Or); })
      // One of the two: not equal.
      .Case<arith::XOrIOp>([&](auto) {
        return table.get(ExprKind::Not, {binary(ExprKind::Equal)});
      })
      .Case([&](arith::CmpIOp compared) {
        if (!isUnsigned(op))
          std::swap(first, second);
        return compare(table, compared.getPredicate(), first, second);
      })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>([&](auto) { return first; })
      .Case<arith::ExtSIOp, arith::IndexCastOp>(
          [&](auto) { return negate(table, first); })
      .Default([](Operation *) { return std::nullopt; });
}

/// True if the result may lack bits of what is counted in a launch: a cast
/// drops them, and arithmetic wraps.
static bool losesBits(Operation *op) {
  Type type = op->getResult(0).getType();
  return !isa<arith::SelectOp>(op) && type.isInteger() && !type.isInteger(1) &&
         isNarrow(type);
}

ExprId ProcessExpressions::computeArith(Operation *op) {
  // No op makes anything of poison.
  if (poisoned.contains(op->getResult(0)))
    return makeUnknown(op->getResult(0));
  auto select = dyn_cast<arith::SelectOp>(op);
  if (!select && op->getOperand(0).getType().isInteger(1)) {
    std::optional<ExprId> id = computeBool(op);
    return id ? *id : makeOpaque(op->getResult(0));
  }
  bool isUnwrapped = llvm::all_of(op->getOperands(), [&](Value operand) {
    return unwrapped.contains(operand);
  });
  if (losesBits(op) || (isUnsigned(op) && !isUnwrapped))
    return makeOpaque(op->getResult(0));
  // Nothing is known of quotients by what may be negative.
  if (isa<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp,
          arith::CeilDivSIOp>(op) &&
      !nonNegative.contains(op->getOperand(1)))
    return makeOpaque(op->getResult(0));
  auto binary = [&](ExprKind kind) {
    return table.get(kind, {get(op->getOperand(0)), get(op->getOperand(1))});
  };
  return llvm::TypeSwitch<Operation *, ExprId>(op)
      .Case<arith::AddIOp>([&](auto) { return binary(ExprKind::Add); })
      .Case<arith::MulIOp>([&](auto) { return binary(ExprKind::Multiply); })
      .Case<arith::SubIOp>([&](auto) {
        return table.get(
            ExprKind::Add,
            {get(op->getOperand(0)), negate(table, get(op->getOperand(1)))});
      })
      .Case<arith::DivUIOp, arith::DivSIOp>(
          [&](auto) { return divideTowardsZero(op, ExprKind::FloorDivide); })
      .Case<arith::FloorDivSIOp>(
          [&](auto) { return binary(ExprKind::FloorDivide); })
      .Case<arith::CeilDivUIOp, arith::CeilDivSIOp>([&](auto) {
        ExprId up = table.get(
            ExprKind::FloorDivide,
            {negate(table, get(op->getOperand(0))), get(op->getOperand(1))});
        return negate(table, up);
      })
      .Case<arith::RemUIOp, arith::RemSIOp>(
          [&](auto) { return divideTowardsZero(op, ExprKind::Remainder); })
      .Case<arith::MinUIOp, arith::MinSIOp>(
          [&](auto) { return binary(ExprKind::Minimum); })
      .Case<arith::MaxUIOp, arith::MaxSIOp>(
          [&](auto) { return binary(ExprKind::Maximum); })
      .Case([&](arith::CmpIOp compared) {
        return compare(table, compared.getPredicate(), get(op->getOperand(0)),
                       get(op->getOperand(1)));
      })
      .Case([&](arith::CmpFOp compared) {
        // Two predicates read no number.
        arith::CmpFPredicate predicate = compared.getPredicate();
        bool isTrue = predicate == arith::CmpFPredicate::AlwaysTrue;
        return isTrue || predicate == arith::CmpFPredicate::AlwaysFalse
                   ? table.getConstant(isTrue)
                   : makeOpaque(op->getResult(0));
      })
      .Case([&](arith::SelectOp select) {
        return table.get(ExprKind::Select, {get(select.getCondition()),
                                            get(select.getTrueValue()),
                                            get(select.getFalseValue())});
      })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtUIOp,
            arith::ExtSIOp, arith::TruncIOp>([&](auto) {
        ExprId its = get(op->getOperand(0));
        if (!op->getResult(0).getType().isInteger(1))
          return its;
        return table.get(ExprKind::Remainder, {its, table.getConstant(2)});
      })
      .Default([&](Operation *) {
        std::optional<ExprId> id = computeBits(op);
        return id ? *id : makeOpaque(op->getResult(0));
      });
}

ExprId ProcessExpressions::getArgument(int64_t number) {
  auto multiple = multiples.find(number);
  bool isMultiple = multiple != multiples.end() && multiple->second > 1;
  std::string name = ("argument " + Twine(number)).str();
  if (isMultiple)
    name += " / " + std::to_string(multiple->second);
  ExprId parameter =
      table.getParameter({name, Scope::Launch, 0, std::nullopt, std::nullopt});
  if (!isMultiple)
    return parameter;
  return table.get(ExprKind::Multiply,
                   {parameter, table.getConstant(multiple->second)});
}

ExprId ProcessExpressions::getExtent(int64_t argument, int64_t axis) {
  if (auto it = extents.find({argument, axis}); it != extents.end())
    return it->second;
  return table.getParameter(
      {("extent " + Twine(axis) + " of argument " + Twine(argument)).str(),
       Scope::Launch, 0, std::nullopt, std::nullopt});
}

ExprId ProcessExpressions::getBound(scf::ForOp loop, Value bound) {
  if (loop.getUnsignedCmp() && !nonNegative.contains(bound))
    return table.getOpaque("a bound of an unsigned loop, which may be negative",
                           {}, Scope::Thread);
  return get(bound);
}

ExprId ProcessExpressions::compute(Value value) {
  APInt constant;
  Attribute other;
  // What is beyond that no launch counts, and sums of it could wrap here.
  constexpr unsigned kMostBits = 41;
  if (matchPattern(value, m_ConstantInt(&constant)) &&
      constant.isSignedIntN(value.getType().isIndex() ? 32 : kMostBits))
    return table.getConstant(constant.getBitWidth() == 1
                                 ? constant.getZExtValue()
                                 : constant.getSExtValue());
  // Signed and unsigned ops take such an index for two numbers.
  if (value.getType().isIndex() && matchPattern(value, m_Constant()))
    return makeUnknown(value);
  if (matchPattern(value, m_Constant(&other))) {
    std::string text;
    llvm::raw_string_ostream(text) << other;
    return table.getOpaque(text, {}, Scope::Launch);
  }
  Operation *op = value.getDefiningOp();
  if (!op) {
    auto argument = cast<BlockArgument>(value);
    if (isa<FunctionOpInterface>(argument.getOwner()->getParentOp()) &&
        !value.getType().isIntOrIndex())
      return table.getOpaque(
          ("argument " + Twine(argument.getArgNumber())).str(), {},
          Scope::Launch);
    if (isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
      return getArgument(argument.getArgNumber());
    return makeOpaque(value);
  }
  if (op->getNumResults() == 1 &&
      isa_and_present<arith::ArithDialect>(op->getDialect()))
    return computeArith(op);
  if (auto handler = dyn_cast<HandleOpInterface>(op))
    for (OpOperand &operand : op->getOpOperands())
      if (handler.getContinuation(operand) == value)
        return get(operand.get());
  if (std::optional<ExprId> shape = computeShape(op))
    return *shape;
  return llvm::TypeSwitch<Operation *, ExprId>(op)
      .Case([&](memref::DimOp dim) -> ExprId {
        auto argument = dyn_cast<BlockArgument>(getOutside(dim.getSource()));
        std::optional<int64_t> index = dim.getConstantIndex();
        if (!argument || !index ||
            !isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
          return makeOpaque(value);
        return getExtent(argument.getArgNumber(), *index);
      })
      .Default([&](Operation *) { return makeOpaque(value); });
}
