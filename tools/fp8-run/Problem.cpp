// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// "blockwise_gemm": D = sum_kb a_scale * b_scale * (A.B^T)_kb, and what may
// follow; "gemm": the same without a_scale and b_scale.
#include "Problem.h"

#include "ProblemOperands.h"

#include <algorithm>

namespace fp8::run {
namespace {
using launch::Error;
using launch::Manifest;
using tensor::ElementType;
using tensor::ElementTypes;

/// Sizes with the elements that share a scale, which the scales' type tells.
GemmSizes makeSizes(const Manifest &manifest) {
  GemmSizes sizes;
  for (const char *name : {"a_scale", "b_scale"}) {
    std::optional<unsigned> scales = manifest.findArgument(name);
    if (!scales || manifest.arguments[*scales].dtype != ElementType::F8E8M0FNU)
      continue;
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
      if (!operand->types.contains(argument.dtype))
        return Error{"argument '" + argument.name + "' has element type " +
                     std::string(tensor::spelling(argument.dtype)) +
                     ", but the other scales f8E8M0FNU; both have one type"};
      if (argument.shape.size() != (isBatch(manifest) ? 5 : 4))
        return Error{"argument '" + argument.name +
                     "' has scales of f8E8M0FNU, which lie in tiles: (" +
                     (isBatch(manifest) ? "L, " : "") +
                     "ceil(rows/128), ceil(K/128), 32, 16)"};
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
  if (makeSizes(manifest).isMx() && (byteSize(a) > 1 || byteSize(b) > 1))
    return Error{"scales of f8E8M0FNU are for operands of f8E4M3FN and f8E5M2, "
                 "but 'a' has element type " +
                 std::string(tensor::spelling(a)) + " and 'b' " +
                 std::string(tensor::spelling(b))};
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
