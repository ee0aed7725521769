// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The problem "blockwise_gemm": sizes, operands in the layout that the manifest
// asks for, and the check of D.
//
// Operands are told by their names. a, b and d are there always; a and b are of
// 8 bits each, or both bf16 or f16. Scales: a_scale with b_scale, or with
// b_scale_row, which holds a scale for each column (and is constant over
// b_block of them); without any, which the problem "gemm" asserts, all are 1.
// What follows the sum is optional: d = d_scale * f(sum + beta * c + bias),
// where f is what --elementwise says. The option b_block, 128 unless the
// manifest says otherwise, is the number of rows of B that share a scale; with
// 1 b_scale is laid out as b_scale_row. Scales of f8E8M0FNU are those of MXFP8,
// one for each 32 elements of a row of A and of B. Where d has three
// dimensions, so have the others but beta, bias and d_scale: a batch, whose
// products have data of their own.
#ifndef FP8_TOOLS_FP8RUN_PROBLEM_H
#define FP8_TOOLS_FP8RUN_PROBLEM_H

#include "Options.h"
#include "Upload.h"
#include "fp8/Gemm/Operands.h"
#include "fp8/Reference/Checker.h"
#include "fp8/Reference/Epilogue.h"

namespace fp8::run {

/// The name of B's scales for each column, where the manifest does not say
/// b_block = 1.
constexpr std::string_view kBScaleRow = "b_scale_row";

struct GemmSizes {
  int64_t m = 0, n = 0, k = 0;
  std::optional<int64_t> batch;          ///< absent: the operands are matrices
  int64_t bBlock = gemm::kDefaultBBlock; ///< rows of B that share a scale
  int64_t kBlock = gemm::kScaleBlock;    ///< elements along K that share one

  /// True if the scales are those of MXFP8.
  bool isMx() const { return kBlock == gemm::kMxBlock; }
};

/// Sizes from the flags and from what the manifest's shapes fix. A size that
/// neither gives, and a flag that differs from the manifest, are errors.
launch::Expected<GemmSizes> resolveSizes(const launch::Manifest &manifest,
                                         const Options &options);

class BlockwiseGemm {
public:
  /// Checks shapes, strides and memory before it makes any data.
  static launch::Expected<BlockwiseGemm> make(const launch::Manifest &manifest,
                                              const Options &options);

  const GemmSizes &sizes() const { return gemmSizes; }
  const std::vector<PreparedArgument> &arguments() const { return prepared; }
  unsigned outputIndex() const { return output; }

  /// The operands and the reference, which take time: once per problem.
  void prepare();
  /// Operands of zeros instead, and no reference: nothing can be judged.
  void prepareZeros();
  bool hasReference() const { return isPrepared; }
  /// D comes from a GPU, whose approximate instructions err; the simulator's
  /// hardly do.
  void setHardware(bool on) { hardware = on; }
  /// Judges D as it came back. Bytes between D's rows must be as they were.
  struct Verdict {
    reference::CheckResult result;
    bool paddingChanged = false;
    bool ok() const { return result.ok() && !paddingChanged; }
  };
  Verdict judge(const std::vector<uint8_t> &d) const;

private:
  /// Makes what follows the sum, and its operands' contents.
  reference::Epilogue prepareEpilogue(int64_t matrix);
  /// Rounds the scales to what the manifest has them in, or makes them 1.
  void adaptScales(reference::BlockwiseData &data);
  /// Makes one product of a batch, or the only one.
  void prepareMatrix(int64_t matrix);
  void fillMxScales(int64_t matrix, const reference::BlockwiseData &operands);
  bool changesPadding(const std::vector<uint8_t> &d) const;
  PreparedArgument *find(gemm::Operand operand);

  GemmSizes gemmSizes;
  uint64_t seed = 0;
  reference::DataKind kind = reference::DataKind::Normal;
  std::optional<float> beta;
  reference::Elementwise elementwise = reference::Elementwise::None;
  tensor::ElementType outputType = tensor::ElementType::F32;
  reference::OperandTypes operandTypes;
  reference::KernelSums sums;
  bool hardware = false;
  bool isPrepared = false; ///< prepare() was called
  unsigned output = 0;
  std::vector<PreparedArgument> prepared;
  std::vector<reference::BlockwiseData> data; ///< of each product
  std::vector<reference::GemmReference> expected;
};

} // namespace fp8::run

#endif // FP8_TOOLS_FP8RUN_PROBLEM_H
