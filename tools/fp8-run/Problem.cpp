// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// "blockwise_gemm": D = sum_kb a_scale * b_scale * (A.B^T)_kb, and what may
// follow; "gemm": the same without a_scale and b_scale.
#include "Problem.h"

#include <algorithm>

namespace fp8::run {
namespace {
using launch::Error;
using launch::Manifest;
using tensor::ElementType;
using tensor::ElementTypes;

/// The types of A and B that can be checked: those of the op, and what other
/// kernels multiply.
constexpr ElementTypes kFactors = {ElementType::F8E4M3FN, ElementType::F8E5M2,
                                   ElementType::BF16, ElementType::F16};

/// An operand of the problem, with its extents.
struct Operand {
  std::string_view name;
  int64_t rows, columns;
  ElementTypes types;
  bool padded; ///< its rows are padded to 16 bytes, as TMA wants them
  bool common; ///< all products of a batch have it in common
  bool optional;
  bool tiled = false; ///< in tiles, as the scales of MXFP8 lie
};

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

std::vector<Operand> operandsOf(const GemmSizes &sizes) {
  std::vector<Operand> operands;
  for (const gemm::OperandInfo &info : gemm::getOperands(sizes.bBlock)) {
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
        makeOperand(gemm::getOperand(info.operand, /*bBlock=*/1), sizes));
    operands.back().name = kBScaleRow;
  }
  return operands;
}

/// "a, a_scale, b, b_scale or b_scale_row, and d, and may have c and d_scale".
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

/// Sizes with the elements that share a scale, which the scales' type tells.
GemmSizes makeSizes(const Manifest &manifest) {
  GemmSizes sizes;
  std::optional<unsigned> scales = manifest.findArgument("a_scale");
  if (scales && manifest.arguments[*scales].dtype == ElementType::F8E8M0FNU) {
    sizes.bBlock = 1;
    sizes.kBlock = gemm::kMxBlock;
  }
  return sizes;
}

/// The rows of B that share a scale.
launch::Expected<int64_t> readBBlock(const Manifest &manifest) {
  GemmSizes sizes = makeSizes(manifest);
  int64_t block = sizes.bBlock;
  for (const auto &[name, value] : manifest.problemOptions) {
    if (sizes.isMx())
      return Error{"blockwise_gemm with scales of f8E8M0FNU has no options, "
                   "but the manifest has '" +
                   name + "'; remove it"};
    if (name != "b_block")
      return Error{"blockwise_gemm has no option '" + name +
                   "'; its only option is b_block"};
    if (value < 1 || value > gemm::kScaleBlock)
      return Error{"b_block is " + std::to_string(value) +
                   "; 1 to 128 rows of B can share a scale"};
    block = value;
  }
  return block;
}

/// True if there is a batch: D has three dimensions.
bool isBatch(const Manifest &manifest) {
  std::optional<unsigned> d = manifest.findArgument("d");
  return d && manifest.arguments[*d].shape.size() == 3;
}

/// Which scales there are: A's with one form of B's, or none.
std::optional<Error> checkScales(const Manifest &manifest) {
  bool a = manifest.findArgument("a_scale").has_value();
  int b = manifest.findArgument("b_scale").has_value() +
          manifest.findArgument("b_scale_row").has_value();
  if (manifest.problem == "gemm" && (a || b))
    return Error{"the manifest has block scales, but its problem is gemm; set "
                 "the problem to blockwise_gemm"};
  if (b == 2)
    return Error{"the manifest has both 'b_scale' and 'b_scale_row'; remove "
                 "one of them"};
  if (a != (b == 1))
    return Error{std::string("the manifest has no argument '") +
                 (a ? "b_scale" : "a_scale") +
                 "', which blockwise_gemm needs together with '" +
                 (a ? "a_scale" : "b_scale") + "'"};
  if (manifest.findArgument("beta") && !manifest.findArgument("c"))
    return Error{"the manifest has 'beta', but not 'c', which it multiplies"};
  return std::nullopt;
}

/// Each argument is one operand, and each operand one argument of rank 2; of
/// rank 3 in a batch.
std::optional<Error> checkOperands(const Manifest &manifest) {
  std::vector<Operand> operands = operandsOf(makeSizes(manifest));
  for (const launch::ArgumentSpec &argument : manifest.arguments) {
    auto operand = std::find_if(
        operands.begin(), operands.end(),
        [&](const Operand &operand) { return operand.name == argument.name; });
    if (operand == operands.end())
      return Error{"argument '" + argument.name +
                   "' is not an operand of blockwise_gemm, which has " +
                   listOperands(operands)};
    if (operand->tiled) {
      if (argument.shape.size() != 4 || isBatch(manifest))
        return Error{"argument '" + argument.name +
                     "' has scales of f8E8M0FNU, which lie in tiles, "
                     "(ceil(rows/128), ceil(K/128), 32, 16), without a batch"};
      continue;
    }
    bool inBatch = isBatch(manifest) && !operand->common;
    if (argument.shape.size() != (inBatch ? 3 : 2))
      return Error{
          "argument '" + argument.name + "' has rank " +
          std::to_string(argument.shape.size()) +
          (inBatch ? ", but d has rank 3; in a batch both have the same rank"
                   : "; the operands of blockwise_gemm are matrices")};
  }
  for (const char *name : {"a", "b", "d"})
    if (!manifest.findArgument(name))
      return Error{std::string("the manifest has no argument '") + name +
                   "', which blockwise_gemm needs"};
  return checkScales(manifest);
}

/// A and B as a tensor core multiplies them: both of 8 bits, or of one type.
launch::Expected<reference::OperandTypes>
operandTypesOf(const Manifest &manifest) {
  ElementType a = manifest.arguments[*manifest.findArgument("a")].dtype;
  ElementType b = manifest.arguments[*manifest.findArgument("b")].dtype;
  reference::OperandTypes types{a, b};
  if (a != b && (byteSize(a) > 1 || byteSize(b) > 1))
    return Error{"'a' has element type " + std::string(tensor::spelling(a)) +
                 " and 'b' " + std::string(tensor::spelling(b)) +
                 "; operands wider than 8 bits must have the same type"};
  return types;
}

launch::Expected<int64_t>
resolveSize(const Manifest &manifest, const std::string &flag,
            std::optional<int64_t> asked,
            std::initializer_list<std::pair<const char *, unsigned>> places) {
  std::optional<int64_t> fixed;
  std::string fixedBy, open;
  for (auto [name, matrixAxis] : places) {
    unsigned axis = matrixAxis + (isBatch(manifest) && flag != "batch");
    std::string place =
        std::string(name) + ".shape[" + std::to_string(axis) + "]";
    std::optional<unsigned> index = manifest.findArgument(name);
    if (!index)
      continue;
    std::optional<int64_t> extent = manifest.arguments[*index].shape[axis];
    if (!extent) {
      open = open.empty() ? place : open;
      continue;
    }
    if (fixed && *fixed != *extent)
      return Error{"the manifest contradicts itself: " + fixedBy + " is " +
                   std::to_string(*fixed) + " and " + place + " is " +
                   std::to_string(*extent)};
    fixed = extent;
    fixedBy = place;
  }
  if (fixed && asked && *asked != *fixed)
    return Error{"--" + flag + "=" + std::to_string(*asked) +
                 " conflicts with " + fixedBy + ", which the kernel fixes at " +
                 std::to_string(*fixed)};
  if (!fixed && !asked)
    return Error{"--" + flag + " is needed: the kernel leaves " + open +
                 " open"};
  return fixed ? *fixed : *asked;
}

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

/// Tiles of scales, one after another.
bool layOutTiles(const Operand &operand, PreparedArgument &argument) {
  constexpr int64_t kRows = gemm::kMxTileRows / 4,
                    kColumns = 4 * gemm::kMxTileBlocks;
  int64_t ofRows = blocks(operand.rows, gemm::kMxTileRows),
          ofColumns = blocks(operand.columns, gemm::kMxTileBlocks);
  argument.value.shape = {ofRows, ofColumns, kRows, kColumns};
  argument.value.strides = {ofColumns * kRows * kColumns, kRows * kColumns,
                            kColumns, 1};
  return __builtin_mul_overflow(uint64_t(ofRows),
                                uint64_t(argument.value.strides[0]),
                                &argument.elements);
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

launch::Expected<PreparedArgument>
layOut(const launch::ArgumentSpec &spec, const Operand &operand,
       std::optional<int64_t> batch, uint64_t memoryLimit, uint64_t &memory) {
  PreparedArgument argument;
  launch::Expected<bool> overflow =
      operand.tiled ? layOutTiles(operand, argument)
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

} // namespace

launch::Expected<GemmSizes> resolveSizes(const Manifest &manifest,
                                         const Options &options) {
  if (auto error = checkOperands(manifest))
    return *error;
  GemmSizes sizes = makeSizes(manifest);
  launch::Expected<int64_t> m =
      sizes.isMx() ? resolveSize(manifest, "m", options.m, {{"a", 0}, {"d", 0}})
                   : resolveSize(manifest, "m", options.m,
                                 {{"a", 0}, {"d", 0}, {"a_scale", 1}});
  if (!m)
    return m.takeError();
  launch::Expected<int64_t> n =
      resolveSize(manifest, "n", options.n, {{"b", 0}, {"d", 1}});
  if (!n)
    return n.takeError();
  launch::Expected<int64_t> k =
      resolveSize(manifest, "k", options.k, {{"a", 1}, {"b", 1}});
  if (!k)
    return k.takeError();
  launch::Expected<int64_t> bBlock = readBBlock(manifest);
  if (!bBlock)
    return bBlock.takeError();
  sizes.m = *m;
  sizes.n = *n;
  sizes.k = *k;
  sizes.bBlock = *bBlock;
  if (isBatch(manifest)) {
    launch::Expected<int64_t> batch = resolveSize(
        manifest, "batch", options.batch, {{"a", 0}, {"b", 0}, {"d", 0}});
    if (!batch)
      return batch.takeError();
    sizes.batch = *batch;
  } else if (options.batch) {
    return Error{"--batch is for kernels whose operands have three dimensions; "
                 "the operands of this kernel are matrices"};
  }
  return sizes;
}

launch::Expected<BlockwiseGemm> BlockwiseGemm::make(const Manifest &manifest,
                                                    const Options &options) {
  launch::Expected<GemmSizes> sizes = resolveSizes(manifest, options);
  if (!sizes)
    return sizes.takeError();
  BlockwiseGemm gemm;
  gemm.sums = reference::sumsOf(manifest.chip,
                                manifest.problem != "gemm" && !sizes->isMx());
  gemm.gemmSizes = *sizes;
  gemm.seed = options.seed;
  gemm.kind = options.data;
  gemm.beta = options.beta;
  gemm.elementwise = options.elementwise;
  if (options.beta && !manifest.findArgument("beta"))
    return Error{"--beta is given, but the manifest has no argument 'beta'"};
  gemm.output = *manifest.findArgument("d");

  std::vector<Operand> operands = operandsOf(*sizes);
  uint64_t memory = 0;
  std::vector<launch::ArgumentValue> values;
  for (const launch::ArgumentSpec &spec : manifest.arguments) {
    auto operand = std::find_if(
        operands.begin(), operands.end(),
        [&](const Operand &candidate) { return candidate.name == spec.name; });
    if (!operand->types.contains(spec.dtype))
      return Error{"argument '" + spec.name + "' has element type " +
                   std::string(tensor::spelling(spec.dtype)) +
                   (spec.name == "d" ? "; fp8-run can check "
                                     : "; blockwise_gemm takes ") +
                   operand->types.str("and")};
    auto argument =
        layOut(spec, *operand, sizes->batch, options.memoryLimit, memory);
    if (!argument)
      return argument.takeError();
    values.push_back(argument->value);
    gemm.prepared.push_back(std::move(*argument));
  }
  gemm.outputType = manifest.arguments[gemm.output].dtype;
  auto operandTypes = operandTypesOf(manifest);
  if (!operandTypes)
    return operandTypes.takeError();
  gemm.operandTypes = *operandTypes;
  if (auto error = launch::checkArguments(manifest, values))
    return *error;
  return gemm;
}

} // namespace fp8::run
