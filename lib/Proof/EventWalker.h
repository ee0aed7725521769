// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The events of a role.

#ifndef FP8_LIB_PROOF_EVENTWALKER_H
#define FP8_LIB_PROOF_EVENTWALKER_H

#include "ClusterRanks.h"
#include "fp8/Analysis/GridWait.h"
#include "fp8/Proof/ExtractEvents.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::fp8 {

/// The address that stands for that of the columns of an output pipeline: a
/// number of their own, so that sums with others are told apart.
inline constexpr int64_t kNominalColumns = 4096;

/// Walks the ops of a role and says what each becomes.
class EventWalker {
public:
  using Block = ::fp8::proof::EventBlock;
  using Node = ::fp8::proof::EventNode;
  using Quantity = ::fp8::proof::Quantity;
  using Doers = ::fp8::proof::Doers;
  using Fields = std::vector<std::pair<std::string, Quantity>>;

  EventWalker(ExtractedEvents &kernel, const HandleFlow &flow,
              ClusterRanks ranks, RoleOp role, GridWait gridWait)
      : kernel(kernel), flow(flow), ranks(ranks), role(role),
        gridWait(gridWait) {}

  ::fp8::proof::RoleEvents walk();

private:
  friend class EventBlocks;

  /// What the handle's ring is, where it lies, and how its role counts in it.
  struct Place {
    Operation *maker = nullptr;
    RingPlan plan;
    Type ring;
    unsigned cursor = 0;
    int64_t slots = 1;
    int64_t ctaGroup = 1;
    std::optional<unsigned> variable;
  };

  // EventWalker.cpp: control flow.
  void walk(mlir::Block &block, Block &out);
  void walk(Operation *op, Block &out);
  void walkRegions(Operation *op, Node::Kind kind, Block &out);
  void walkWhile(Operation *op, Block &out);
  /// An event of griddepcontrol, which does not take place each time if
  /// `isSometimes`.
  void addGridEvent(StringRef kind, Operation *op, bool isSometimes,
                    Block &out);
  void walkLeading(Operation *op, Block &out);
  /// The ops in front of the guard, and those of a turn behind it.
  void addLoop(Operation *op, Block before, Block turn, Block &out);
  // EventBlocks.cpp
  void walkBlocks(Operation *op, Region &region, Block &out);
  void obstruct(Operation *op, const Twine &reason, bool isExchange = false);

  // EndVariables.cpp
  /// Finds the ends that the role takes and control flow may exchange.
  void findExchanged();
  /// The variable that holds the handle, if its end may be one of several.
  std::optional<unsigned> getVariable(Value handle);
  /// Moves ends by selects that share operands.
  void addSelects(SelectLikeOpInterface first, Block &out);
  /// Moves the ends that the op, or this terminator of one, hands on.
  void forward(Operation *op, Block &out);
  void addMoves(Operation *op, ValueRange from, ValueRange to, Block &out);

  // OpEvents.cpp: ends, slots, tiles.
  void walkStep(Operation *op, Block &out);
  void acquire(Operation *op, Block &out);
  void wait(Operation *op, Value end, StringRef kind, Block &out);
  void handOver(Operation *op, Value stage, Block &out);
  void commit(Operation *op, Value stage, const Place &place, Block &out);
  void arrive(Operation *op, Value stage, const Place &place, Block &out);
  void close(Operation *op, Value end, Block &out);
  void load(Operation *op, Block &out);
  void loadElement(Operation *op, Block &out);
  void requestWork(Operation *op, Block &out);
  void copy(Operation *op, const Place &place, StringRef name,
            std::optional<ClusterAxis> multicast, Block &out);
  void readAccumulator(Operation *op, Value accumulator, FragmentType fragment,
                       Block &out);

  // ProductEvents.cpp
  void multiply(Operation *op, Block &out);
  void multiplyInRegisters(Operation *op, Block &out);

  // RoleEvents.cpp: tensor memory, stores, shares.
  void createMmaWarp(Operation *op, Block &out);
  void releaseMmaWarp(Operation *op, Block &out);
  void waitTensorMemory(Operation *op, Block &out);
  void releaseEpilogueWarp(Operation *op, Block &out);
  void store(Operation *op, Block &out);
  void reduceScatter(Operation *op, Block &out);
  /// Waits until all CTAs have read what they were sent in the last lap.
  void waitUntilRead(Operation *op, Value exchange, Block &out);
  void addRow(Operation *op, Block &out);

  Place getPlace(Operation *op, Value handle);
  /// The cursor of the end that goes by the number; `handle` is one of its.
  unsigned getCursor(unsigned end, Value handle);
  /// The plan of a store queue or an exchange; counts in its cursor.
  RingPlan getQueue(Operation *op, Value queue, ::fp8::proof::Cursor counts,
                    unsigned &cursor);
  /// A barrier of the ring that is not one of a slot.
  Quantity getSingle(const Place &place, int64_t offset) const;
  Quantity getFull(const Place &place) const;
  Quantity getEmpty(const Place &place) const;
  Quantity getTile(const Place &place, StringRef name) const;
  /// The tile in shared memory that a view lends; none if it may be one of
  /// several.
  std::optional<Quantity> getView(Operation *op, Value view);
  Quantity getAccumulator(Operation *op, Value view);
  Quantity byRank(function_ref<int64_t(int64_t)> function) const;

  void add(StringRef kind, Operation *op, Doers doers, Fields fields,
           Block &out);
  void advance(Operation *op, const Place &place, Block &out);
  /// Adds an arm for CTAs of some ranks.
  void addRanks(Operation *op, function_ref<bool(int64_t)> isIn, Block body,
                Block &out);

  ExtractedEvents &kernel;
  const HandleFlow &flow;
  ClusterRanks ranks;
  RoleOp role;
  /// The next kernel may start once tensor memory is allocated.
  GridWait gridWait;
  ::fp8::proof::RoleEvents result;
  /// By the number of the end.
  llvm::DenseMap<unsigned, unsigned> cursors;
  /// By the number of the variable in the kernel; and the ends of all.
  llvm::DenseMap<unsigned, unsigned> variables;
  llvm::DenseSet<unsigned> exchanged;
};

/// The number of an op among the sites.
unsigned getSite(ExtractedEvents &kernel, Operation *op);

} // namespace mlir::fp8

#endif // FP8_LIB_PROOF_EVENTWALKER_H
