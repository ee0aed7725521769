// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// "blockwise_gemm": D = sum_kb a_scale * b_scale * (A.B^T)_kb, and what may
// follow; "gemm": the same without a_scale and b_scale.
#include "Problem.h"

#include "fp8/Reference/Float8.h"

#include <algorithm>
#include <cstring>
#include <limits>

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

  template <size_t count>
  Operand(const char *name, int64_t rows, int64_t columns,
          const DataType (&types)[count], bool padded = false)
      : name(name), rows(rows), columns(columns), types(types),
        typeCount(count), padded(padded) {}

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

int64_t blocks(int64_t extent) {
  return extent / reference::scaleBlock + (extent % reference::scaleBlock != 0);
}

std::vector<Operand> operandsOf(const GemmSizes &sizes) {
  return {{"a", sizes.m, sizes.k, factors},
          {"a_scale", blocks(sizes.k), sizes.m, scales, /*padded=*/true},
          {"b", sizes.n, sizes.k, factors},
          {"b_scale", blocks(sizes.n), blocks(sizes.k), scales},
          {"b_scale_row", blocks(sizes.k), sizes.n, scales, /*padded=*/true},
          {"c", sizes.m, sizes.n, addends},
          {"beta", 1, 1, scalar},
          {"bias", 1, sizes.n, addends, /*padded=*/true},
          {"d_scale", 1, 1, scalar},
          {"d", sizes.m, sizes.n, outputs}};
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
                   "a_scale, b, b_scale or b_scale_row, and d, and may have "
                   "c, beta, bias and d_scale"};
    if (argument.shape.size() != 2)
      return Error{"argument '" + argument.name + "' has rank " +
                   std::to_string(argument.shape.size()) +
                   "; the operands of blockwise_gemm are matrices"};
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
  for (auto [name, axis] : places) {
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

std::optional<reference::OutputType> outputTypeOf(DataType type) {
  switch (type) {
  case DataType::F8E4M3FN:
    return reference::OutputType::F8E4M3FN;
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

/// The row stride: what the manifest fixes, or contiguous, padded where TMA
/// wants it.
launch::Expected<int64_t> rowStride(const launch::ArgumentSpec &spec,
                                    const Operand &operand) {
  int64_t columns = operand.columns;
  if (spec.strides[1] && *spec.strides[1] != 1)
    return Error{"argument '" + spec.name + "' has " +
                 std::to_string(*spec.strides[1]) +
                 " as its inner stride; blockwise_gemm is row-major"};
  int64_t step = operand.padded ? 16 / launch::byteSize(spec.dtype) : 1;
  int64_t stride = (columns + step - 1) / step * step;
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
  launch::Expected<int64_t> stride = rowStride(spec, operand);
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

/// The rows of `source`, one after another, to the argument's layout; the
/// padding is 0xff, a NaN of every type.
void fill(PreparedArgument &argument, const std::vector<uint8_t> &source) {
  int64_t rows = argument.value.shape[0];
  int64_t element = launch::byteSize(argument.value.dtype);
  int64_t row = argument.value.shape[1] * element;
  int64_t stride = argument.value.strides[0] * element;
  argument.bytes.assign(rows * stride, 0xff);
  if (row == 0)
    return;
  for (int64_t i = 0; i < rows; ++i)
    std::memcpy(&argument.bytes[i * stride], &source[i * row], row);
}

/// The same for values that the argument's type holds exactly.
template <typename T>
void fillRounded(PreparedArgument &argument, const std::vector<T> &source,
                 int64_t sourceStride) {
  reference::OutputType type = *outputTypeOf(argument.value.dtype);
  int64_t rows = argument.value.shape[0], columns = argument.value.shape[1];
  int64_t stride = argument.value.strides[0];
  argument.bytes.assign(rows * stride * reference::byteSize(type), 0xff);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      reference::store(type, argument.bytes.data(), row * stride + column,
                       source[row * sourceStride + column]);
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
    auto argument = layOut(spec, *operand, options.memoryLimit, memory);
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

PreparedArgument *BlockwiseGemm::find(const char *name) {
  for (PreparedArgument &argument : prepared)
    if (argument.name == name)
      return &argument;
  return nullptr;
}

void BlockwiseGemm::adaptScales() {
  auto adapt = [&](std::vector<float> &values, const PreparedArgument *holder) {
    for (float &value : values)
      if (!holder)
        value = 1;
      else if (holder->value.dtype == DataType::BF16)
        value = reference::decodeBF16(reference::encodeBF16(value));
  };
  adapt(data.aScale, find("a_scale"));
  adapt(data.bScale, find("b_scale") ? find("b_scale") : find("b_scale_row"));
}

reference::Epilogue BlockwiseGemm::prepareEpilogue() {
  reference::Epilogue epilogue;
  // Streams of the seed that the operands of the product do not use.
  constexpr uint64_t cStream = 16, biasStream = 17;
  auto [m, n, k] = gemmSizes;
  auto addend = [&](const char *name, int64_t count, uint64_t stream) {
    PreparedArgument *argument = find(name);
    if (!argument)
      return std::vector<double>();
    std::vector<double> values = reference::makeAddend(
        *outputTypeOf(argument->value.dtype), count, seed, stream);
    fillRounded(*argument, values, n);
    return values;
  };
  auto number = [&](const char *name, double value) {
    PreparedArgument *argument = find(name);
    if (!argument)
      return 1.0;
    fillRounded(*argument, std::vector<double>{value}, 1);
    return value;
  };
  epilogue.c = addend("c", m * n, cStream);
  epilogue.bias = addend("bias", n, biasStream);
  // Exact in f32, and unlike what a kernel that forgets them uses.
  epilogue.beta = number("beta", -0.75);
  epilogue.scale = number("d_scale", 0.171875);
  return epilogue;
}

void BlockwiseGemm::prepare() {
  const auto &[m, n, k] = gemmSizes;
  data = reference::makeBlockwiseData(m, n, k, seed, kind, operandTypes);
  adaptScales();
  expected = reference::computeReference(data);
  reference::applyEpilogue(prepareEpilogue(), expected);
  for (PreparedArgument &argument : prepared) {
    if (argument.name == "a") {
      fill(argument, data.a);
    } else if (argument.name == "b") {
      fill(argument, data.b);
    } else if (argument.name == "a_scale") {
      fillRounded(argument, data.aScale, data.aScaleStride);
    } else if (argument.name == "b_scale") {
      fillRounded(argument, data.bScale, data.kBlocks());
    } else if (argument.name == "b_scale_row") {
      std::vector<float> rows;
      for (int64_t block = 0; block < data.kBlocks(); ++block)
        for (int64_t column = 0; column < n; ++column)
          rows.push_back(
              data.bScale[column / reference::scaleBlock * data.kBlocks() +
                          block]);
      fillRounded(argument, rows, n);
    } else if (argument.name == "d") {
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
