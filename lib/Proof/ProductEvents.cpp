// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The events of products, in tensor memory and in registers.

#include "EventWalker.h"

using namespace mlir;
using namespace mlir::fp8;
using Lanes = ::fp8::proof::Doers::Lanes;

static constexpr EventWalker::Doers kAll{};
static constexpr EventWalker::Doers kElected{Lanes::Elected};

/// The layout of a tile in shared memory, as a descriptor has it above the
/// address (PTX ISA, tcgen05 shared memory descriptor): the distance of groups
/// of eight rows, in units of 16 bytes, in bits 32-45, version 1 in 46-48, and
/// the swizzle in 61-63, where 2 is that of 128 bytes.
static int64_t getLayout(int64_t rowBytes, int64_t swizzle) {
  return 8 * rowBytes / 16 << 32 | int64_t(1) << 46 | swizzle << 61;
}

/// The same for wgmma (PTX ISA, wgmma matrix descriptor): no version, and the
/// swizzle in bits 62-63, where 1 is that of 128 bytes.
static constexpr int64_t kLayoutInRegisters =
    int64_t(8 * 128 / 16) << 32 | int64_t(1) << 62;

/// The code of e5m2 among the types of 8 bits, and of bf16 among those of 16,
/// is 1; that of the others is 0.
static int64_t getCode(TileType tile) {
  return isa<Float8E5M2Type, BFloat16Type>(tile.getElementType());
}

/// The instruction descriptor of a step (PTX ISA, tcgen05 instruction
/// descriptor): the types of A and B in bits 7-9 and 10-12, N/8 in 17-22, M/16
/// in 24-28. Without scales D is f32: 1 in bits 4-5. With them, bit 23 says
/// that they are UE8M0, and bits 29-30 and 4-5 which byte of a word A's and B's
/// are.
static int64_t getInstruction(MmaOp mma, int64_t step) {
  TmemType accumulator = mma.getAccumulator().getType();
  TileType a = mma.getA().getType(), b = mma.getB().getType();
  if (accumulator.getSwapped())
    std::swap(a, b);
  auto [rows, columns] = accumulator.getMmaShape();
  int64_t bits =
      getCode(a) << 7 | getCode(b) << 10 | columns / 8 << 17 | rows / 16 << 24;
  return mma.getScales().empty() ? bits | 1 << 4
                                 : bits | step << 4 | 1 << 23 | step << 29;
}

static bool isOf8Bits(TileType tile) {
  return tile.getElementType().getIntOrFloatBitWidth() == 8;
}

/// The type of an operand, as the name of a wgmma has it.
static std::string getTypeName(TileType tile) {
  bool hasCode = getCode(tile);
  if (isOf8Bits(tile))
    return hasCode ? "e5m2" : "e4m3";
  return hasCode ? "bf16" : "f16";
}

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
      fields = {{"from", *from}, {"from_layout", {getLayout(16, 0)}}};
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
        fields.push_back({name + std::string("_layout"), {getLayout(128, 2)}});
      }
    fields.push_back({"instruction", {getInstruction(mma, step)}});
    if (step > 0 || !mma.getAccumulate())
      fields.push_back({"accumulates", {step > 0}});
    StringRef kind =
        isScaled ? (ofPair ? "multiply scaled by pair" : "multiply scaled")
        : ofPair ? "multiply by pair"
                 : "multiply";
    add(kind, op, kElected, std::move(fields), out);
    out.back().event.variant = isScaled                          ? "mxf8f6f4"
                               : isOf8Bits(mma.getA().getType()) ? "f8f6f4"
                                                                 : "f16";
  }
}

void EventWalker::multiplyInRegisters(Operation *op, Block &out) {
  auto mma = cast<WarpgroupMmaOp>(op);
  constexpr int64_t kStep = 32;
  add("product fence", op, kAll, {}, out);
  TileType a = mma.getA().getType(), b = mma.getB().getType();
  if (mma.getPending().getType().getFragment().isSwapped())
    std::swap(a, b);
  std::string shape = "m64n" + std::to_string(b.getRows()) +
                      (isOf8Bits(a) ? "k32" : "k16"),
              types = ".f32." + getTypeName(a) + "." + getTypeName(b);
  for (int64_t byte = 0; byte < a.getRowBytes(); byte += kStep) {
    add("product", op, kAll,
        {{"a_layout", {kLayoutInRegisters}},
         {"b_layout", {kLayoutInRegisters}}},
        out);
    out.back().event.variant = shape + types;
  }
  add("product commit", op, kAll, {}, out);
}
