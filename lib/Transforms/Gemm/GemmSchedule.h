// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is chosen about the kernel of a GEMM, and the types that follow from it.
//
// A schedule belongs to one kind of MMA engine, which decides the roles, where
// sums are kept and which rings there are. The base class has what all
// schedules share; TensorMemorySchedule and WarpgroupSchedule have the rest.

#ifndef FP8_LIB_TRANSFORMS_GEMM_GEMMSCHEDULE_H
#define FP8_LIB_TRANSFORMS_GEMM_GEMMSCHEDULE_H

#include "GemmProblem.h"
#include "fp8/Tuning/CostModel.h"

#include <memory>
#include <numeric>

namespace mlir::fp8 {

namespace tuning = ::fp8::tuning;

class KernelBuilder;

using CandidateSink = llvm::function_ref<void(const GemmConfig &candidate)>;

/// A configuration that leaves nothing open, and what follows from it. Extents
/// are in elements.
class GemmSchedule : public GemmConfig {
public:
  /// Rows of clusters' tiles that are computed together, for L2.
  static constexpr int64_t kBand = 8;
  /// A band of all rows of tiles, where they are so many at most.
  static constexpr int64_t kOneBand = 18;
  /// Answers of cluster launch control under way, and tiles that the scheduler
  /// may be ahead of the load role.
  static constexpr int64_t kWorkStages = 2;

  const GemmProblem problem;
  const GemmConfig pinned; ///< the configuration that the schedule is made of
  /// The K blocks of a slot of an input ring.
  int64_t kGroup = 1;
  /// The input rings, of one type. The K blocks of a step are in a slot of
  /// each.
  int64_t inputRings = 1;

  GemmSchedule(const GemmProblem &problem, const GemmConfig &pinned)
      : GemmConfig(pinned), problem(problem), pinned(pinned) {
    // The types of rings are asked for before their depths are chosen.
    stages = accumulators = 1;
  }
  virtual ~GemmSchedule() = default;

  /// Chooses for the op what `config` leaves open. Fails with an error at the
  /// op if what it pins does not fit, or the chip has no such kernel.
  static FailureOr<std::unique_ptr<GemmSchedule>>
  choose(BlockwiseGemmOp op, const GemmConfig &config, const chip::Chip &chip);

  /// Configurations that are worth ranking for the extents. They leave open
  /// what a schedule chooses.
  static SmallVector<GemmConfig> getCandidates(const chip::Chip &chip,
                                               const GemmExtents &extents);

  /// What the kernel takes, in order.
  SmallVector<GemmParameter> getParameters() const {
    return problem.getParameters(edge, loadsEarly());
  }
  Type getParameterType(GemmParameter parameter) const;

  //===--------------------------------------------------------------------===//
  // Threads
  //===--------------------------------------------------------------------===//

  /// The warps that promote and store.
  virtual int64_t getEpilogueWarps() const = 0;
  virtual int64_t getNumWarps() const = 0;
  /// The sums that those warps keep in registers.
  virtual FragmentType getFragment() const = 0;
  /// True if cluster launch control hands the tiles out.
  bool isDynamic() const {
    return scheduler == SchedulerKind::ClusterLaunchControl;
  }
  /// The CTAs that a launch places together: those of a cluster, or neighbours
  /// in the order of tiles. Where the kernel in front lets CTAs start one by
  /// one, neighbours would else lie apart, and L2 would read what they share
  /// for each (benchmark/notes/programmatic.md).
  int64_t getCtasPlacedTogether() const {
    bool startsOneByOne =
        signalsAtWait && scheduler == SchedulerKind::Persistent;
    return std::max<int64_t>(cluster.getSize(), startsOneByOne ? 2 : 1);
  }

  //===--------------------------------------------------------------------===//
  // A, B and their scales
  //===--------------------------------------------------------------------===//

  TileType getATile() const;
  TileType getBTile() const;
  /// The boxes of the copies: a share of the tile where CTAs copy it for one
  /// another.
  TileType getABox() const;
  TileType getBBox() const;
  /// True if copies of A may bring fewer rows than a tile has (`edge = fit`).
  /// It was measured where warpgroups multiply.
  virtual bool mayFitRows() const { return false; }
  bool multicastsA() const;
  bool multicastsB() const;
  /// A's scales of getScaleBlocks() K blocks.
  TileType getAScaleTile() const;
  /// The B scales of a tile's columns, where each column has its own.
  TileType getBScaleTile() const;
  /// The tiles of an operand's scales that a tile's rows of it can fall into.
  int64_t countScaleTiles(gemm::Operand scales) const;
  /// The columns of the equal parts of a tile that have one B scale each,
  /// wherever the tile lies: it starts at a multiple of tile N, and blocks of B
  /// scales end at multiples of b_block.
  int64_t getScalePart() const {
    return std::gcd(tileN, problem.scaling.bBlock);
  }
  /// The blocks of B scales, or the tiles of them, that a tile's columns can
  /// fall into. It starts up to b_block less one part into the first.
  int64_t getNumBScales() const;
  /// The places in a tile at which its first block of B scales can end. A loop
  /// gets a copy for each (--fp8-unswitch-scales).
  int64_t countScaleEnds() const {
    return std::min(tileN, problem.scaling.bBlock) / getScalePart();
  }
  /// A ring of A and B.
  virtual PipelineType getInputRing() const = 0;
  /// The K blocks that the roles take at a time.
  int64_t getStep() const { return kGroup * inputRings; }
  /// True if a tile's K blocks need not be whole steps: those that are left
  /// over take slots of some rings.
  bool dividesSteps() const { return inputRings > 1 && bringsBScales(); }
  /// The blocks that a CTA computes are a multiple of these. Past K's last
  /// block they are of zeros.
  int64_t getBlockMultiple() const {
    return dividesSteps() ? kGroup : getStep();
  }
  /// The name of an operand's tile in a ring.
  StringRef getTileName(gemm::Operand operand) const {
    return problem.getInfo(operand).name;
  }
  /// The same in that ring, of the `index`th K block of a slot.
  std::string getTileName(gemm::Operand operand, int64_t index) const {
    return getTileName(operand).str() +
           (kGroup > 1 ? std::to_string(index) : "");
  }
  /// The name in a ring of the `index`th tile of an operand's scales that a
  /// tile touches.
  std::string getNameOfScales(gemm::Operand scales, int64_t index) const {
    return getTileName(scales).str() + (index ? std::to_string(index) : "");
  }
  /// True if the scales that TMA brings have a ring beside that of A and B.
  virtual bool hasScaleRing() const = 0;
  /// True if the input ring brings B scales that columns share.
  virtual bool bringsBScales() const { return false; }
  /// The K blocks whose scales a thread loads, waits for and hands back
  /// together.
  virtual int64_t getScaleGroup() const = 0;
  /// True if groups of that many K blocks have a loop of their own, which can
  /// be unrolled, and the rest another.
  virtual bool hasWholeGroups() const = 0;

  /// True if one role loads A and another B, each with its scales, before the
  /// kernels in front have ended if the launch says that none of them writes
  /// these.
  virtual bool loadsEarly() const { return false; }

  //===--------------------------------------------------------------------===//
  // D, C and the bias
  //===--------------------------------------------------------------------===//

  /// True if columns of D are the rows of an MMA.
  virtual bool swapsOperands() const = 0;
  /// The rows and columns of a tile of D that a CTA stores. Where several CTAs
  /// divide K, each stores a share: of the rows if operands are swapped, else
  /// of the columns.
  int64_t getStoredRows() const;
  int64_t getStoredColumns() const;
  /// Where CTAs that divide K exchange their sums.
  ExchangeType getExchange() const;
  virtual TileType getStoreTile() const = 0;
  StoreQueueType getStoreQueue() const;
  /// All stored rows of some columns of C, and all columns of the bias.
  TileType getResidualTile() const;
  TileType getBiasTile() const;
  /// The rings with the bias and the residual, as far as there are such.
  SmallVector<PipelineType> getAddendRings() const;

  //===--------------------------------------------------------------------===//
  // Tiles in turn
  //===--------------------------------------------------------------------===//

  /// True if neighbouring clusters share rows of A, else columns of B.
  virtual bool hasBandsOfColumns() const { return false; }
  /// Clusters' tiles, across the neighbours, that are computed together where
  /// the configuration leaves it open; 0 for no bands.
  virtual int64_t getBand() const { return kBand; }

  //===--------------------------------------------------------------------===//
  // Kernel and cost
  //===--------------------------------------------------------------------===//

  /// Makes the rings, deals their ends to the roles, and builds these.
  virtual void buildRoles(const KernelBuilder &base) const = 0;

  /// What the cost model knows of the kernel.
  tuning::KernelShape getShape() const;
  /// Whether ptxas is known to spill sums of the kernel.
  virtual bool spills() const = 0;

protected:
  /// Checks what the configuration pins, and chooses what it leaves open.
  virtual LogicalResult fit(BlockwiseGemmOp op, const chip::Chip &chip) = 0;
  /// Checks that the CTAs that divide K store whole shares.
  LogicalResult checkSplit(BlockwiseGemmOp op, const chip::Chip &chip) const;
  /// Checks that the first row of tiles can be the one that is not full.
  virtual LogicalResult checkEdge(BlockwiseGemmOp op) const;
  /// Columns that a thread, or a warpgroup, has side by side.
  virtual int64_t getOwnedColumns() const = 0;
  virtual int64_t getStoreDepth() const = 0;
  /// The K blocks of A's scales that one copy brings.
  virtual int64_t getScaleBlocks() const = 0;
  /// Adds what the engine decides to the shape.
  virtual void describe(tuning::KernelShape &shape) const = 0;
  /// The bytes of shared memory beside the input ring, and those of a slot.
  virtual std::pair<int64_t, int64_t> getRingSpace() const = 0;
  /// The bytes by which alignment sets input rings of as many slots apart.
  virtual int64_t getRingGaps(int64_t slots) const { return 0; }

  MLIRContext *getContext() const { return problem.getContext(); }
  /// The tile that a copy of the operand by TMA moves.
  TileType getBox(gemm::Operand operand) const;
  /// Some columns of a tile of D. The widest row that the 128-byte swizzle
  /// takes and that divides `multiple` columns.
  TileType getOutputTile(int64_t rows, Type element, int64_t multiple) const;
  /// Checks that TMA can copy rows of a tile of D.
  LogicalResult checkRows(BlockwiseGemmOp op) const;
  /// The bytes of shared memory that do not grow with the number of stages:
  /// the store queue, the rings of addends, the exchange, barriers and
  /// alignment.
  int64_t getFixedSpace() const;
  /// Makes the input ring as deep as it is pinned, or shared memory allows.
  LogicalResult chooseStages(BlockwiseGemmOp op, const chip::Chip &chip);
};

/// Begins an error at the op: it cannot be a kernel for the chip.
InFlightDiagnostic emitNoKernel(BlockwiseGemmOp op, const chip::Chip &chip);

} // namespace mlir::fp8

#endif // FP8_LIB_TRANSFORMS_GEMM_GEMMSCHEDULE_H
