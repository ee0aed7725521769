// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// "blockwise_gemm": D = sum_kb a_scale * b_scale * (A.B^T)_kb, and what may
// follow; "gemm": the same without a_scale and b_scale.
#include "Problem.h"

#include <algorithm>

namespace fp8::run {
namespace {
using launch::DataType;
using launch::Error;
using launch::Manifest;

constexpr DataType factors[] = {DataType::F8E4M3FN, DataType::F8E5M2,
                                DataType::BF16, DataType::F16};
constexpr DataType scalar[] = {DataType::F32};
constexpr DataType scales[] = {DataType::F32, DataType::BF16};
constexpr DataType addends[] = {DataType::BF16, DataType::F16, DataType::F32};
constexpr DataType outputs[] = {DataType::BF16, DataType::F16, DataType::F32,
                                DataType::F8E4M3FN};

/// An operand's name, its extents as functions of the sizes, and the types that
/// it may have.
struct Operand {
  const char *name;
  int64_t rows, columns;
  const DataType *types;
  size_t typeCount;
  /// Its rows are padded to 16 bytes, as TMA wants them.
  bool padded = false;
  /// All products of a batch have it in common.
  bool common = false;

  template <size_t count>
  Operand(const char *name, int64_t rows, int64_t columns,
          const DataType (&types)[count], bool padded = false,
          bool common = false)
      : name(name), rows(rows), columns(columns), types(types),
        typeCount(count), padded(padded), common(common) {}

  bool takes(DataType type) const {
    return std::find(types, types + typeCount, type) != types + typeCount;
  }
  /// "bf16, f16 and f32".
  std::string typeNames() const {
    std::string text;
    for (size_t i = 0; i < typeCount; ++i)
      text += (i == 0               ? ""
               : i + 1 == typeCount ? " and "
                                    : ", ") +
              std::string(launch::spelling(types[i]));
    return text;
  }
};

int64_t blocks(int64_t extent, int64_t block = reference::scaleBlock) {
  return extent / block + (extent % block != 0);
}

std::vector<Operand> operandsOf(const GemmSizes &sizes) {
  Operand bScaleRow{"b_scale_row", blocks(sizes.k), sizes.n, scales,
                    /*padded=*/true};
  Operand bScale{"b_scale", blocks(sizes.n, sizes.bBlock), blocks(sizes.k),
                 scales};
  if (sizes.bBlock == 1) {
    bScale = bScaleRow;
    bScale.name = "b_scale";
  }
  return {{"a", sizes.m, sizes.k, factors},
          {"a_scale", blocks(sizes.k), sizes.m, scales, /*padded=*/true},
          {"b", sizes.n, sizes.k, factors},
          bScale,
          bScaleRow,
          {"c", sizes.m, sizes.n, addends},
          {"beta", 1, 1, scalar, /*padded=*/false, /*common=*/true},
          {"bias", 1, sizes.n, addends, /*padded=*/true, /*common=*/true},
          {"d_scale", 1, 1, scalar, /*padded=*/false, /*common=*/true},
          {"d", sizes.m, sizes.n, outputs}};
}

/// The rows of B that share a scale.
launch::Expected<int64_t> readBBlock(const Manifest &manifest) {
  int64_t block = reference::scaleBlock;
  for (const auto &[name, value] : manifest.problemOptions) {
    if (name != "b_block")
      return Error{"blockwise_gemm has no option '" + name +
                   "'; what it has is b_block"};
    if (value < 1 || value > reference::scaleBlock)
      return Error{"b_block is " + std::to_string(value) +
                   "; from 1 to 128 rows of B can share a scale"};
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
    return Error{"the manifest has scales of blocks, which gemm has not; its "
                 "problem is blockwise_gemm"};
  if (b == 2)
    return Error{"the manifest has both 'b_scale' and 'b_scale_row'; "
                 "blockwise_gemm takes one of them"};
  if (a != (b == 1))
    return Error{std::string("the manifest has no argument '") +
                 (a ? "b_scale" : "a_scale") +
                 "', which blockwise_gemm needs beside '" +
                 (a ? "a_scale" : "b_scale") + "'"};
  if (manifest.findArgument("beta") && !manifest.findArgument("c"))
    return Error{"the manifest has 'beta', but no 'c' for it to multiply"};
  return std::nullopt;
}

/// Each argument is one operand, and each operand one argument of rank 2; of
/// rank 3 in a batch.
std::optional<Error> checkOperands(const Manifest &manifest) {
  std::vector<Operand> operands = operandsOf({});
  for (const launch::ArgumentSpec &argument : manifest.arguments) {
    auto operand = std::find_if(
        operands.begin(), operands.end(),
        [&](const Operand &operand) { return operand.name == argument.name; });
    if (operand == operands.end())
      return Error{"argument '" + argument.name +
                   "' is not an operand of blockwise_gemm, which has a, "
                   "a_scale, b, b_scale or b_scale_row, and d, and may have "
                   "c, beta, bias and d_scale"};
    bool inBatch = isBatch(manifest) && !operand->common;
    if (argument.shape.size() != (inBatch ? 3 : 2))
      return Error{"argument '" + argument.name + "' has rank " +
                   std::to_string(argument.shape.size()) +
                   (inBatch ? ", and d has 3; in a batch it has as many"
                            : "; the operands of blockwise_gemm are matrices")};
  }
  for (const char *name : {"a", "b", "d"})
    if (!manifest.findArgument(name))
      return Error{std::string("the manifest has no argument '") + name +
                   "', which blockwise_gemm needs"};
  return checkScales(manifest);
}

std::optional<reference::OperandType> operandTypeOf(DataType type) {
  switch (type) {
  case DataType::F8E4M3FN:
    return reference::OperandType::F8E4M3FN;
  case DataType::F8E5M2:
    return reference::OperandType::F8E5M2;
  case DataType::BF16:
    return reference::OperandType::BF16;
  case DataType::F16:
    return reference::OperandType::F16;
  default:
    return std::nullopt;
  }
}

/// A and B as a tensor core multiplies them: both of 8 bits, or of one type.
launch::Expected<reference::OperandTypes>
operandTypesOf(const Manifest &manifest) {
  DataType a = manifest.arguments[*manifest.findArgument("a")].dtype;
  DataType b = manifest.arguments[*manifest.findArgument("b")].dtype;
  reference::OperandTypes types{*operandTypeOf(a), *operandTypeOf(b)};
  if (a != b && !(isFloat8(types.a) && isFloat8(types.b)))
    return Error{"'a' has element type " + std::string(launch::spelling(a)) +
                 " and 'b' " + std::string(launch::spelling(b)) +
                 "; operands wider than 8 bits are of one type"};
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
                 " conflicts with " + fixedBy + ", compiled to be " +
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
  int64_t step = operand.padded ? 16 / launch::byteSize(spec.dtype) : 1;
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

launch::Expected<PreparedArgument>
layOut(const launch::ArgumentSpec &spec, const Operand &operand,
       std::optional<int64_t> batch, uint64_t memoryLimit, uint64_t &memory) {
  launch::Expected<int64_t> stride = rowStride(spec, operand);
  if (!stride)
    return stride.takeError();
  PreparedArgument argument;
  argument.value.shape = {operand.rows, operand.columns};
  argument.value.strides = {*stride, 1};
  uint64_t bytes = 0;
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
  overflow |= __builtin_mul_overflow(argument.elements,
                                     launch::byteSize(spec.dtype), &bytes) ||
              __builtin_add_overflow(memory, bytes, &memory);
  if (overflow || memory > memoryLimit)
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
  launch::Expected<int64_t> m = resolveSize(
      manifest, "m", options.m, {{"a", 0}, {"d", 0}, {"a_scale", 1}});
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
  GemmSizes sizes{*m, *n, *k, std::nullopt, *bBlock};
  if (isBatch(manifest)) {
    launch::Expected<int64_t> batch = resolveSize(
        manifest, "batch", options.batch, {{"a", 0}, {"b", 0}, {"d", 0}});
    if (!batch)
      return batch.takeError();
    sizes.batch = *batch;
  } else if (options.batch) {
    return Error{"--batch is for kernels whose operands have three "
                 "dimensions; this one's are matrices"};
  }
  return sizes;
}

launch::Expected<BlockwiseGemm> BlockwiseGemm::make(const Manifest &manifest,
                                                    const Options &options) {
  launch::Expected<GemmSizes> sizes = resolveSizes(manifest, options);
  if (!sizes)
    return sizes.takeError();
  BlockwiseGemm gemm;
  gemm.sums = reference::partialSumsOf(manifest.chip);
  gemm.gemmSizes = *sizes;
  gemm.seed = options.seed;
  gemm.kind = options.data;
  gemm.beta = options.beta;
  gemm.elementwise = options.elementwise;
  if (options.beta && !manifest.findArgument("beta"))
    return Error{"--beta is given, but the manifest has no argument 'beta'"};
  gemm.output = *manifest.findArgument("d");
  DataType dType = manifest.arguments[gemm.output].dtype;
  std::optional<reference::OutputType> outputType = outputTypeOf(dType);

  std::vector<Operand> operands = operandsOf(*sizes);
  uint64_t memory = 0;
  std::vector<launch::ArgumentValue> values;
  for (const launch::ArgumentSpec &spec : manifest.arguments) {
    auto operand = std::find_if(
        operands.begin(), operands.end(),
        [&](const Operand &candidate) { return candidate.name == spec.name; });
    if (!operand->takes(spec.dtype))
      return Error{"argument '" + spec.name + "' has element type " +
                   std::string(launch::spelling(spec.dtype)) +
                   (spec.name == "d" ? "; fp8-run can check "
                                     : "; blockwise_gemm takes ") +
                   operand->typeNames()};
    auto argument =
        layOut(spec, *operand, sizes->batch, options.memoryLimit, memory);
    if (!argument)
      return argument.takeError();
    values.push_back(argument->value);
    gemm.prepared.push_back(std::move(*argument));
  }
  gemm.outputType = *outputType;
  auto operandTypes = operandTypesOf(manifest);
  if (!operandTypes)
    return operandTypes.takeError();
  gemm.operandTypes = *operandTypes;
  if (auto error = launch::checkArguments(manifest, values))
    return *error;
  return gemm;
}

} // namespace fp8::run
