// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Labels of values.

#include "Provenance.h"

#include "SlotContents.h"
#include "fp8/IR/RegisterLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace ::fp8::proof;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

bool Provenance::hasElements(TileType tile) {
  constexpr int64_t kMostElements = 16;
  return tile.getShape()[0] == 1 && tile.getShape()[1] <= kMostElements;
}

unsigned Provenance::getNumElements(TileType tile) {
  return hasElements(tile) ? tile.getShape()[1] : 1;
}

unsigned Provenance::getNumParts(FragmentType type) {
  return type.getRegisterLayout().getExtent(RegisterLayout::Unit::Part);
}

unsigned Provenance::getOffset(PipelineType ring, StringRef name) {
  unsigned offset = 0;
  for (auto [other, tile] : llvm::zip(ring.getNames(), ring.getTiles())) {
    if (other.getValue() == name)
      break;
    offset += box::Size * getNumElements(tile);
  }
  return offset;
}

/// A pair's tiles are read together, as are its accumulators written.
static unsigned getHalves(Type stage) {
  if (auto its = dyn_cast<ConsumerStageType>(stage))
    if (auto ring = dyn_cast<PipelineType>(its.getRing()))
      return ring.getCtaGroup();
  if (auto its = dyn_cast<MmaStageType>(stage))
    return its.getRing().getCtaGroup();
  return 1;
}

unsigned Provenance::getFirstField(Type stage) const {
  std::optional<int64_t> inPair = expressions.getInPair();
  if (!inPair.value_or(0))
    return 0;
  if (auto its = dyn_cast<ProducerStageType>(stage))
    if (auto ring = dyn_cast<PipelineType>(its.getRing()))
      return ring.getCtaGroup() == 2 ? getOffset(ring, "") : 0;
  if (auto its = dyn_cast<EpilogueStageType>(stage))
    return its.getRing().getCtaGroup() == 2 ? sum::Size : 0;
  return 0;
}

unsigned Provenance::getSize(Type type) const {
  auto ofFragment = [](FragmentType fragment) {
    return sum::Size + 2 * (getNumParts(fragment) - 1);
  };
  return llvm::TypeSwitch<Type, unsigned>(type)
      .Case([](FloatType) { return element::Size; })
      .Case([&](FragmentType fragment) { return ofFragment(fragment); })
      .Case([&](PendingType pending) {
        return ofFragment(pending.getFragment());
      })
      .Case<ProducerStageType, ConsumerStageType>([](auto stage) -> unsigned {
        auto ring = dyn_cast<PipelineType>(stage.getRing());
        return ring ? getHalves(stage) * getOffset(ring, "") : 0;
      })
      .Case<MmaStageType, EpilogueStageType>(
          [](auto stage) -> unsigned { return getHalves(stage) * sum::Size; })
      .Default([](Type) { return 0; });
}

/// The select that chooses a map; null if the map is none's choice.
static arith::SelectOp getChoice(Value map) {
  return isa<TensorMapType>(map.getType())
             ? map.getDefiningOp<arith::SelectOp>()
             : arith::SelectOp();
}

SmallVector<Value> Provenance::getIntegers(Operation *op) const {
  SmallVector<Value> integers;
  if (follows(op))
    for (Value operand : op->getOperands())
      if (arith::SelectOp choice = getChoice(operand))
        integers.push_back(choice.getCondition());
  if (auto load = dyn_cast<LoadElementOp>(op); load && load.getExists())
    integers.push_back(load.getExists());
  auto select = dyn_cast<arith::SelectOp>(op);
  if (follows(op) || isa<memref::LoadOp>(op) ||
      (select && getSize(select.getType())))
    for (Value operand : op->getOperands())
      if (operand.getType().isIntOrIndex())
        integers.push_back(operand);
  return integers;
}

//===----------------------------------------------------------------------===//
// Several producers
//===----------------------------------------------------------------------===//

/// The tiles that a role fills, with the types of their rings.
static llvm::DenseSet<std::pair<Type, StringRef>> getFilledTiles(RoleOp role) {
  llvm::DenseSet<std::pair<Type, StringRef>> tiles;
  auto add = [&](Value stage, StringRef tile) {
    tiles.insert({getRingOf(stage.getType()), tile});
  };
  role.walk([&](Operation *op) {
    if (auto load = dyn_cast<TmaLoadOp>(op))
      add(load.getStage(), load.getName());
    else if (auto load = dyn_cast<LoadElementOp>(op))
      add(load.getStage(), load.getName());
    else if (auto copy = dyn_cast<TmaCopyOp>(op))
      if (auto tile = copy.getTile().getDefiningOp<TileOp>())
        add(tile.getStage(), tile.getName());
  });
  return tiles;
}

std::optional<StringRef> Provenance::findProducers(RoleOp role) {
  auto getFilledRings = [](RoleOp its) {
    llvm::DenseMap<Operation *, Type> rings;
    for (Value end : its.getInits())
      if (auto type = dyn_cast<EndTypeInterface>(end.getType());
          type && type.isProducer())
        rings[end.getDefiningOp()] = type.getRing();
    return rings;
  };
  auto mine = getFilledRings(role);
  for (RoleOp other : role->getBlock()->getOps<RoleOp>()) {
    if (other == role)
      continue;
    auto tiles = getFilledTiles(other);
    for (auto [maker, ring] : getFilledRings(other))
      for (auto [type, tile] : tiles)
        if (mine.contains(maker) && type == ring)
          filledByOthers.insert({type, tile});
  }
  for (auto tile : getFilledTiles(role))
    if (filledByOthers.contains(tile))
      return tile.second;
  return std::nullopt;
}

bool Provenance::sets(Type stage, unsigned entry) const {
  auto ring = dyn_cast_if_present<PipelineType>(getRingOf(stage));
  if (!ring)
    return true;
  auto it = llvm::find_if(ring.getNames(), [&](StringAttr name) {
    unsigned first = getOffset(ring, name.getValue());
    return entry >= first &&
           entry < first + box::Size *
                               getNumElements(ring.getTile(name.getValue()));
  });
  return it == ring.getNames().end() ||
         !filledByOthers.contains({ring, it->getValue()});
}

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

std::optional<int64_t> Provenance::getArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument ||
      !isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
    return std::nullopt;
  return argument.getArgNumber();
}

void Provenance::tieExtents(FunctionOpInterface function) {
  for (auto [argument, operand] : gemm.operands) {
    auto type = dyn_cast<MemRefType>(function.getArgument(argument).getType());
    if (!type || type.getRank() < 2)
      continue;
    gemm::OperandInfo info = *gemm.getOperand(argument);
    int64_t axis = type.getRank() - 2;
    for (gemm::Extent extent : {info.rows, info.columns}) {
      bool isBlocks =
          extent.axis == gemm::Axis::K && extent.block == gemm::kScaleBlock;
      if (isBlocks)
        expressions.setExtent(argument, axis,
                              expressions.getArgument(gemm.blocks));
      else if (extent.axis != gemm::Axis::One)
        expressions.setExtent(
            argument, axis,
            table.getParameter({extent.str(), ::fp8::proof::Scope::Launch, 0,
                                std::nullopt, std::nullopt}));
      ++axis;
    }
  }
}

ExprId Provenance::unlimit(ExprId index, int64_t argument, int64_t axis) {
  const ::fp8::proof::Expr &expr = table[index];
  if (expr.kind != ExprKind::Minimum)
    return index;
  ExprId last = offset(expressions.getExtent(argument, axis), -1);
  for (unsigned i : {0, 1})
    if (table[index].operands[i] == last)
      return table[index].operands[1 - i];
  return index;
}

Provenance::Label Provenance::getBox(Value source, ValueRange indices) {
  Label label(box::Size, constant(0));
  if (arith::SelectOp choice = getChoice(source)) {
    // The maps differ in where they end, but not in what they are of.
    label = getBox(choice.getTrueValue(), indices);
    return label == getBox(choice.getFalseValue(), indices)
               ? label
               : getUnknown(box::Size);
  }
  std::optional<int64_t> argument = getArgument(source);
  std::optional<gemm::OperandInfo> info;
  if (argument)
    info = gemm.getOperand(*argument);
  if (!info || indices.size() < size_t(info->getRank()))
    return getUnknown(box::Size);
  label[box::Operand] = constant(static_cast<int64_t>(info->operand));
  size_t axis = indices.size() - info->getRank();
  if (axis)
    label[box::Batch] = expressions.get(indices[0]);
  for (gemm::Extent extent : {info->rows, info->columns}) {
    ExprId index = unlimit(expressions.get(indices[axis]), *argument, axis);
    ++axis;
    if (extent.axis == gemm::Axis::One) {
      // Beside the only element there is none.
      if (index != constant(0))
        return getUnknown(box::Size);
      continue;
    }
    unsigned place = extent.axis == gemm::Axis::M   ? box::M
                     : extent.axis == gemm::Axis::N ? box::N
                                                    : box::K;
    label[place] = scale(index, extent.block);
  }
  // A tile of scales is copied whole.
  for (Value within : indices.drop_front(axis))
    if (!matchPattern(within, m_Zero()))
      return getUnknown(box::Size);
  return label;
}

ExprId Provenance::isOfFirstTiles(Value map) {
  if (arith::SelectOp choice = getChoice(map)) {
    ExprId first = isOfFirstTiles(choice.getTrueValue()),
           second = isOfFirstTiles(choice.getFalseValue()),
           condition = expressions.get(choice.getCondition());
    if (first == constant(1) && second == constant(0))
      return condition;
    return table.get(Expr::Select, {condition, first, second});
  }
  std::optional<int64_t> argument = getArgument(map);
  return constant(argument && gemm.isFirst(*argument));
}

/// Whether the expression is a sum with `lane`; takes it off.
static bool takeLane(ExprTable &table, ExprId lane, ExprId &id) {
  if (id == lane) {
    id = table.getConstant(0);
    return true;
  }
  const Expr &expr = table[id];
  if (expr.kind != ExprKind::Add)
    return false;
  ExprId left = expr.operands[0], right = expr.operands[1];
  if (!takeLane(table, lane, left) && !takeLane(table, lane, right))
    return false;
  id = table.get(ExprKind::Add, {left, right});
  return true;
}

/// An element that a thread loads. Each lane may load the one of its own number
/// along the columns, if the column is not limited by the last.
Provenance::Label Provenance::computeElement(Value source, ValueRange indices) {
  Label label = getBox(source, indices);
  label.resize(element::Size, constant(0));
  if (indices.empty())
    return label;
  ExprId column = expressions.get(indices.back()), last = column;
  const ::fp8::proof::Expr limited = table[column];
  if (limited.kind == ExprKind::Minimum) {
    column = limited.operands[0];
    last = limited.operands[1];
  }
  if (!takeLane(table, expressions.getLane(), column))
    return label;
  label[element::Row] = constant(element::kRepeatsLast);
  label[element::Last] = last;
  label[box::K] = scale(column, gemm::kScaleBlock);
  return label;
}

/// Elements of lanes, and 0 for those behind the last one. If that is the last
/// one of K the row goes on: what lies behind is 0.
std::optional<Provenance::Label>
Provenance::computeRow(arith::SelectOp select) {
  auto compared = select.getCondition().getDefiningOp<arith::CmpIOp>();
  if (!compared || !isa<FloatType>(select.getType()) ||
      !matchPattern(select.getFalseValue(), m_AnyZeroFloat()) ||
      compared.getPredicate() != arith::CmpIPredicate::ule)
    return std::nullopt;
  Label label(get(select.getTrueValue()));
  ExprId column = expressions.get(compared.getLhs()),
         last = expressions.get(compared.getRhs());
  if (!takeLane(table, expressions.getLane(), column) ||
      label[box::K] != scale(column, gemm::kScaleBlock) ||
      label[element::Last] != last)
    return std::nullopt;
  label[element::Row] =
      table.get(Expr::Select, {atLeast(offset(last, 1), getBlocks(select)),
                               constant(element::kEndsInZeros),
                               constant(element::kRepeatsLast)});
  return label;
}

Provenance::Label Provenance::compute(Value value) {
  unsigned size = getSize(value.getType());
  Operation *op = value.getDefiningOp();
  auto copy = [&](Value other) {
    Label label(get(other));
    return label;
  };
  if (!op)
    return getUnknown(size);
  return llvm::TypeSwitch<Operation *, Label>(op)
      .Case([&](TileOp tile) {
        auto type = cast<PipelineType>(
            cast<StageTypeInterface>(tile.getStage().getType()).getRing());
        unsigned length =
            box::Size * getNumElements(type.getTile(tile.getName()));
        ArrayRef<ExprId> stage = get(tile.getStage());
        unsigned halves = getHalves(tile.getStage().getType());
        Label label;
        for (unsigned half = 0; half < halves; ++half)
          llvm::append_range(label,
                             stage.slice(half * stage.size() / halves +
                                             getOffset(type, tile.getName()),
                                         length));
        return label;
      })
      .Case([&](ReadElementOp read) {
        Label label(get(read.getRow()));
        if (!hasElements(read.getRow().getType()))
          return getUnknown(size);
        label.resize(
            std::max<size_t>(label.size(), box::Size * (read.getColumn() + 1)),
            constant(kNothing));
        label = Label(
            ArrayRef(label).slice(box::Size * read.getColumn(), box::Size));
        label.resize(element::Size, constant(0));
        return label;
      })
      .Case([&](AccumulatorOp its) { return copy(its.getStage()); })
      .Case([&](WaitMmaOp wait) { return copy(wait.getPending()); })
      .Case([&](arith::ExtFOp wider) { return copy(wider.getIn()); })
      .Case([&](arith::SelectOp select) {
        if (std::optional<Label> row = computeRow(select))
          return std::move(*row);
        Label label = copy(select.getTrueValue());
        ExprId condition = expressions.get(select.getCondition());
        for (auto [mine, other] :
             llvm::zip(label, copy(select.getFalseValue())))
          mine = table.get(ExprKind::Select, {condition, mine, other});
        return label;
      })
      .Case([&](memref::LoadOp load) {
        return computeElement(load.getMemRef(), load.getIndices());
      })
      .Case([&](ZeroOp) {
        Label label(size, constant(0));
        label[sum::IsScaled] = constant(gemm.hasScales());
        return label;
      })
      .Case([&](ReadOp read) { return copy(read.getAccumulator()); })
      .Default([&](Operation *) { return getUnknown(size); });
}
