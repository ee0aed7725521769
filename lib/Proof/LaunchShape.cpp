// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions of what the launch decides: numbers of threads, CTAs and
// clusters, and how many there are. Warps have their numbers along x, and
// clusters extend along x.

#include "Expressions.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace ::fp8::proof;

static constexpr int64_t kWarpSize = 32;

static StringRef getAxis(gpu::Dimension dimension) {
  return gpu::stringifyDimension(dimension);
}

/// The number of CTAs along an axis.
static ExprId getGridSize(ExprTable &table, gpu::Dimension dimension,
                          int64_t clusterSize) {
  int64_t least = dimension == gpu::Dimension::x ? clusterSize : 1;
  return table.getParameter(
      {("CTAs of the grid along " + getAxis(dimension)).str(), Scope::Launch,
       least, std::nullopt, std::nullopt, least});
}

void ProcessExpressions::followRank(std::optional<int64_t> number) {
  followsRank = true;
  inPair = number;
}

ExprId ProcessExpressions::getPlace() {
  return table.getParameter(
      {inPair ? "pair's number in its cluster" : "CTA's number in its cluster",
       Scope::Cta, 0, getNumPlaces() - 1, std::nullopt});
}

ExprId ProcessExpressions::getRank() {
  if (!followsRank)
    return table.get(ExprKind::Remainder, {getBlockId(gpu::Dimension::x),
                                           table.getConstant(clusterSize)});
  if (!inPair)
    return getPlace();
  ExprId first = table.getConstant(0);
  if (getNumPlaces() > 1)
    first = table.get(ExprKind::Multiply, {getPlace(), table.getConstant(2)});
  return table.get(ExprKind::Add, {first, table.getConstant(*inPair)});
}

ExprId ProcessExpressions::getBlockId(gpu::Dimension dimension) {
  int64_t size = table[getGridSize(table, dimension, clusterSize)].value;
  if (dimension == gpu::Dimension::x && followsRank && clusterSize > 1) {
    ExprId cluster = table.getParameter({"cluster's number", Scope::Launch, 0,
                                         std::nullopt, size, 1, clusterSize});
    return table.get(ExprKind::Add,
                     {table.get(ExprKind::Multiply,
                                {cluster, table.getConstant(clusterSize)}),
                      getRank()});
  }
  // Clusters extend along x, so that their CTAs differ there only.
  bool differs = dimension == gpu::Dimension::x || clusterSize == 1;
  Scope scope = differs ? Scope::Cta : Scope::Launch;
  return table.getParameter({("CTA's number along " + getAxis(dimension)).str(),
                             scope, 0, std::nullopt, size});
}

ExprId ProcessExpressions::getThread() {
  int64_t first = kWarpSize * warps.first,
          last = first + kWarpSize * warps.count - 1;
  return table.getParameter(
      {("number of a thread from " + Twine(first) + " to " + Twine(last)).str(),
       Scope::Thread, first, last, std::nullopt});
}

ExprId ProcessExpressions::getLane() {
  return table.getParameter(
      {"the lane's number", Scope::Thread, 0, 31, std::nullopt});
}

/// The value along x is what the function makes. Along the other axes there is
/// one thread, or one CTA of a cluster, whose number is 0.
template <typename Op>
static ExprId alongX(Op op, ExprId other, llvm::function_ref<ExprId()> make) {
  return op.getDimension() == gpu::Dimension::x ? make() : other;
}

std::optional<ExprId> ProcessExpressions::computeShape(Operation *op) {
  ExprId zero = table.getConstant(0), one = table.getConstant(1);
  auto constant = [&](int64_t value) {
    return [this, value] { return table.getConstant(value); };
  };
  auto inClusters = [&](ExprId ctas) {
    return [this, ctas] {
      return table.get(ExprKind::FloorDivide,
                       {ctas, table.getConstant(clusterSize)});
    };
  };
  return llvm::TypeSwitch<Operation *, std::optional<ExprId>>(op)
      .Case([&](gpu::BlockIdOp id) { return getBlockId(id.getDimension()); })
      .Case([&](gpu::GridDimOp size) {
        return getGridSize(table, size.getDimension(), clusterSize);
      })
      .Case([&](gpu::BlockDimOp size) {
        return alongX(size, one, constant(kWarpSize * numWarps));
      })
      .Case([&](gpu::ThreadIdOp id) {
        return alongX(id, zero, [&] { return getThread(); });
      })
      .Case([&](gpu::LaneIdOp) { return getLane(); })
      .Case([&](gpu::ClusterBlockIdOp id) {
        return alongX(id, zero, [&] { return getRank(); });
      })
      .Case([&](gpu::ClusterDimBlocksOp size) {
        return alongX(size, one, constant(clusterSize));
      })
      .Case([&](gpu::ClusterIdOp id) {
        ExprId cta = getBlockId(id.getDimension());
        return alongX(id, cta, inClusters(cta));
      })
      .Case([&](gpu::ClusterDimOp size) {
        ExprId ctas = getGridSize(table, size.getDimension(), clusterSize);
        return alongX(size, ctas, inClusters(ctas));
      })
      .Default([](Operation *) { return std::nullopt; });
}
