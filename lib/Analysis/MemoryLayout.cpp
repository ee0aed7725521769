// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layout of a kernel's shared memory and the budget of its tensor memory.

#include "fp8/Analysis/KernelPlan.h"

#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "fp8-plan-kernels"

using namespace mlir;
using namespace mlir::fp8;

/// The alignment of a tile in shared memory, in bytes: 128 for TMA (PTX ISA,
/// cp.async.bulk.tensor), and the size of the swizzle's pattern, eight rows of
/// the span, where there is one (PTX ISA, swizzling modes).
static int64_t getTileAlignment(TileType tile) {
  return std::max<int64_t>(128, 8 * spanBytes(tile.getSwizzle()));
}

int64_t KernelPlan::getTileStride(TileType tile) {
  return llvm::alignTo(tile.getSizeInBytes(), getTileAlignment(tile));
}

int64_t KernelPlan::getSlotStride(StoreQueueType queue) {
  TileType tile = queue.getTile();
  return llvm::alignTo(std::max<int64_t>(tile.getRows(), 32) *
                           tile.getRowBytes(),
                       getTileAlignment(tile));
}

int64_t KernelPlan::getNumStagers(StoreQueueType queue) {
  return queue.isOfWarpgroups() ? queue.getWarps() / 4 : queue.getWarps();
}

int64_t KernelPlan::getShareBytes(ExchangeType exchange) {
  FragmentType share = exchange.getShare();
  return share.getShape()[0] * share.getShape()[1] * 4;
}

/// Calls `visit` with each tile array's offset until it returns true. Returns
/// the offset past the last one.
static int64_t forEachTileArray(PipelineType ring,
                                function_ref<bool(StringAttr, int64_t)> visit) {
  int64_t offset = 0;
  for (auto [name, tile] : llvm::zip(ring.getNames(), ring.getTiles())) {
    offset = llvm::alignTo(offset, getTileAlignment(tile));
    if (visit(name, offset))
      return offset;
    offset += ring.getNumStages() * KernelPlan::getTileStride(tile);
  }
  return offset;
}

int64_t KernelPlan::getTileOffset(PipelineType ring, StringRef name) {
  return forEachTileArray(ring, [&](StringAttr candidate, int64_t) {
    return candidate.getValue() == name;
  });
}

int64_t KernelPlan::getPayloadBytes(PipelineType ring) {
  return forEachTileArray(ring, [](StringAttr, int64_t) { return false; });
}

LogicalResult KernelPlan::layOutSharedMemory(FunctionOpInterface kernel) {
  // Swizzled tiles need the widest alignment, so they come first; barriers fill
  // the end.
  int64_t offset = 0;
  SmallVector<std::pair<Operation *, int64_t>> contributors;
  for (Operation &op : kernel.getFunctionBody().front()) {
    int64_t start = llvm::alignTo(offset, kPayloadAlignment);
    if (auto queue = dyn_cast<StoreQueueOp>(op)) {
      StoreQueueType type = queue.getQueue().getType();
      queues[&op].payloadOffset = start;
      offset = start + getQueueBytes(type);
      contributors.push_back({&op, offset - start});
    } else if (auto exchange = dyn_cast<ExchangeOp>(op)) {
      queues[&op].payloadOffset = start;
      offset = start + getExchangeBytes(exchange.getExchange().getType());
      contributors.push_back({&op, offset - start});
    } else if (auto pipeline = dyn_cast<PipelineOp>(op)) {
      auto ring = cast<PipelineType>(
          cast<EndTypeInterface>(pipeline.getEnds().front().getType())
              .getRing());
      rings[&op].payloadOffset = start;
      offset = start + getPayloadBytes(ring);
      contributors.push_back({&op, offset - start});
    }
  }
  // 16: the answers of work queues (PTX ISA, clusterlaunchcontrol.try_cancel).
  offset = llvm::alignTo(offset, 16);
  for (auto &[op, plan] : rings) {
    plan.barrierOffset = offset;
    Type ring = cast<RingOpInterface>(op).getRing();
    offset += 16 * cast<RingTypeInterface>(ring).getNumStages();
    if (isa<WorkQueueOp>(op)) {
      plan.payloadOffset = offset;
      offset += kAnswerBytes * cast<RingTypeInterface>(ring).getNumStages();
    }
    if (isa<OutputPipelineOp>(op))
      offset += 16; // the barrier that guards deallocation, and the address of
                    // the tensor memory
  }
  for (auto &[op, bytes] : contributors)
    LDBG() << bytes << " bytes of shared memory for '" << op->getName()
           << "' at " << op->getLoc();
  sharedMemoryBytes = offset;
  if (sharedMemoryBytes <= chip::getMostSharedMemory())
    return success();
  InFlightDiagnostic diagnostic =
      kernel->emitOpError()
      << "needs " << sharedMemoryBytes
      << " bytes of shared memory, but a CTA has at most "
      << chip::getMostSharedMemory() << "; use fewer stages or smaller tiles";
  for (auto &[op, bytes] : contributors)
    diagnostic.attachNote(op->getLoc())
        << bytes << " bytes for this '" << op->getName() << "'";
  return diagnostic;
}

/// The bytes of shared memory at which a multiprocessor has no room for one CTA
/// more than so many. It has 228 KiB, and takes 1 KiB beside what a CTA asks
/// for (CUDA programming guide, technical specifications).
static int64_t getBytesThatLeaveRoomFor(int64_t ctas) {
  int64_t all = chip::getMostSharedMemory() + 1024;
  return llvm::alignTo(all / (ctas + 1), 1024);
}

LogicalResult KernelPlan::planTensorMemory(FunctionOpInterface kernel) {
  if (outputs.empty())
    return success();
  // The rings allocate in any order, and no allocation of a CTA may be larger
  // than one before it (PTX ISA, tcgen05.alloc): so all are equal.
  auto getColumns = [](Operation *op) {
    return cast<OutputPipelineType>(cast<RingOpInterface>(op).getRing())
        .getRingColumns();
  };
  int64_t columns = 0;
  for (Operation *op : outputs)
    columns = std::max(columns, getColumns(op));
  for (Operation *op : outputs)
    rings[op].columns = columns;
  int64_t total = columns * outputs.size();
  if (total > chip::getMostTensorMemoryColumns()) {
    InFlightDiagnostic diagnostic =
        kernel->emitOpError()
        << "allocates " << total
        << " columns of tensor memory, but a multiprocessor has "
        << chip::getMostTensorMemoryColumns() << "; use fewer stages";
    for (Operation *op : outputs)
      diagnostic.attachNote(op->getLoc())
          << getColumns(op) << " columns for this ring"
          << (getColumns(op) < columns
                  ? ", which allocates as many as the largest ring"
                  : "");
    return diagnostic;
  }
  // A CTA that holds columns while it waits for another CTA, or for further
  // columns, waits for ever if others that share its multiprocessor do so, too.
  // So no more CTAs have room there than get all that they allocate.
  if (cluster.getSize() > 1 || outputs.size() > 1)
    sharedMemoryBytes = std::max(
        sharedMemoryBytes,
        getBytesThatLeaveRoomFor(chip::getMostTensorMemoryColumns() / total));
  return success();
}
