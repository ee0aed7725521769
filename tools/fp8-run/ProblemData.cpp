// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contents of the operands of "blockwise_gemm", its reference, and the
// verdict.
#include "Problem.h"

#include <algorithm>
#include <cstring>

namespace fp8::run {
using gemm::Operand;
using tensor::ElementType;

namespace {
/// The rows of `source`, one after another, to a matrix of the argument.
void fill(PreparedArgument &argument, int64_t matrix,
          const std::vector<uint8_t> &source) {
  int64_t element = tensor::byteSize(argument.value.dtype);
  int64_t row = argument.columns() * element;
  if (row == 0)
    return;
  for (int64_t i = 0; i < argument.rows(); ++i)
    std::memcpy(&argument.bytes[argument.at(matrix, i) * element],
                &source[i * row], row);
}

/// Rows of `source`, `sourceStride` apart, whose values the argument's type
/// holds exactly.
template <typename T>
void fillRounded(PreparedArgument &argument, int64_t matrix,
                 const std::vector<T> &source, int64_t sourceStride) {
  tensor::ElementType type = argument.value.dtype;
  for (int64_t row = 0; row < argument.rows(); ++row)
    for (int64_t column = 0; column < argument.columns(); ++column)
      reference::store(type, argument.bytes.data(),
                       argument.at(matrix, row) + column,
                       source[row * sourceStride + column]);
}

/// Scales of rows and blocks, `scaleAt(row, block)`, to tiles. Beyond the rows
/// they are NaN; beyond K they multiply zeros, and are as large as they can be.
template <typename ScaleAt>
void fillTiles(PreparedArgument &argument, int64_t matrix, int64_t rows,
               int64_t blocks, ScaleAt scaleAt) {
  constexpr int64_t kTileBlocks = gemm::kMxTileBlocks;
  const std::vector<int64_t> &strides = argument.value.strides;
  size_t rank = strides.size();
  int64_t tiles = argument.value.shape[rank - 3],
          first = rank > 4 ? matrix * strides[0] : 0;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t block = 0; block < tiles * kTileBlocks; ++block) {
      int64_t tile = first + row / gemm::kMxTileRows * strides[rank - 4] +
                     block / kTileBlocks * strides[rank - 3],
              place = row % 32 * argument.columns() +
                      row % gemm::kMxTileRows / 32 * kTileBlocks +
                      block % kTileBlocks;
      reference::store(argument.value.dtype, argument.bytes.data(),
                       tile + place,
                       block < blocks ? scaleAt(row, block) : 0x1p127);
    }
}

/// The seed of a product of a batch; the first has the run's.
uint64_t seedOf(uint64_t seed, int64_t matrix) {
  return seed + uint64_t(matrix) * 0x9e3779b97f4a7c15;
}
} // namespace

PreparedArgument *BlockwiseGemm::find(Operand operand) {
  std::string_view name = gemm::getOperand(operand).name;
  for (PreparedArgument &argument : prepared)
    if (argument.name == name ||
        (operand == Operand::BScale && argument.name == kBScaleRow))
      return &argument;
  return nullptr;
}

void BlockwiseGemm::adaptScales(reference::BlockwiseData &data) {
  auto adapt = [&](std::vector<float> &values, const PreparedArgument *holder) {
    for (float &value : values)
      value = holder ? static_cast<float>(
                           reference::roundTo(holder->value.dtype, value))
                     : 1;
  };
  adapt(data.aScale, find(Operand::AScale));
  adapt(data.bScale, find(Operand::BScale));
}

reference::Epilogue BlockwiseGemm::prepareEpilogue(int64_t matrix) {
  reference::Epilogue epilogue;
  // Streams of the seed that the operands of the product do not use.
  constexpr uint64_t cStream = 16, biasStream = 17;
  int64_t m = gemmSizes.m, n = gemmSizes.n;
  auto addend = [&](Operand operand, int64_t count, uint64_t stream) {
    PreparedArgument *argument = find(operand);
    if (!argument)
      return std::vector<double>();
    // What a batch has in common is made again, the same, for each.
    bool common = argument->value.shape.size() == 2;
    std::vector<double> values =
        reference::makeAddend(argument->value.dtype, count,
                              common ? seed : seedOf(seed, matrix), stream);
    fillRounded(*argument, matrix, values, n);
    return values;
  };
  auto number = [&](Operand operand, double value) {
    PreparedArgument *argument = find(operand);
    if (!argument)
      return 1.0;
    fillRounded(*argument, matrix, std::vector<double>{value}, 1);
    return value;
  };
  epilogue.c = addend(Operand::C, m * n, cStream);
  epilogue.bias = addend(Operand::Bias, n, biasStream);
  // Exact in f32, and unlike what a kernel that forgets them uses.
  epilogue.beta = number(Operand::Beta, beta.value_or(-0.75));
  epilogue.scale = number(Operand::DScale, 0.171875);
  epilogue.function = elementwise;
  // What must not be read is NaN.
  if (PreparedArgument *c = find(Operand::C); c && epilogue.beta == 0)
    std::fill(c->bytes.begin(), c->bytes.end(), 0xff);
  return epilogue;
}

void BlockwiseGemm::prepareZeros() {
  for (PreparedArgument &argument : prepared)
    argument.bytes.assign(
        argument.elements * tensor::byteSize(argument.value.dtype), 0);
}

void BlockwiseGemm::prepare() {
  isPrepared = true;
  // The padding is 0xff, a NaN of every type.
  for (PreparedArgument &argument : prepared)
    argument.bytes.assign(
        argument.elements * tensor::byteSize(argument.value.dtype), 0xff);
  PreparedArgument &d = prepared[output];
  reference::fillWithPoison(outputType, d.bytes.data(), d.elements);
  for (int64_t matrix = 0; matrix < gemmSizes.batch.value_or(1); ++matrix)
    prepareMatrix(matrix);
}

void BlockwiseGemm::prepareMatrix(int64_t matrix) {
  int64_t n = gemmSizes.n;
  data.push_back(reference::makeBlockwiseData(
      gemmSizes.m, n, gemmSizes.k, seedOf(seed, matrix), kind, operandTypes,
      gemmSizes.bBlock, gemmSizes.kBlock));
  reference::BlockwiseData &operands = data.back();
  adaptScales(operands);
  expected.push_back(reference::computeReference(operands));
  reference::applyEpilogue(prepareEpilogue(matrix), expected.back());
  fill(*find(Operand::A), matrix, operands.a);
  fill(*find(Operand::B), matrix, operands.b);
  if (gemmSizes.isMx())
    return fillMxScales(matrix, operands);
  if (PreparedArgument *scales = find(Operand::AScale))
    fillRounded(*scales, matrix, operands.aScale, operands.aScaleStride);
  PreparedArgument *scales = find(Operand::BScale);
  if (!scales)
    return;
  if (scales->name != kBScaleRow && gemmSizes.bBlock > 1)
    return fillRounded(*scales, matrix, operands.bScale, operands.kBlocks());
  std::vector<float> rows;
  for (int64_t block = 0; block < operands.kBlocks(); ++block)
    for (int64_t column = 0; column < n; ++column)
      rows.push_back(operands.bScaleAt(column, block));
  fillRounded(*scales, matrix, rows, n);
}

void BlockwiseGemm::fillMxScales(int64_t matrix,
                                 const reference::BlockwiseData &operands) {
  fillTiles(*find(Operand::AScale), matrix, operands.m, operands.kBlocks(),
            [&](int64_t row, int64_t block) {
              return operands.aScale[block * operands.aScaleStride + row];
            });
  fillTiles(*find(Operand::BScale), matrix, operands.n, operands.kBlocks(),
            [&](int64_t row, int64_t block) {
              return operands.bScaleAt(row, block);
            });
}

/// True if something outside the matrices of D is not as it was.
bool BlockwiseGemm::changesPadding(const std::vector<uint8_t> &d) const {
  const PreparedArgument &argument = prepared[output];
  int64_t matrices = gemmSizes.batch.value_or(1);
  if (argument.elements == uint64_t(matrices * gemmSizes.m * gemmSizes.n))
    return false;
  std::vector<bool> isPadding(argument.elements, true);
  for (int64_t matrix = 0; matrix < matrices; ++matrix)
    for (int64_t row = 0; row < gemmSizes.m; ++row)
      std::fill_n(isPadding.begin() + argument.at(matrix, row), gemmSizes.n,
                  false);
  for (uint64_t at = 0; at < argument.elements; ++at)
    if (isPadding[at] && reference::loadBits(outputType, d.data(), at) !=
                             reference::poisonBits(outputType))
      return true;
  return false;
}

BlockwiseGemm::Verdict
BlockwiseGemm::judge(const std::vector<uint8_t> &d) const {
  const PreparedArgument &argument = prepared[output];
  auto checkMatrix = [&](int64_t matrix) {
    uint64_t start = argument.at(matrix, 0) * byteSize(outputType);
    reference::CheckResult result =
        reference::check(data[matrix], expected[matrix], outputType,
                         d.data() + start, argument.rowStride(), sums);
    if (hardware && elementwise == reference::Elementwise::Silu)
      result.frobeniusFloor += reference::tanhFloor(outputType);
    return result;
  };
  Verdict verdict;
  if (!gemmSizes.batch)
    verdict.result = checkMatrix(0);
  else
    for (int64_t matrix = 0; matrix < *gemmSizes.batch; ++matrix)
      verdict.result.merge(checkMatrix(matrix), matrix);
  verdict.paddingChanged = changesPadding(d);
  return verdict;
}

} // namespace fp8::run
