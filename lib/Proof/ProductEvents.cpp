// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The events of products, in tensor memory and in registers.

#include "EventWalker.h"

using namespace mlir;
using namespace mlir::fp8;
using Lanes = ::fp8::proof::Doers::Lanes;

static constexpr EventWalker::Doers kAll{};
static constexpr EventWalker::Doers kElected{Lanes::Elected};

EventWalker::Quantity EventWalker::getAccumulator(Operation *op, Value view) {
  auto accumulator = view.getDefiningOp<AccumulatorOp>();
  if (!accumulator) {
    obstruct(op, "its accumulator may be of several stages");
    return {};
  }
  Place place = getPlace(op, accumulator.getStage());
  return {kNominalColumns, place.cursor,
          cast<OutputPipelineType>(place.ring).getStageColumns()};
}

void EventWalker::multiply(Operation *op, Block &out) {
  auto mma = cast<MmaOp>(op);
  // An instruction multiplies 32 bytes of K (PTX ISA, tcgen05.mma shapes).
  constexpr int64_t kStep = 32;
  int64_t steps = mma.getA().getType().getRowBytes() / kStep;
  Quantity into = getAccumulator(op, mma.getAccumulator());
  std::optional<Quantity> a = getView(op, mma.getA()),
                          b = getView(op, mma.getB());
  TmemType accumulator = mma.getAccumulator().getType();
  bool ofPair = accumulator.getCtaGroup() == 2;
  // What the instruction takes for A and for B.
  auto *first = &a, *second = &b;
  if (accumulator.getSwapped())
    std::swap(first, second);
  // Which columns the scales have is not compared: two rings' slots say it.
  for (Value tile : mma.getScales()) {
    Fields fields;
    if (std::optional<Quantity> from = getView(op, tile))
      fields.push_back({"from", *from});
    add(ofPair ? "copy scales of pair" : "copy scales", op, kElected,
        std::move(fields), out);
  }
  bool isScaled = !mma.getScales().empty();
  for (int64_t step = 0; step < steps; ++step) {
    Fields fields{{"into", into}};
    for (auto [name, view] : {std::pair("a", first), std::pair("b", second)})
      if (*view) {
        Quantity address = **view;
        address.constant += step * kStep;
        fields.push_back({name, address});
      }
    if (step > 0 || !mma.getAccumulate())
      fields.push_back({"accumulates", {step > 0}});
    StringRef kind =
        isScaled ? (ofPair ? "multiply scaled by pair" : "multiply scaled")
        : ofPair ? "multiply by pair"
                 : "multiply";
    add(kind, op, kElected, std::move(fields), out);
  }
}

void EventWalker::multiplyInRegisters(Operation *op, Block &out) {
  auto mma = cast<WarpgroupMmaOp>(op);
  constexpr int64_t kStep = 32;
  add("product fence", op, kAll, {}, out);
  for (int64_t byte = 0; byte < mma.getA().getType().getRowBytes();
       byte += kStep)
    add("product", op, kAll, {}, out);
  add("product commit", op, kAll, {}, out);
}
