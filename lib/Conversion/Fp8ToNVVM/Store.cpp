// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers stores: fragments are rounded, staged in swizzled tiles, and
// copied out by TMA.
//
// Who stages a tile together, a warp or a warpgroup, follows from the layout of
// the fragment, and so does how a thread writes its registers.

#include "Store.h"
#include "fp8/Analysis/KernelPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fp8;

static StoreQueueType getQueueType(StoreAtOp op) {
  return cast<StoreQueueType>(op.getQueue());
}

namespace {

/// The threads that stage tiles together, one slot of the queue after another.
struct Stagers {
  Stagers(StoreAtOp op, KernelPattern<StoreAtOp>::Adaptor operands,
          const FragmentPart &part, Value lane, Instructions &instructions);

  /// Waits until all have come here.
  void meet(Instructions &instructions) const;

  bool areWarpgroup; ///< else a warp
  int64_t threads = 32;
  int64_t batch = 1;   ///< the slots that they fill at a time
  int64_t barrier = 0; ///< where the first warpgroup meets
  Value number;        ///< i32: which stagers of the role they are
  Value slots;         ///< i32: where their slots begin
  Value thread;        ///< i32: the thread's number among them
  Value leader;        ///< i1: true in the thread that issues their copies
  /// Where in the tensor what they hold begins, as index: the outer
  /// coordinates, which say the matrix of a batch, then row and column.
  SmallVector<Value> coordinates;
};

/// Stages a fragment and copies it out.
class FragmentStore {
public:
  /// Addresses in the queue are computed from `role`, those of the rest that
  /// warps store from `lane`.
  FragmentStore(StoreAtOp op, KernelPattern<StoreAtOp>::Adaptor operands,
                const RoleValues &role, Value lane,
                ConversionPatternRewriter &rewriter);

  /// Returns the queue's next slot.
  Value lower();

private:
  /// Stages the slots from `first` on, and starts their copies.
  void lowerBatch(int64_t first, int64_t count, Value address);
  /// Writes what belongs in a slot to an address.
  void writeSlot(int64_t slot, Value address);
  /// The three ways to write registers: in pieces of a row, as matrices, and
  /// pair by pair.
  void writeRow(ArrayRef<Value> pairs, TileAddresses &addresses);
  void writeMatrices(ArrayRef<Value> pairs, Value address);
  void writePairs(ArrayRef<Value> pairs, TileAddresses &addresses);
  /// Where a thread's first register of a slot lies in it.
  std::pair<Value, Value> getPlaceInSlot();
  /// The coordinates of a box of a slot.
  SmallVector<Value> getCoordinates(int64_t slot, int64_t box);

  StoreAtOp op;
  KernelPattern<StoreAtOp>::Adaptor operands;
  ConversionPatternRewriter &rewriter;
  Instructions instructions;
  FragmentPart part;
  StoreQueueType queue;
  TileType tile;
  Stagers stagers;
  RowRest rest;
  /// The boxes of a slot, and the columns between them: halves of the lanes
  /// that have columns of their own have boxes of their own.
  int64_t boxes = 1, boxDistance = 0;
  int64_t registersPerSlot;
};

/// store_at: slot by slot, stage and copy.
struct LowerStore : public KernelPattern<StoreAtOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(StoreAtOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    RegisterLayout layout(op.getFragment().getType());
    // Where a thread stores is not worth registers while it sums up in others.
    // Pairs of one byte have as many addresses as a row of the tile has pairs.
    Type element = getQueueType(op).getTile().getElementType();
    bool hasManyAddresses =
        layout.isOneRow() ||
        (layout.getStager() == Unit::Warp && getBytes(element) == 1);
    RoleValues role = getRole(op);
    Value slot =
        FragmentStore(op, operands,
                      hasManyAddresses ? getRoleAfterSums(op, instructions)
                                       : role,
                      role.lane, rewriter)
            .lower();
    rewriter.replaceOp(op, slot);
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Stagers
//===----------------------------------------------------------------------===//

Stagers::Stagers(StoreAtOp op, KernelPattern<StoreAtOp>::Adaptor operands,
                 const FragmentPart &part, Value lane,
                 Instructions &instructions)
    : areWarpgroup(part.layout.getStager() == Unit::Warp) {
  const RoleValues &role = part.role;
  StoreQueueType type = getQueueType(op);
  Value queue = operands.getSlots()[0];
  int64_t slotsBytes = type.getDepth() * KernelPlan::getSlotStride(type);
  auto setCoordinates = [&](ArrayRef<Unit> units) {
    coordinates = getSingles(operands.getCoordinates());
    size_t row = coordinates.size() - 2;
    for (Axis axis : {RegisterLayout::Row, RegisterLayout::Column})
      if (part.hasDigits(axis, units))
        coordinates[row + axis] = instructions.add(
            coordinates[row + axis],
            instructions.toIndex(part.getPlace(axis, units, instructions)));
  };
  if (!areWarpgroup) {
    setCoordinates({Unit::Warp, Unit::Warpgroup});
    number = role.warp;
    slots = instructions.add(queue, instructions.mul(number, slotsBytes));
    thread = lane;
    leader = role.leader;
    return;
  }
  threads = 128;
  // Half of the slots, while those in the other half are copied out.
  batch = std::max<int64_t>(type.getDepth() / 2, 1);
  barrier = getPlan<RingPlanAttr>(op).namedBarrier;
  number = instructions.shiftRight(role.warp, 2);
  slots = instructions.add(queue, instructions.mul(number, slotsBytes));
  // One thread issues all copies: groups are a thread's own.
  Value warp = instructions.bitAnd(role.warp, 3);
  leader = instructions.bitAnd(role.leader, instructions.equal(warp, 0));
  thread = instructions.add(instructions.mul(warp, 32), role.lane);
  setCoordinates(Unit::Warpgroup);
}

void Stagers::meet(Instructions &instructions) const {
  if (areWarpgroup)
    instructions.syncNamedBarrier(instructions.add(number, barrier), threads);
  else
    instructions.syncWarp();
}

//===----------------------------------------------------------------------===//
// FragmentStore
//===----------------------------------------------------------------------===//

FragmentStore::FragmentStore(StoreAtOp op,
                             KernelPattern<StoreAtOp>::Adaptor operands,
                             const RoleValues &role, Value lane,
                             ConversionPatternRewriter &rewriter)
    : op(op), operands(operands), rewriter(rewriter),
      instructions(rewriter, op.getLoc()),
      part(op.getFragment().getType(), role, instructions),
      queue(getQueueType(op)), tile(queue.getTile()),
      stagers(op, operands, part, lane, instructions),
      rest(op.getRest() ? operands.getRest()[0] : Value(), instructions) {
  for (const RegisterLayout::Digit &digit : part.layout.getDigits())
    if (digit.unit == Unit::Lane && digit.axis == RegisterLayout::Column &&
        digit.stride >= tile.getColumns()) {
      boxes = digit.extent;
      boxDistance = digit.stride;
    }
  registersPerSlot =
      boxes * tile.getRows() * tile.getColumns() / stagers.threads;
}

Value FragmentStore::lower() {
  int64_t slots = part.layout.getNumRegisters() / registersPerSlot,
          depth = queue.getDepth(), batch = stagers.batch,
          slotBytes = KernelPlan::getSlotStride(queue);
  bool isUnused = getPlanOrNone<RingPlanAttr>(op).unused;
  Value slot = operands.getSlot()[0];
  for (int64_t first = 0; first < slots; first += batch) {
    // The slots were last used one lap ago: all but the latest of the stagers'
    // copies must have been read. On the first lap of the queue there are none.
    if (!isUnused || first >= depth / batch * batch) {
      instructions.ifThen(stagers.leader, [&](Instructions &leader) {
        leader.waitStores(depth / batch - 1, /*readOnly=*/true);
      });
      stagers.meet(instructions);
    }
    lowerBatch(
        first, std::min(batch, slots - first),
        instructions.add(stagers.slots, instructions.mul(slot, slotBytes)));
    Value next = instructions.add(slot, batch);
    slot = instructions.select(
        batch == 1 ? instructions.equal(next, depth)
                   : instructions.atLeast(next, depth - batch + 1),
        instructions.i32(0), next);
  }
  return slot;
}

void FragmentStore::lowerBatch(int64_t first, int64_t count, Value address) {
  int64_t slotBytes = KernelPlan::getSlotStride(queue);
  for (int64_t i = 0; i < count; ++i)
    writeSlot(first + i, instructions.add(address, i * slotBytes));
  // The copies read through the async proxy: every thread's writes are fenced
  // before one starts them.
  instructions.fenceAsyncProxy();
  stagers.meet(instructions);
  auto getBox = [&](Value start, int64_t i, int64_t box, Instructions &inner) {
    return inner.add(start, i * slotBytes + box * tile.getSizeInBytes());
  };
  instructions.ifThen(stagers.leader, [&](Instructions &leader) {
    // Were it a constant, ptxas would keep the addresses of the K loop in
    // vector registers, and move them over for each product.
    Value start = stagers.areWarpgroup ? leader.keepInLoop(address) : address;
    for (int64_t i = 0; i < count; ++i)
      for (int64_t box = 0; box < boxes; ++box) {
        SmallVector<Value> place = getCoordinates(first + i, box);
        place.back() = rest.getBoxColumn(place.back(), leader);
        leader.storeTile(getBox(start, i, box, leader), operands.getMap()[0],
                         place);
      }
    leader.commitStores();
  });
  for (int64_t i = 0; rest && i < count; ++i)
    for (int64_t box = 0; box < boxes; ++box)
      rest.store(tile, getBox(address, i, box, instructions),
                 getCoordinates(first + i, box), stagers.thread,
                 stagers.threads, instructions);
}

SmallVector<Value> FragmentStore::getCoordinates(int64_t slot, int64_t box) {
  RegisterLayout::Place offset = part.layout.getOffset(slot * registersPerSlot);
  SmallVector<Value> place(stagers.coordinates);
  size_t row = place.size() - 2;
  auto shift = [&](Value &index, int64_t by) {
    index = arith::AddIOp::create(
        rewriter, op.getLoc(), index,
        arith::ConstantIndexOp::create(rewriter, op.getLoc(), by));
  };
  shift(place[row], offset.row);
  shift(place[row + 1], offset.column + box * boxDistance);
  return place;
}

//===----------------------------------------------------------------------===//
// Writing a slot
//===----------------------------------------------------------------------===//

std::pair<Value, Value> FragmentStore::getPlaceInSlot() {
  SmallVector<Unit> units{Unit::Lane};
  if (stagers.areWarpgroup)
    units.insert(units.begin(), Unit::Warp);
  Value row = part.getPlace(RegisterLayout::Row, units, instructions),
        column = part.getPlace(RegisterLayout::Column, units, instructions, 1,
                               boxes > 1 ? boxDistance : INT64_MAX);
  // A box follows the rows of the one before.
  if (boxes > 1)
    row = instructions.add(
        row,
        instructions.mul(instructions.shiftRight(part.role.lane,
                                                 llvm::Log2_64(tile.getRows())),
                         tile.getRows()));
  return {row, column};
}

void FragmentStore::writeSlot(int64_t slot, Value address) {
  SmallVector<Value> all(operands.getFragment());
  ArrayRef<Value> pairs =
      ArrayRef(all).slice(slot * registersPerSlot / 2, registersPerSlot / 2);
  if (!part.layout.isOneRow() &&
      tile.getElementType().getIntOrFloatBitWidth() == 16)
    return writeMatrices(pairs, address);
  auto [row, column] = getPlaceInSlot();
  TileAddresses addresses(tile, address, row, column, instructions);
  if (part.layout.isOneRow())
    writeRow(pairs, addresses);
  else
    writePairs(pairs, addresses);
}

void FragmentStore::writeRow(ArrayRef<Value> pairs, TileAddresses &addresses) {
  Type element = tile.getElementType();
  int64_t pairBytes = 2 * getBytes(element);
  // A store of 16 bytes takes four registers in a row: where they are the sums
  // themselves, ptxas moves sums about in the K loop to that end.
  bool storesSums = element.isF32();
  // Two threads that share a row may meet in the middle of a chunk.
  bool isWhole = pairs.size() * pairBytes % 16 == 0;
  int64_t pairsPerPiece = (isWhole && !storesSums ? 16 : 8) / pairBytes;
  bool isMapped = op.getFragment().getDefiningOp<MapOp>() != nullptr;
  for (size_t first = 0; first < pairs.size(); first += pairsPerPiece) {
    ArrayRef<Value> piece = pairs.slice(first, pairsPerPiece);
    if (isMapped)
      ComputeHereOp::create(rewriter, op.getLoc(), piece);
    Value packed = instructions.roundAndPack(piece, element);
    instructions.storeShared(addresses.get(0, 2 * first), packed,
                             /*alone=*/storesSums);
  }
}

void FragmentStore::writeMatrices(ArrayRef<Value> pairs, Value address) {
  // Four pairs of registers are four 8x8 matrices, of which lanes 8i to 8i+7
  // give the addresses of the i-th one's rows (PTX ISA, stmatrix). The second
  // and the third lie where their registers do; the fourth where both say.
  Value lane = part.role.lane,
        place[] = {instructions.bitAnd(lane, 7), Value()};
  auto addMatrix = [&](int64_t reg, Value isThere) {
    RegisterLayout::Place offset = part.layout.getOffset(reg);
    Value &along = place[offset.row == 0];
    Value by = instructions.mul(isThere, offset.row + offset.column);
    along = along ? instructions.add(along, by) : by;
  };
  addMatrix(2, instructions.bitAnd(instructions.shiftRight(lane, 3), 1));
  if (pairs.size() > 2)
    addMatrix(4, instructions.shiftRight(lane, 4));
  if (stagers.areWarpgroup)
    place[0] = instructions.add(
        part.getPlace(RegisterLayout::Row, Unit::Warp, instructions), place[0]);
  TileAddresses addresses(tile, address, place[0], place[1], instructions);
  bool transposed = part.layout.getPairAxis() == RegisterLayout::Row;
  // True if the third and the fourth pair lie from the first as addresses say.
  auto hasFour = [&](size_t first) {
    RegisterLayout::Place offset = part.layout.getOffset(2 * first),
                          third = part.layout.getOffset(4);
    return first + 2 < pairs.size() &&
           part.layout.getOffset(2 * first + 4) ==
               RegisterLayout::Place{offset.row + third.row,
                                     offset.column + third.column};
  };
  for (size_t first = 0, count; first < pairs.size(); first += count) {
    count = hasFour(first) ? 4 : 2;
    SmallVector<Value> matrices;
    for (Value pair : pairs.slice(first, count))
      matrices.push_back(instructions.roundPair(pair, tile.getElementType()));
    RegisterLayout::Place offset = part.layout.getOffset(2 * first);
    instructions.storeMatrices(addresses.get(offset.row, offset.column),
                               matrices, transposed);
  }
}

void FragmentStore::writePairs(ArrayRef<Value> pairs,
                               TileAddresses &addresses) {
  Type element = tile.getElementType();
  bool isOfRow = part.layout.getPairAxis() == RegisterLayout::Column;
  for (auto [i, pair] : llvm::enumerate(pairs)) {
    RegisterLayout::Place place = part.layout.getOffset(2 * i);
    if (isOfRow) {
      instructions.storeShared(addresses.get(place.row, place.column),
                               instructions.roundPair(pair, element));
      continue;
    }
    for (auto [j, value] :
         llvm::enumerate(instructions.roundApart(pair, element)))
      instructions.storeShared(addresses.get(place.row + j, place.column),
                               value);
  }
}

void mlir::fp8::populateStorePatterns(const TypeConverter &converter,
                                      RewritePatternSet &patterns) {
  patterns.add<LowerStore>(converter, patterns.getContext());
}
