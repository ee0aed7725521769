// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules that a kernel keeps as a whole beside its counts: nothing waits for
// what nobody does, and nothing is read that nobody wrote (K2 to K7).

#include "ScaleRules.h"

#include "fp8/Analysis/KernelPlan.h"
#include "fp8/IR/LinearUse.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <cstdlib>

using namespace mlir;
using namespace mlir::fp8;

/// True if every path through the role runs the op.
static bool alwaysRuns(Operation *op) {
  PostDominanceInfo info;
  for (;;) {
    Region *region = op->getParentRegion();
    if (!info.postDominates(op->getBlock(), &region->front()))
      return false;
    op = region->getParentOp();
    if (isa<RoleOp>(op))
      return true;
    if (op->getName().getStringRef() != "scf.execute_region")
      return false;
  }
}

/// (K2) A handle of an output pipeline is made on every path: the other side
/// waits for it.
static LogicalResult checkCreate(Operation *op) {
  if (!isa<CreateMmaWarpOp, CreateEpilogueWarpOp>(op) || alwaysRuns(op))
    return success();
  Operation *parent = op->getParentOp();
  InFlightDiagnostic diagnostic =
      op->emitOpError() << "must be in the body of its role (K2): the other "
                           "side of the output pipeline waits for it";
  diagnostic.attachNote(parent->getLoc()) << "it may not run here";
  return diagnostic;
}

/// (K3) MMAs read what was filled and write what is theirs; promotion, and what
/// follows it, reads what is complete.
static LogicalResult checkViews(Operation *op) {
  auto check = [&](Value view, auto isRight, StringRef what,
                   StringRef stage) -> LogicalResult {
    Operation *lender = view.getDefiningOp();
    if (isa_and_nonnull<TileOp, AccumulatorOp>(lender) &&
        isRight(lender->getOperand(0).getType()))
      return success();
    InFlightDiagnostic diagnostic =
        op->emitOpError() << what << " must be lent by " << stage << " (K3)";
    if (lender)
      diagnostic.attachNote(lender->getLoc()) << "this value is not";
    return diagnostic;
  };
  auto isConsumer = [](Type type) { return isa<ConsumerStageType>(type); };
  auto isMma = [](Type type) { return isa<MmaStageType>(type); };
  auto isEpilogue = [](Type type) { return isa<EpilogueStageType>(type); };
  if (auto mma = dyn_cast<MmaOp>(op))
    return failure(
        failed(check(mma.getAccumulator(), isMma, "the accumulator",
                     "an mma stage")) ||
        failed(check(mma.getA(), isConsumer, "A", "a consumer stage")) ||
        failed(check(mma.getB(), isConsumer, "B", "a consumer stage")) ||
        llvm::any_of(mma.getScales(), [&](Value scales) {
          return failed(check(scales, isConsumer, "a tile of scales",
                              "a consumer stage"));
        }));
  if (auto mma = dyn_cast<WarpgroupMmaOp>(op))
    return failure(
        failed(check(mma.getA(), isConsumer, "A", "a consumer stage")) ||
        failed(check(mma.getB(), isConsumer, "B", "a consumer stage")));
  if (auto read = dyn_cast<ReadElementOp>(op))
    return check(read.getRow(), isConsumer, "the row", "a consumer stage");
  if (auto promote = dyn_cast<PromoteOp>(op))
    return failure((isa<TmemType>(promote.getPartial().getType()) &&
                    failed(check(promote.getPartial(), isEpilogue,
                                 "the accumulator", "an epilogue stage"))) ||
                   failed(check(promote.getAScale(), isConsumer, "the A scales",
                                "a consumer stage")) ||
                   (promote.getBRow() &&
                    failed(check(promote.getBRow(), isConsumer, "the B scales",
                                 "a consumer stage"))));
  if (auto add = dyn_cast<AddTileOp>(op))
    return check(add.getTile(), isConsumer, "the tile", "a consumer stage");
  if (auto add = dyn_cast<AddRowOp>(op))
    return check(add.getRow(), isConsumer, "the row", "a consumer stage");
  return success();
}

/// True for an argument of the kernel, also as its roles get it.
static bool isKernelArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !argument.getOwner()->isEntryBlock())
    return false;
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto role = dyn_cast<RoleOp>(parent))
    return isKernelArgument(role.getInits()[argument.getArgNumber()]);
  return isa<FunctionOpInterface>(parent);
}

/// (M5, Q5) A kernel's arguments are in global memory.
static LogicalResult checkSource(Operation *op) {
  if (auto store = dyn_cast<StoreOp>(op);
      store && store.getRest() && !isKernelArgument(store.getRest()))
    return store.emitOpError()
           << "stores the rest of its rows to a memref that is not an argument "
              "of the kernel (Q5); pass one, since arguments are in global "
              "memory";
  auto load = dyn_cast<LoadElementOp>(op);
  if (!load || isKernelArgument(load.getSource()))
    return success();
  return load.emitOpError()
         << "copies from a memref that is not an argument of the kernel (M5); "
            "pass one, since arguments are in global memory";
}

LogicalResult KernelPlan::checkRules(FunctionOpInterface kernel) {
  if (failed(checkForeign(kernel)))
    return failure();
  WalkResult result = kernel->walk([](Operation *op) {
    return failed(checkCreate(op)) || failed(checkViews(op)) ||
                   failed(checkSource(op))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// True if an op of another dialect may take slots of the ring; nobody knows
/// how many.
static bool isTakenByForeignOp(Operation *ring, const HandleFlow &flow) {
  auto isOfRing = [&](Value value) {
    return llvm::is_contained(flow.getRings(value), ring);
  };
  return ring->getParentOp()
      ->walk([&](Operation *op) {
        bool mayTake = !isa_and_nonnull<Fp8Dialect>(op->getDialect()) &&
                       mayWaitForSlot(op) &&
                       llvm::any_of(op->getOperands(), isOfRing);
        return mayTake ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// (K4) If one end of a ring takes slots, all do: the others would keep it
/// waiting.
static LogicalResult checkBothSides(Operation *ring, const HandleFlow &flow) {
  Operation *taker = nullptr;
  Value idle;
  for (Value end : ring->getResults()) {
    ArrayRef<Operation *> acquires = flow.getAcquires(flow.getEnd(end));
    if (acquires.empty())
      idle = end;
    else if (!taker)
      taker = acquires.front();
  }
  if (!taker || !idle || isTakenByForeignOp(ring, flow))
    return success();
  InFlightDiagnostic diagnostic =
      taker->emitOpError()
      << "takes slots of a ring, but another end of the ring takes none (K4), "
         "so that this one waits forever; take slots there too";
  diagnostic.attachNote((*idle.user_begin())->getLoc())
      << "this role closes its end unused";
  return diagnostic;
}

/// The stages that the ends of one side of a ring take.
static SmallVector<unsigned> getStages(Operation *ring, const HandleFlow &flow,
                                       bool producers) {
  SmallVector<unsigned> found;
  for (Value end : ring->getResults()) {
    if (isa<ProducerType>(end.getType()) != producers)
      continue;
    for (Operation *op : flow.getAcquires(flow.getEnd(end)))
      if (auto acquire = dyn_cast<AcquireOp>(op))
        found.push_back(flow.getStage(acquire.getStage()));
  }
  return found;
}

/// The tile that a copy fills, by its name in the ring; null where an op of
/// another dialect copies.
static StringAttr getFilledTile(Operation *copy) {
  if (auto load = dyn_cast<TmaLoadOp>(copy))
    return load.getNameAttr();
  if (auto explicitCopy = dyn_cast<TmaCopyOp>(copy))
    if (auto tile = explicitCopy.getTile().getDefiningOp<TileOp>())
      return tile.getNameAttr();
  return {};
}

/// True if the columns that were copied one by one are all that the op reads of
/// the row.
static bool hasElements(Operation *reader, TileType row,
                        const llvm::SmallDenseSet<int64_t> &columns) {
  if (auto read = dyn_cast<ReadElementOp>(reader))
    return columns.contains(read.getColumn());
  return int64_t(columns.size()) == row.getColumns();
}

/// (K6) What is read of a slot was put there: by a copy into the tile, or by an
/// MMA into the accumulator.
static LogicalResult checkFilled(Operation *ring, const HandleFlow &flow) {
  const auto &uses = flow.getStageUses();
  llvm::SmallDenseSet<StringAttr> filled;
  llvm::SmallDenseMap<StringAttr, llvm::SmallDenseSet<int64_t>> elements;
  bool anyMma = false;
  for (unsigned number : getStages(ring, flow, /*producers=*/true)) {
    const StageUse &use = uses.find(number)->second;
    anyMma |= !use.mmas.empty();
    for (LoadElementOp load : use.elementLoads)
      elements[load.getNameAttr()].insert(load.getColumn());
    for (TileCopyOpInterface copy : use.copies)
      if (StringAttr name = getFilledTile(copy))
        filled.insert(name);
      else
        return success();
  }
  auto check = [&](Operation *reader, unsigned number) -> LogicalResult {
    for (Value view : reader->getOperands()) {
      Operation *lender = view.getDefiningOp();
      if (!isa_and_nonnull<TileOp, AccumulatorOp>(lender) ||
          flow.getStage(lender->getOperand(0)) != number)
        continue;
      auto tile = dyn_cast<TileOp>(lender);
      if (tile ? filled.contains(tile.getNameAttr()) : anyMma)
        continue;
      auto found = tile ? elements.find(tile.getNameAttr()) : elements.end();
      if (found != elements.end() &&
          hasElements(reader, tile.getTile().getType(), found->second))
        continue;
      InFlightDiagnostic diagnostic = reader->emitOpError();
      if (tile)
        diagnostic << (found == elements.end() ? "reads tile '"
                                               : "reads elements of tile '")
                   << tile.getName()
                   << "', into which nobody copies (K6); copy "
                   << (found == elements.end() ? "it, or leave it out of the "
                                                 "ring"
                                               : "them");
      else
        diagnostic << "reads an accumulator that no MMA writes (K6); add an "
                      "MMA to the MMA stage";
      diagnostic.attachNote(ring->getLoc()) << "the ring";
      return diagnostic;
    }
    return success();
  };
  for (unsigned number : getStages(ring, flow, /*producers=*/false)) {
    const StageUse &use = uses.find(number)->second;
    for (MmaOp mma : use.mmas)
      if (failed(check(mma, number)))
        return failure();
    for (Operation *reader : use.readers)
      if (failed(check(reader, number)))
        return failure();
  }
  return success();
}

/// Whether two values are computed alike from the same ones.
static bool isSame(Value a, Value b, unsigned depth = 0) {
  if (a == b)
    return true;
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  if (!first || !second || depth > 8 || first->getNumRegions() ||
      first->getName() != second->getName() ||
      first->getNumOperands() != second->getNumOperands() ||
      first->getAttrDictionary() != second->getAttrDictionary() ||
      cast<OpResult>(a).getResultNumber() !=
          cast<OpResult>(b).getResultNumber() ||
      !isMemoryEffectFree(first))
    return false;
  return llvm::all_of(
      llvm::zip(first->getOperands(), second->getOperands()), [&](auto pair) {
        return isSame(std::get<0>(pair), std::get<1>(pair), depth + 1);
      });
}

/// By how much `a` is above `b`, if that is plain to see: one of them is the
/// other and a constant. The ops are named by text, since the arith dialect is
/// no dependency of the analysis.
static std::optional<int64_t> getDistance(Value a, Value b) {
  if (isSame(a, b))
    return 0;
  APInt first, second;
  if (matchPattern(a, m_ConstantInt(&first)) &&
      matchPattern(b, m_ConstantInt(&second)))
    return first.getSExtValue() - second.getSExtValue();
  auto above = [](Value sum, Value base) -> std::optional<int64_t> {
    Operation *op = sum.getDefiningOp();
    StringRef name = op ? op->getName().getStringRef() : "";
    APInt by;
    if ((name == "arith.addi" || name == "arith.subi") &&
        matchPattern(op->getOperand(1), m_ConstantInt(&by)) &&
        isSame(op->getOperand(0), base))
      return name == "arith.addi" ? by.getSExtValue() : -by.getSExtValue();
    return std::nullopt;
  };
  if (std::optional<int64_t> distance = above(a, b))
    return distance;
  if (std::optional<int64_t> distance = above(b, a))
    return -*distance;
  return std::nullopt;
}

/// The loops around an op up to its role; nothing where it may not run.
static std::optional<SmallVector<LoopLikeOpInterface>> getLoops(Operation *op) {
  SmallVector<LoopLikeOpInterface> loops;
  for (Operation *parent = op->getParentOp(); !isa<RoleOp>(parent);
       parent = parent->getParentOp()) {
    if (isa<FunctionOpInterface>(parent))
      return std::nullopt;
    if (isa<LeadingCtaOp>(parent) ||
        parent->getName().getStringRef() == "scf.execute_region")
      continue;
    auto loop = dyn_cast<LoopLikeOpInterface>(parent);
    if (!loop || !loop.getSingleLowerBound() || !loop.getSingleUpperBound() ||
        !loop.getSingleStep())
      return std::nullopt;
    loops.push_back(loop);
  }
  return loops;
}

/// (K7) The two sides of a ring take equally many slots. Only what is plain is
/// refused: one acquire on each side, in loops that are alike but for a bound
/// that differs by a constant.
static LogicalResult checkTrips(Operation *ring, const HandleFlow &flow) {
  Operation *first = nullptr;
  std::optional<SmallVector<LoopLikeOpInterface>> loops;
  for (Value end : ring->getResults()) {
    ArrayRef<Operation *> acquires = flow.getAcquires(flow.getEnd(end));
    if (acquires.size() != 1 ||
        flow.getRings(acquires.front()->getOperand(0)).size() != 1)
      return success();
    std::optional<SmallVector<LoopLikeOpInterface>> mine =
        getLoops(acquires.front());
    if (!mine)
      return success();
    if (!first) {
      first = acquires.front();
      loops = std::move(mine);
      continue;
    }
    if (mine->size() != loops->size())
      return success();
    int64_t more = 0;
    LoopLikeOpInterface uneven;
    for (auto [one, other] : llvm::zip(*mine, *loops)) {
      auto distance = [&](auto get) -> std::optional<int64_t> {
        auto a = dyn_cast<Value>(*get(one)), b = dyn_cast<Value>(*get(other));
        return a && b ? getDistance(a, b) : std::nullopt;
      };
      auto lower = distance([](auto l) { return l.getSingleLowerBound(); });
      auto upper = distance([](auto l) { return l.getSingleUpperBound(); });
      auto step = distance([](auto l) { return l.getSingleStep(); });
      if (lower != 0 || step != 0 || !upper || (*upper && more))
        return success();
      if (*upper) {
        more = *upper;
        uneven = one;
      }
    }
    APInt step;
    auto width = uneven ? dyn_cast<Value>(*uneven.getSingleStep()) : Value();
    if (!more || !matchPattern(width, m_ConstantInt(&step)) || step != 1 ||
        isTakenByForeignOp(ring, flow))
      continue;
    InFlightDiagnostic diagnostic =
        acquires.front()->emitOpError()
        << "takes " << std::abs(more)
        << (std::abs(more) > 1 ? " slots " : " slot ")
        << (more > 0 ? "more" : "less")
        << " than another end of its ring (K7), so that one of them waits "
           "forever; make the loops agree";
    diagnostic.attachNote(uneven.getLoc()) << "this loop's bound differs";
    diagnostic.attachNote(first->getLoc())
        << "from the bound of this loop around the other end";
    return diagnostic;
  }
  return success();
}

LogicalResult KernelPlan::checkStages() const {
  for (auto &[op, ring] : rings)
    if (failed(checkBothSides(op, *flow)) || failed(checkFilled(op, *flow)) ||
        failed(checkTrips(op, *flow)))
      return failure();
  for (const auto &[number, use] : flow->getStageUses()) {
    if (failed(checkScales(number, use, *flow)))
      return failure();
    // (K5) An MMA that does not accumulate discards what the one before it did.
    llvm::SmallDenseMap<Block *, Operation *> first;
    for (MmaOp mma : use.mmas) {
      if (flow->getStage(mma.getAccumulator().getDefiningOp()->getOperand(0)) !=
          number)
        continue; // it reads the stage
      auto [it, inserted] = first.insert({mma->getBlock(), mma});
      if (inserted || it->second == mma || mma.getAccumulate())
        continue;
      InFlightDiagnostic diagnostic =
          mma.emitOpError()
          << "overwrites what an MMA has computed in the same "
             "accumulator (K5); add 'accumulate'";
      diagnostic.attachNote(it->second->getLoc()) << "computed here";
      return diagnostic;
    }
  }
  return success();
}
