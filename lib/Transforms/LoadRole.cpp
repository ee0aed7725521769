// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The load role of a GEMM: fills the input ring with A, B and A's scales, and
// with B's where each column has its own.
//
// Ends: the input ring's; that of the ring of scales, if they have one of
// their own; the throttle's and the work queue's, if there are such.

#include "KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

class LoadRole : public KernelBuilder {
public:
  explicit LoadRole(const KernelBuilder &base) : KernelBuilder(base) {}

  void build(ValueRange ends);

private:
  void load(Value map, ValueRange coordinates, Value stage, StringRef name,
            std::optional<ClusterAxis> multicast);
  void loadScales(Value block, Value m, Value column, Value stage);
  /// The first row of B that this CTA loads for the tile.
  Value getBRow(Value row, Value column);
};

} // namespace

void LoadRole::load(Value map, ValueRange coordinates, Value stage,
                    StringRef name, std::optional<ClusterAxis> multicast) {
  auto axis = multicast ? ClusterAxisAttr::get(builder.getContext(), *multicast)
                        : ClusterAxisAttr();
  TmaLoadOp::create(builder, loc, map, coordinates, stage,
                    builder.getStringAttr(name), axis);
}

void LoadRole::loadScales(Value block, Value m, Value column, Value stage) {
  load(argument(GemmParameter::AScaleMap), place(block, m), stage, "a_scale",
       std::nullopt);
  if (plan.hasColumnScales())
    load(argument(GemmParameter::BScaleMap),
         place(block, scaled(column, plan.tileN)), stage, "b_scale",
         std::nullopt);
}

Value LoadRole::getBRow(Value row, Value column) {
  Value first = scaled(column, plan.tileN);
  if (plan.ctaGroup == 1)
    return first;
  // The CTAs of a pair are neighbours along M and hold half of B's rows each.
  Value half = arith::RemUIOp::create(builder, loc, row, constant(2));
  return arith::AddIOp::create(builder, loc, first,
                               scaled(half, plan.getCtaColumns()));
}

void LoadRole::build(ValueRange producers) {
  using Axis = std::optional<ClusterAxis>;
  Axis aAxis = plan.multicastsA() ? Axis(ClusterAxis::N) : std::nullopt,
       bAxis = plan.multicastsB() ? Axis(ClusterAxis::M) : std::nullopt;
  role("load", 1, producers, [&](ValueRange ends) {
    return forEachTile(ends, [&](Value row, Value column, ValueRange carried) {
      Value m = scaled(row, plan.getCtaRows()), n = getBRow(row, column);
      Carried throttle;
      if (plan.isDynamic()) {
        // Lets the scheduler ask for the next tile.
        throttle = inLeadingCta(
            CtaGrouping::Cluster, carried.back(), [&](ValueRange inner) {
              return stageScope<ProduceOp>(
                  inner, {}, [](ValueRange) { return Carried(); });
            });
        carried = carried.drop_back();
      }
      Carried next = forEachBlock(carried, [&](Value block, ValueRange inner) {
        Value k = scaled(block, plan.tileK);
        Carried next = stageScope<ProduceOp>(
            inner[0], {}, [&](ValueRange stages) -> Carried {
              load(argument(GemmParameter::AMap), place(m, k), stages[0], "a",
                   aAxis);
              load(argument(GemmParameter::BMap), place(n, k), stages[0], "b",
                   bAxis);
              if (!plan.separatesScales())
                loadScales(block, m, column, stages[0]);
              return {};
            });
        if (plan.separatesScales())
          next.append(stageScope<ProduceOp>(
              inner[1], {}, [&](ValueRange stages) -> Carried {
                loadScales(block, m, column, stages[0]);
                return {};
              }));
        return next;
      });
      next.append(throttle);
      return next;
    });
  });
}

void fp8::buildLoadRole(const KernelBuilder &base, ValueRange ends) {
  LoadRole(base).build(ends);
}
