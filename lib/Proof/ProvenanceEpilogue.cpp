// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is required of the epilogue: of what is added to a sum, of what is
// computed of it, and of its store.

#include "Provenance.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace ::fp8::proof;
using gemm::Operand;

//===----------------------------------------------------------------------===//
// What is added
//===----------------------------------------------------------------------===//

void Provenance::requireBare(ArrayRef<ExprId> product) {
  for (unsigned entry : {sum::Columns, sum::Bias, sum::Applied})
    requireEqual(product[entry], constant(0),
                 "a product must be added to its sum before anything is added "
                 "to it or computed of it");
}

void Provenance::requireIncomplete(ArrayRef<ExprId> label) {
  requireEqual(label[sum::Applied], constant(0),
               "all that a sum consists of must be added before 'fp8.map' "
               "computes with it");
}

void Provenance::walkAddend(Operation *op) {
  Label label(get(op->getOperand(0))), tile(get(op->getOperand(1)));
  requireIncomplete(label);
  if (auto add = dyn_cast<AddTileOp>(op)) {
    int64_t column = add.getColumn();
    requireOperand(tile, Operand::C, "the tile of the residual");
    requireFactor(add);
    place(label, tile[box::Batch], tile[box::M], offset(tile[box::N], -column),
          "a sum and its residual must have");
    requireEqual(label[sum::Columns], constant(column),
                 "the residual must be added to each column once");
    label[sum::Columns] =
        constant(column + add.getTile().getType().getShape()[1]);
  } else {
    requireOperand(tile, Operand::Bias, "the row of the bias");
    place(label, std::nullopt, std::nullopt, tile[box::N],
          "a sum and its bias must have");
    requireEqual(label[sum::Bias], constant(0), "the bias must be added once");
    label[sum::Bias] = constant(1);
  }
  set(op->getResult(0), std::move(label));
}

/// The residual is multiplied by beta, if the kernel takes one.
void Provenance::requireFactor(AddTileOp add) {
  static constexpr StringLiteral kRule =
      "the residual must be multiplied by 'beta' if the kernel takes it, and "
      "by nothing else";
  Value factor = add.getScale();
  bool isExpected = bool(factor) == gemm.has(Operand::Beta);
  require(isExpected && factor
              ? equal(get(factor)[box::Operand],
                      constant(static_cast<int64_t>(Operand::Beta)))
              : constant(isExpected),
          kRule);
}

bool Provenance::isBeta(Value value) {
  return value.getDefiningOp<memref::LoadOp>() &&
         get(value)[box::Operand] ==
             constant(static_cast<int64_t>(Operand::Beta));
}

/// Whether beta is 0, if the condition says whether it is. NaN is no 0.
std::optional<ExprId> Provenance::isBetaZero(arith::CmpFOp compared) {
  using P = arith::CmpFPredicate;
  auto isZero = [](Value value) {
    return matchPattern(value, m_AnyZeroFloat());
  };
  Value left = compared.getLhs(), right = compared.getRhs();
  if (isZero(left))
    std::swap(left, right);
  if (compared.getFastmath() != arith::FastMathFlags::none || !isBeta(left) ||
      !isZero(right))
    return std::nullopt;
  ExprId holds = expressions.get(compared);
  if (compared.getPredicate() == P::OEQ)
    return holds;
  if (compared.getPredicate() == P::UNE)
    return table.get(Expr::Not, {holds});
  return std::nullopt;
}

ExprId Provenance::mayLackResidual(RoleOp role) {
  ExprId holds = constant(0);
  llvm::DenseSet<Value> conditions;
  role.walk([&](arith::CmpFOp compared) {
    if (std::optional<ExprId> its = isBetaZero(compared)) {
      conditions.insert(compared);
      holds = table.get(Expr::Or, {holds, *its});
    }
  });
  // Another condition may say the same.
  role.walk([&](AddTileOp add) {
    for (Operation *op = add->getParentOp(); op != role; op = op->getParentOp())
      if (auto branch = dyn_cast<scf::IfOp>(op);
          isa<scf::IndexSwitchOp>(op) ||
          (branch && !conditions.contains(branch.getCondition())))
        holds = table.get(
            Expr::Or, {holds, table.getOpaque("whether 'beta' is 0", {},
                                              ::fp8::proof::Scope::Launch)});
  });
  return holds;
}

void Provenance::requireResidual(StoreOp store, ExprId columns) {
  if (!gemm.has(Operand::C))
    return requireEqual(columns, constant(0),
                        "the kernel takes no residual to add");
  ExprId none = equal(columns, constant(0)),
         all = equal(columns,
                     constant(store.getFragment().getType().getShape()[1]));
  require(table.get(Expr::Or, {none, all}),
          "the residual must be added to all columns or to none");
  ExprId mayLack = gemm.has(Operand::Beta)
                       ? mayLackResidual(store->getParentOfType<RoleOp>())
                       : constant(0);
  require(table.get(Expr::Or, {all, mayLack}),
          "the residual must be added unless 'beta' is 0");
}

//===----------------------------------------------------------------------===//
// What is computed
//===----------------------------------------------------------------------===//

/// The factor outside of the map's body, but no constant, by which the body
/// multiplies last; null if there is none.
static OpOperand *getLastFactor(MapOp map) {
  auto product = map.getBody()
                     .front()
                     .getTerminator()
                     ->getOperand(0)
                     .getDefiningOp<arith::MulFOp>();
  if (!product || !map->isProperAncestor(product))
    return nullptr;
  for (OpOperand &factor : product->getOpOperands())
    if (!map.getBody().isAncestor(factor.get().getParentRegion()) &&
        !matchPattern(factor.get(), m_Constant()))
      return &factor;
  return nullptr;
}

void Provenance::walkMap(MapOp map) {
  // What an op makes of one fragment, element by element, keeps its place.
  if (map.getInits().size() != 1)
    return;
  Label label(get(map.getInits().front()));
  ExprId applied = constant(sum::kFunction);
  if (gemm.has(Operand::DScale)) {
    static constexpr StringLiteral kOnce =
        "a sum must be multiplied by 'd_scale' once, and behind all else";
    ExprId scale = constant(static_cast<int64_t>(Operand::DScale));
    auto getOperand = [&](Value value) { return get(value)[box::Operand]; };
    auto mayBe = [&](ExprId operand, ExprId other) {
      return operand == other || table[operand].kind != Expr::Constant;
    };
    require(isNot(label[sum::Applied], constant(sum::kOutputScale)), kOnce);
    OpOperand *last = getLastFactor(map);
    if (last && getOperand(last->get()) == scale)
      applied = constant(sum::kOutputScale);
    // What else the body computes with the scale is not followed.
    map.getBody().walk([&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands())
        if (isa<FloatType>(operand.get().getType()) &&
            !map.getBody().isAncestor(operand.get().getParentRegion()) &&
            !matchPattern(operand.get(), m_Constant()) &&
            (&operand != last || applied == constant(sum::kFunction)) &&
            mayBe(getOperand(operand.get()), scale))
          applied = getUnknown(1).front();
    });
  }
  label[sum::Applied] = applied;
  set(map.getResult(), std::move(label));
}

//===----------------------------------------------------------------------===//
// What is stored
//===----------------------------------------------------------------------===//

void Provenance::requireScales(ArrayRef<ExprId> label, const Twine &what) {
  requireEqual(
      label[sum::IsScaled], constant(gemm.hasScales()),
      what + (gemm.hasScales() ? " must be scaled" : " must not be scaled"));
}

/// True if the kernel takes the result as an array, too: what TMA cannot store.
static bool takesRest(FunctionOpInterface function, const ComputedGemm &gemm) {
  return llvm::any_of(gemm.operands, [&](auto &entry) {
    auto &[argument, operand] = entry;
    return operand == Operand::D &&
           isa<MemRefType>(function.getArgument(argument).getType());
  });
}

void Provenance::walkStore(StoreOp store) {
  Label label(get(store.getFragment())),
      its = getBox(store.getMap(), store.getCoordinates());
  requireOperand(its, Operand::D, "the box of a store");
  requireScales(label, "what is stored");
  if (Value rest = store.getRest()) {
    std::optional<int64_t> argument = getArgument(rest);
    auto info = argument ? gemm.getOperand(*argument) : std::nullopt;
    require(constant(info && info->operand == Operand::D),
            "the rest of a store must go to 'd'");
  } else {
    require(constant(!takesRest(store->getParentOfType<FunctionOpInterface>(),
                                gemm)),
            "a store must have a 'rest' if the kernel takes 'd' as an array");
  }
  place(label, its[box::Batch], its[box::M], its[box::N],
        "a sum and the box that it is stored to must have");
  auto type = store.getFragment().getType();
  requireMapOfTile(store.getMap(), its, type.getShape()[0]);
  if (cluster.k > 1)
    requireShares(type, its);
  ExprId k = scale(getBlocks(), gemm::kScaleBlock);
  for (unsigned part = 0; part < getNumParts(type); ++part) {
    requireEqual(label[sum::First + 2 * part], constant(0),
                 "what is stored must add up K from its first element on");
    // Behind the end of K the tiles are zero.
    require(atLeast(label[sum::Next + 2 * part], k),
            "what is stored must add up all of K");
  }
  requireResidual(store, label[sum::Columns]);
  requireEqual(label[sum::Bias], constant(gemm.has(Operand::Bias)),
               "the bias must be added if the kernel has one");
  ExprId scale = constant(sum::kOutputScale);
  require(gemm.has(Operand::DScale) ? equal(label[sum::Applied], scale)
                                    : isNot(label[sum::Applied], scale),
          "a sum must be multiplied by 'd_scale' in 'fp8.map', as the last "
          "thing before its store, if the kernel takes 'd_scale'");
  setUnstored(0);
}
