// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// "blockwise_gemm": D = sum_kb a_scale * b_scale * (A.B^T)_kb.
#include "Problem.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace fp8::run {
namespace {
using launch::DataType;
using launch::Error;
using launch::Manifest;

/// An operand's name, and its extents as functions of the sizes.
struct Operand {
  const char *name;
  int64_t rows, columns;
};

int64_t blocks(int64_t extent) {
  return extent / reference::scaleBlock + (extent % reference::scaleBlock != 0);
}

std::vector<Operand> operandsOf(const GemmSizes &sizes) {
  return {{"a", sizes.m, sizes.k},
          {"a_scale", blocks(sizes.k), sizes.m},
          {"b", sizes.n, sizes.k},
          {"b_scale", blocks(sizes.n), blocks(sizes.k)},
          {"d", sizes.m, sizes.n}};
}

/// Each argument is one operand, and each operand one argument of rank 2.
std::optional<Error> checkOperands(const Manifest &manifest) {
  std::vector<Operand> operands = operandsOf({});
  for (const launch::ArgumentSpec &argument : manifest.arguments) {
    bool known = std::any_of(
        operands.begin(), operands.end(),
        [&](const Operand &operand) { return operand.name == argument.name; });
    if (!known)
      return Error{"argument '" + argument.name +
                   "' is not an operand of blockwise_gemm, which has a, "
                   "a_scale, b, b_scale and d"};
    if (argument.shape.size() != 2)
      return Error{"argument '" + argument.name + "' has rank " +
                   std::to_string(argument.shape.size()) +
                   "; the operands of blockwise_gemm are matrices"};
  }
  for (const Operand &operand : operands)
    if (!manifest.findArgument(operand.name))
      return Error{std::string("the manifest has no argument '") +
                   operand.name + "', which blockwise_gemm needs"};
  return std::nullopt;
}

launch::Expected<int64_t>
resolveSize(const Manifest &manifest, const std::string &flag,
            std::optional<int64_t> asked,
            std::initializer_list<std::pair<const char *, unsigned>> places) {
  std::optional<int64_t> fixed;
  std::string fixedBy, open;
  for (auto [name, axis] : places) {
    std::string place =
        std::string(name) + ".shape[" + std::to_string(axis) + "]";
    std::optional<int64_t> extent =
        manifest.arguments[*manifest.findArgument(name)].shape[axis];
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

std::optional<reference::OutputType> outputTypeOf(DataType type) {
  switch (type) {
  case DataType::BF16:
    return reference::OutputType::BF16;
  case DataType::F16:
    return reference::OutputType::F16;
  case DataType::F32:
    return reference::OutputType::F32;
  default:
    return std::nullopt;
  }
}

/// The row stride: what the manifest fixes, or contiguous; rows of a_scale are
/// padded to 16 bytes.
launch::Expected<int64_t> rowStride(const launch::ArgumentSpec &spec,
                                    int64_t columns) {
  if (spec.strides[1] && *spec.strides[1] != 1)
    return Error{"argument '" + spec.name + "' has " +
                 std::to_string(*spec.strides[1]) +
                 " as its inner stride; blockwise_gemm is row-major"};
  int64_t stride = spec.name == "a_scale" ? (columns + 3) / 4 * 4 : columns;
  if (!spec.strides[0])
    return stride;
  if (*spec.strides[0] < columns)
    return Error{"argument '" + spec.name + "' has rows of " +
                 std::to_string(columns) + " elements and the row stride " +
                 std::to_string(*spec.strides[0]) + "; rows would overlap"};
  return *spec.strides[0];
}

launch::Expected<PreparedArgument> layOut(const launch::ArgumentSpec &spec,
                                          const Operand &operand,
                                          uint64_t memoryLimit,
                                          uint64_t &memory) {
  launch::Expected<int64_t> stride = rowStride(spec, operand.columns);
  if (!stride)
    return stride.takeError();
  uint64_t bytes = 0;
  bool overflow =
      __builtin_mul_overflow(uint64_t(operand.rows), uint64_t(*stride),
                             &bytes) ||
      __builtin_mul_overflow(bytes, launch::byteSize(spec.dtype), &bytes) ||
      __builtin_add_overflow(memory, bytes, &memory);
  if (overflow || memory > memoryLimit)
    return Error{"the operands take more than " + std::to_string(memoryLimit) +
                 " bytes; choose smaller sizes or raise --memory-limit"};
  PreparedArgument argument;
  argument.name = spec.name;
  argument.access = spec.access;
  argument.value.dtype = spec.dtype;
  argument.value.shape = {operand.rows, operand.columns};
  argument.value.strides = {*stride, 1};
  return argument;
}

/// Rows of `source`, `sourceStride` elements apart, to the argument's layout;
/// the padding is 0xff, a NaN of every type.
template <typename T>
void fill(PreparedArgument &argument, const std::vector<T> &source,
          int64_t sourceStride) {
  int64_t rows = argument.value.shape[0], columns = argument.value.shape[1];
  int64_t stride = argument.value.strides[0];
  argument.bytes.assign(rows * stride * sizeof(T), 0xff);
  if (columns == 0)
    return;
  for (int64_t row = 0; row < rows; ++row)
    std::memcpy(&argument.bytes[row * stride * sizeof(T)],
                &source[row * sourceStride], columns * sizeof(T));
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
  return GemmSizes{*m, *n, *k};
}

launch::Expected<BlockwiseGemm> BlockwiseGemm::make(const Manifest &manifest,
                                                    const Options &options) {
  launch::Expected<GemmSizes> sizes = resolveSizes(manifest, options);
  if (!sizes)
    return sizes.takeError();
  BlockwiseGemm gemm;
  gemm.gemmSizes = *sizes;
  gemm.seed = options.seed;
  gemm.kind = options.data;
  gemm.output = *manifest.findArgument("d");
  DataType dType = manifest.arguments[gemm.output].dtype;
  std::optional<reference::OutputType> outputType = outputTypeOf(dType);
  if (!outputType)
    return Error{"argument 'd' has element type " +
                 std::string(launch::spelling(dType)) +
                 "; fp8-run can check bf16, f16 and f32"};
  gemm.outputType = *outputType;

  std::vector<Operand> operands = operandsOf(*sizes);
  uint64_t memory = 0;
  std::vector<launch::ArgumentValue> values;
  for (const launch::ArgumentSpec &spec : manifest.arguments) {
    auto operand = std::find_if(
        operands.begin(), operands.end(),
        [&](const Operand &candidate) { return candidate.name == spec.name; });
    DataType wanted = spec.name == "a" || spec.name == "b" ? DataType::F8E4M3FN
                                                           : DataType::F32;
    if (spec.name != "d" && spec.dtype != wanted)
      return Error{"argument '" + spec.name + "' has element type " +
                   std::string(launch::spelling(spec.dtype)) +
                   "; blockwise_gemm takes " +
                   std::string(launch::spelling(wanted))};
    auto argument = layOut(spec, *operand, options.memoryLimit, memory);
    if (!argument)
      return argument.takeError();
    values.push_back(argument->value);
    gemm.prepared.push_back(std::move(*argument));
  }
  if (auto error = launch::checkArguments(manifest, values))
    return *error;
  return gemm;
}

void BlockwiseGemm::prepare() {
  const auto &[m, n, k] = gemmSizes;
  data = reference::makeBlockwiseData(m, n, k, seed, kind);
  expected = reference::computeReference(data);
  for (PreparedArgument &argument : prepared) {
    if (argument.name == "a") {
      fill(argument, data.a, k);
    } else if (argument.name == "b") {
      fill(argument, data.b, k);
    } else if (argument.name == "a_scale") {
      fill(argument, data.aScale, data.aScaleStride);
    } else if (argument.name == "b_scale") {
      fill(argument, data.bScale, data.kBlocks());
    } else {
      int64_t elements = m * argument.value.strides[0];
      argument.bytes.resize(elements * reference::byteSize(outputType));
      reference::fillWithPoison(outputType, argument.bytes.data(), elements);
    }
  }
}

BlockwiseGemm::Verdict
BlockwiseGemm::judge(const std::vector<uint8_t> &d) const {
  const PreparedArgument &argument = prepared[output];
  int64_t stride = argument.value.strides[0];
  Verdict verdict;
  verdict.result =
      reference::check(data, expected, outputType, d.data(), stride);
  for (int64_t row = 0; row < gemmSizes.m; ++row)
    for (int64_t column = gemmSizes.n; column < stride; ++column)
      verdict.paddingChanged |=
          reference::loadBits(outputType, d.data(), row * stride + column) !=
          reference::poisonBits(outputType);
  return verdict;
}

} // namespace fp8::run
