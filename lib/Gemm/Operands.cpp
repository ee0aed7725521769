// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of the GEMM's operands.
#include "fp8/Gemm/Operands.h"

namespace fp8::gemm {
namespace {
using tensor::ElementType;
using tensor::ElementTypes;

constexpr ElementTypes kFactors = {ElementType::F8E4M3FN};
constexpr ElementTypes kScales = {ElementType::F32, ElementType::BF16};
constexpr ElementTypes kMxScales = {ElementType::F8E8M0FNU};
constexpr ElementTypes kAddends = {ElementType::BF16, ElementType::F16,
                                   ElementType::F32};
constexpr ElementTypes kOutputs = {ElementType::BF16, ElementType::F16,
                                   ElementType::F32, ElementType::F8E4M3FN,
                                   ElementType::F8E5M2};
constexpr ElementTypes kNumbers = {ElementType::F32};

constexpr Extent kOne, kM{Axis::M}, kN{Axis::N}, kK{Axis::K},
    kBlocksOfK{Axis::K, kScaleBlock};
} // namespace

std::string Extent::str() const {
  constexpr std::string_view names[] = {"1", "M", "N", "K"};
  std::string name(names[static_cast<size_t>(axis)]);
  return block == 1 ? name : "ceil(" + name + "/" + std::to_string(block) + ")";
}

/// The scales of MXFP8 of an operand's rows.
static OperandInfo getMxScales(Operand operand, std::string_view name,
                               Axis rows) {
  OperandInfo info{operand,
                   name,
                   {rows, kMxTileRows},
                   {Axis::K, kMxTileBlocks * kMxBlock},
                   kMxScales,
                   "G11",
                   false,
                   true,
                   true,
                   false};
  info.tiled = true;
  return info;
}

std::array<OperandInfo, kOperands> getOperands(Scaling scaling) {
  bool isPerColumn = scaling.bBlock == 1;
  Extent blocksOfN{Axis::N, scaling.bBlock};
  // Name, rows, columns, types, rule; optional, batched, by TMA, written.
  std::array<OperandInfo, kOperands> operands = {{
      {Operand::A, "a", kM, kK, kFactors, "G1", false, true, true, false},
      {Operand::AScale, "a_scale", kBlocksOfK, kM, kScales, "G2", false, true,
       true, false},
      {Operand::B, "b", kN, kK, kFactors, "G1", false, true, true, false},
      {Operand::BScale, "b_scale", isPerColumn ? kBlocksOfK : blocksOfN,
       isPerColumn ? kN : kBlocksOfK, kScales, "G2", false, true, isPerColumn,
       false},
      {Operand::C, "c", kM, kN, kAddends, "G7", true, true, true, false},
      {Operand::Beta, "beta", kOne, kOne, kNumbers, "G9", true, false, false,
       false},
      {Operand::Bias, "bias", kOne, kN, kAddends, "G8", true, false, true,
       false},
      {Operand::D, "d", kM, kN, kOutputs, "G3", false, true, true, true},
      {Operand::DScale, "d_scale", kOne, kOne, kNumbers, "G9", true, false,
       false, false},
  }};
  auto replace = [&](const OperandInfo &info) {
    operands[static_cast<size_t>(info.operand)] = info;
  };
  if (scaling.isMx()) {
    replace(getMxScales(Operand::AScale, "a_scale", Axis::M));
    replace(getMxScales(Operand::BScale, "b_scale", Axis::N));
  }
  return operands;
}

OperandInfo getOperand(Operand operand, Scaling scaling) {
  return getOperands(scaling)[static_cast<size_t>(operand)];
}

} // namespace fp8::gemm
