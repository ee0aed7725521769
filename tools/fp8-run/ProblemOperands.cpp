// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operands' extents and types, by the table of the GEMM's, and their
// layout.
#include "ProblemOperands.h"

#include <algorithm>

namespace fp8::run {
namespace {
using launch::Error;
using tensor::ElementType;
using tensor::ElementTypes;

/// The types of A and B that can be checked: those of the op, and what other
/// kernels multiply.
constexpr ElementTypes kFactors = {ElementType::F8E4M3FN, ElementType::F8E5M2,
                                   ElementType::BF16, ElementType::F16};

int64_t blocks(int64_t extent, int64_t block) {
  return extent / block + (extent % block != 0);
}

int64_t extentOf(gemm::Extent extent, const GemmSizes &sizes) {
  switch (extent.axis) {
  case gemm::Axis::One:
    return 1;
  case gemm::Axis::M:
    return blocks(sizes.m, extent.block);
  case gemm::Axis::N:
    return blocks(sizes.n, extent.block);
  case gemm::Axis::K:
    break;
  }
  return blocks(sizes.k, extent.block);
}

Operand makeOperand(const gemm::OperandInfo &info, const GemmSizes &sizes) {
  bool isFactor =
      info.operand == gemm::Operand::A || info.operand == gemm::Operand::B;
  // Rows of A, B, C and D are as long as the problem says: whether the kernel
  // takes them is for its constraints to say.
  bool isMatrix = info.rows.axis != gemm::Axis::One && info.rows.block == 1;
  return {info.name,
          extentOf(info.rows, sizes),
          extentOf(info.columns, sizes),
          isFactor ? kFactors : info.types,
          info.byTma && !isMatrix,
          !info.batched,
          info.optional};
}

/// A scale for each block of a row of A or of B.
Operand makeMxScales(std::string_view name, int64_t rows,
                     const GemmSizes &sizes) {
  return {name,
          rows,
          blocks(sizes.k, gemm::kMxBlock),
          ElementType::F8E8M0FNU,
          /*padded=*/false,
          /*common=*/false,
          /*optional=*/false,
          /*tiled=*/true};
}
} // namespace

std::vector<Operand> operandsOf(const GemmSizes &sizes) {
  std::vector<Operand> operands;
  for (const gemm::OperandInfo &info : gemm::getOperands({sizes.bBlock})) {
    bool ofA = info.operand == gemm::Operand::AScale;
    if (sizes.isMx() && (ofA || info.operand == gemm::Operand::BScale)) {
      operands.push_back(
          makeMxScales(info.name, ofA ? sizes.m : sizes.n, sizes));
      continue;
    }
    operands.push_back(makeOperand(info, sizes));
    if (info.operand != gemm::Operand::BScale)
      continue;
    operands.push_back(
        makeOperand(gemm::getOperand(info.operand, {/*bBlock=*/1}), sizes));
    operands.back().name = kBScaleRow;
  }
  return operands;
}

std::string listOperands(const std::vector<Operand> &operands) {
  auto list = [&](bool optional) {
    std::vector<std::string> names;
    for (const Operand &operand : operands)
      if (operand.optional == optional)
        names.emplace_back(operand.name);
    std::string text;
    for (size_t i = 0; i < names.size(); ++i) {
      bool isLast = i + 1 == names.size(), isOther = names[i] == kBScaleRow;
      text += (i == 0    ? ""
               : isOther ? " or "
               : isLast  ? " and "
                         : ", ") +
              names[i] + (isOther ? "," : "");
    }
    return text;
  };
  return list(false) + ", and may have " + list(true);
}

namespace {
/// The row stride: what the manifest fixes, or contiguous, padded where TMA
/// wants it.
launch::Expected<int64_t> rowStride(const launch::ArgumentSpec &spec,
                                    const Operand &operand) {
  int64_t columns = operand.columns;
  std::optional<int64_t> inner = spec.strides.back(),
                         fixed = spec.strides[spec.strides.size() - 2];
  if (inner && *inner != 1)
    return Error{"argument '" + spec.name + "' has " + std::to_string(*inner) +
                 " as its inner stride; blockwise_gemm is row-major"};
  int64_t step = operand.padded ? 16 / tensor::byteSize(spec.dtype) : 1;
  int64_t stride = (columns + step - 1) / step * step;
  if (!fixed)
    return stride;
  if (*fixed < columns)
    return Error{"argument '" + spec.name + "' has rows of " +
                 std::to_string(columns) + " elements and the row stride " +
                 std::to_string(*fixed) + "; rows would overlap"};
  return *fixed;
}

/// The distance of the matrices of a batch: what the manifest fixes, or the
/// size of one. The matrices lie one after the other, or row by row.
launch::Expected<int64_t> batchStride(const launch::ArgumentSpec &spec,
                                      const Operand &operand, int64_t count,
                                      int64_t rowStride) {
  int64_t size = 0, rowOfAll = 0, stride = 0;
  if (__builtin_mul_overflow(operand.rows, rowStride, &size))
    return Error{"argument '" + spec.name + "' is too large"};
  stride = spec.strides[0].value_or(size);
  bool apart = count <= 1 || stride >= size;
  bool rowByRow = stride >= operand.columns &&
                  !__builtin_mul_overflow(stride, count, &rowOfAll) &&
                  rowOfAll <= rowStride;
  if (apart || rowByRow)
    return stride;
  return Error{"argument '" + spec.name + "' has matrices of " +
               std::to_string(size) + " elements and the batch stride " +
               std::to_string(stride) + "; they would overlap"};
}

/// Tiles of scales, in rows of tiles and in a batch: as far apart as the
/// manifest fixes, or one after another.
launch::Expected<bool> layOutTiles(const launch::ArgumentSpec &spec,
                                   const Operand &operand,
                                   std::optional<int64_t> batch,
                                   PreparedArgument &argument) {
  std::vector<int64_t> &shape = argument.value.shape,
                       &strides = argument.value.strides;
  shape = {blocks(operand.rows, gemm::kMxTileRows),
           blocks(operand.columns, gemm::kMxTileBlocks), gemm::kMxTile[0],
           gemm::kMxTile[1]};
  if (batch)
    shape.insert(shape.begin(), *batch);
  strides.assign(shape.size(), 1);
  constexpr int64_t kTileScales = gemm::kMxTile[0] * gemm::kMxTile[1];
  int64_t size = 1, reach = 0;
  bool overflow = false;
  for (size_t axis = shape.size(); axis-- > 0;) {
    bool isWithin = axis + 2 >= shape.size();
    strides[axis] = spec.strides[axis].value_or(size);
    auto fail = [&](const char *what) {
      return Error{"argument '" + spec.name + "' has stride " +
                   std::to_string(strides[axis]) + " along axis " +
                   std::to_string(axis) + "; " + what};
    };
    if (isWithin && strides[axis] != size)
      return fail("tiles of scales have no gaps");
    if (shape[axis] > 1 && strides[axis] < size && strides[axis] < kTileScales)
      return fail("tiles of scales would overlap");
    int64_t along = 0;
    overflow |= __builtin_mul_overflow(std::max<int64_t>(shape[axis] - 1, 0),
                                       strides[axis], &along) ||
                __builtin_add_overflow(reach, along, &reach) ||
                __builtin_mul_overflow(shape[axis], strides[axis], &size);
  }
  bool isEmpty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  argument.elements = isEmpty ? 0 : reach + 1;
  return overflow;
}

/// A matrix, or those of a batch.
launch::Expected<bool> layOutMatrices(const launch::ArgumentSpec &spec,
                                      const Operand &operand,
                                      std::optional<int64_t> batch,
                                      PreparedArgument &argument) {
  launch::Expected<int64_t> stride = rowStride(spec, operand);
  if (!stride)
    return stride.takeError();
  argument.value.shape = {operand.rows, operand.columns};
  argument.value.strides = {*stride, 1};
  bool overflow = __builtin_mul_overflow(uint64_t(operand.rows),
                                         uint64_t(*stride), &argument.elements);
  if (batch && !operand.common) {
    launch::Expected<int64_t> apart =
        batchStride(spec, operand, *batch, *stride);
    if (!apart)
      return apart.takeError();
    argument.value.shape.insert(argument.value.shape.begin(), *batch);
    argument.value.strides.insert(argument.value.strides.begin(), *apart);
    uint64_t all = 0;
    overflow |=
        __builtin_mul_overflow(uint64_t(*batch), uint64_t(*apart), &all);
    argument.elements = *batch ? std::max(argument.elements, all) : 0;
  }
  return overflow;
}
} // namespace

launch::Expected<PreparedArgument>
layOut(const launch::ArgumentSpec &spec, const Operand &operand,
       std::optional<int64_t> batch, uint64_t memoryLimit, uint64_t &memory) {
  PreparedArgument argument;
  launch::Expected<bool> overflow =
      operand.tiled ? layOutTiles(spec, operand, batch, argument)
                    : layOutMatrices(spec, operand, batch, argument);
  if (!overflow)
    return overflow.takeError();
  uint64_t bytes = 0;
  if (*overflow ||
      __builtin_mul_overflow(argument.elements, tensor::byteSize(spec.dtype),
                             &bytes) ||
      __builtin_add_overflow(memory, bytes, &memory) || memory > memoryLimit)
    return Error{"the operands take more than " + std::to_string(memoryLimit) +
                 " bytes; choose smaller sizes or raise --memory-limit"};
  argument.name = spec.name;
  argument.access = spec.access;
  argument.value.dtype = spec.dtype;
  return argument;
}

} // namespace fp8::run
