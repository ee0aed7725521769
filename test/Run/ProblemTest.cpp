// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes and layouts of "blockwise_gemm".
#include "Problem.h"

#include "GemmManifest.h"

#include <cstring>

using namespace fp8;
using namespace fp8::run;

namespace {
Options sizes(int64_t m, int64_t n, int64_t k) {
  Options options;
  options.m = m;
  options.n = n;
  options.k = k;
  return options;
}

std::string errorOf(const launch::Manifest &manifest, const Options &options) {
  auto problem = BlockwiseGemm::make(manifest, options);
  return problem ? "no error" : problem.error();
}
} // namespace

TEST(Problem, TakesStaticSizesFromTheManifest) {
  launch::Manifest manifest = gemmManifest();
  manifest.arguments[0].shape = {64, 256}; // a
  manifest.arguments[4].shape[1] = 32;     // d
  auto found = resolveSizes(manifest, {});
  ASSERT_TRUE(found) << found.error();
  EXPECT_EQ(found->m, 64);
  EXPECT_EQ(found->n, 32);
  EXPECT_EQ(found->k, 256);
  EXPECT_EQ(errorOf(manifest, sizes(65, 32, 256)),
            "--m=65 conflicts with a.shape[0], which the kernel fixes at 64");
  manifest.arguments[2].shape[0] = 48; // b
  EXPECT_EQ(errorOf(manifest, {}), "the manifest contradicts itself: "
                                   "b.shape[0] is 48 and d.shape[1] is 32");
}

TEST(Problem, NamesWhatIsMissing) {
  launch::Manifest manifest = gemmManifest();
  EXPECT_EQ(errorOf(manifest, {}),
            "--m is needed: the kernel leaves a.shape[0] open");
  manifest.arguments[3].name = "scales";
  EXPECT_EQ(errorOf(manifest, sizes(1, 8, 16)),
            "argument 'scales' is not an operand of blockwise_gemm, which has "
            "a, a_scale, b, b_scale or b_scale_row, and d, and may have c, "
            "beta, bias and d_scale");
  manifest.arguments.erase(manifest.arguments.begin() + 3);
  EXPECT_EQ(errorOf(manifest, sizes(1, 8, 16)),
            "the manifest has no argument 'b_scale', which blockwise_gemm "
            "needs together with 'a_scale'");
}

TEST(Problem, TakesScalesInPairs) {
  launch::Manifest manifest = gemmManifest();
  manifest.arguments[1].name = "b_scale_row"; // a_scale
  EXPECT_EQ(
      errorOf(manifest, sizes(1, 8, 16)),
      "the manifest has both 'b_scale' and 'b_scale_row'; remove one of them");
  manifest.arguments.erase(manifest.arguments.begin() + 1);
  EXPECT_EQ(errorOf(manifest, sizes(1, 8, 16)),
            "the manifest has no argument 'a_scale', which blockwise_gemm "
            "needs together with 'b_scale'");
  manifest.arguments[2].name = "beta"; // b_scale
  EXPECT_EQ(errorOf(manifest, sizes(1, 8, 16)),
            "the manifest has 'beta', but not 'c', which it multiplies");
  manifest = gemmManifest();
  manifest.problem = "gemm";
  EXPECT_EQ(errorOf(manifest, sizes(1, 8, 16)),
            "the manifest has block scales, but its problem is gemm; set the "
            "problem to blockwise_gemm");
}

TEST(Problem, PoisonsAResidualThatIsNotRead) {
  launch::Manifest manifest = gemmManifest();
  Options options = sizes(4, 8, 16);
  options.beta = 0;
  EXPECT_EQ(errorOf(manifest, options),
            "--beta is given, but the manifest has no argument 'beta'");
  launch::ArgumentSpec c = manifest.arguments[4], beta = c; // d
  c.name = "c";
  beta.name = "beta";
  beta.dtype = tensor::ElementType::F32;
  manifest.arguments.insert(manifest.arguments.end(), {c, beta});
  for (bool isZero : {true, false}) {
    options.beta = isZero ? 0 : 2;
    auto problem = BlockwiseGemm::make(manifest, options);
    ASSERT_TRUE(problem) << problem.error();
    problem->prepare();
    const std::vector<uint8_t> &bytes = problem->arguments()[5].bytes;
    EXPECT_EQ(bytes == std::vector<uint8_t>(4 * 8 * 2, 0xff), isZero);
  }
}

TEST(Problem, ChecksTypesAndStrides) {
  launch::Manifest manifest = gemmManifest();
  manifest.arguments[0].dtype = tensor::ElementType::F32;
  EXPECT_EQ(errorOf(manifest, sizes(1, 8, 16)),
            "argument 'a' has element type f32; blockwise_gemm takes "
            "f8E4M3FN, f8E5M2, bf16 and f16");
  manifest.arguments[0].dtype = tensor::ElementType::BF16;
  EXPECT_EQ(errorOf(manifest, sizes(1, 8, 16)),
            "'a' has element type bf16 and 'b' f8E4M3FN; operands wider than 8 "
            "bits must have the same type");
  manifest.arguments[0].dtype = tensor::ElementType::F8E5M2;
  EXPECT_EQ(errorOf(manifest, sizes(1, 8, 16)), "no error");
  manifest = gemmManifest();
  manifest.arguments[4].dtype = tensor::ElementType::I32;
  EXPECT_EQ(errorOf(manifest, sizes(1, 8, 16)),
            "argument 'd' has element type i32; fp8-run can check bf16, f16, "
            "f32, f8E4M3FN and f8E5M2");
  manifest = gemmManifest();
  manifest.arguments[4].strides[0] = 4;
  EXPECT_EQ(errorOf(manifest, sizes(1, 8, 16)),
            "argument 'd' has rows of 8 elements and the row stride 4; rows "
            "would overlap");
}

TEST(Problem, RefusesWhatDoesNotFit) {
  Options options = sizes(int64_t(1) << 32, int64_t(1) << 32, int64_t(1) << 32);
  EXPECT_EQ(errorOf(gemmManifest(), options),
            "the operands take more than 8589934592 bytes; choose smaller "
            "sizes or raise --memory-limit");
  options = sizes(4, 8, 16);
  options.memoryLimit = 100;
  EXPECT_NE(errorOf(gemmManifest(), options), "no error");
}

TEST(Problem, LaysOutOperandsOf16Bits) {
  launch::Manifest manifest = gemmManifest();
  manifest.arguments[0].dtype = tensor::ElementType::BF16;
  manifest.arguments[0].strides[0] = 168; // a
  manifest.arguments[2].dtype = tensor::ElementType::BF16;
  auto problem = BlockwiseGemm::make(manifest, sizes(5, 8, 160));
  ASSERT_TRUE(problem) << problem.error();
  problem->prepare();
  const auto &arguments = problem->arguments();
  EXPECT_EQ(arguments[0].bytes.size(), 5u * 168 * 2);
  EXPECT_EQ(arguments[2].bytes.size(), 8u * 160 * 2);
  auto data = reference::makeBlockwiseData(
      5, 8, 160, 0, reference::DataKind::Normal,
      {tensor::ElementType::BF16, tensor::ElementType::BF16});
  EXPECT_EQ(std::memcmp(&arguments[0].bytes[3 * 168 * 2], &data.a[3 * 160 * 2],
                        160 * 2),
            0);
  EXPECT_EQ(arguments[0].bytes[(3 * 168 + 160) * 2], 0xff) << "padding";
}

TEST(Problem, LaysOutRowsAndPoisonsD) {
  launch::Manifest manifest = gemmManifest();
  manifest.arguments[4].strides[0] = 12; // d, with 8 columns
  auto problem = BlockwiseGemm::make(manifest, sizes(5, 8, 160));
  ASSERT_TRUE(problem) << problem.error();
  problem->prepare();
  const auto &arguments = problem->arguments();
  EXPECT_EQ(arguments[0].bytes.size(), 5u * 160);
  EXPECT_EQ(arguments[1].value.shape, (std::vector<int64_t>{2, 5}));
  EXPECT_EQ(arguments[1].value.strides, (std::vector<int64_t>{8, 1}));
  EXPECT_EQ(arguments[1].bytes.size(), 2u * 8 * 4);
  EXPECT_EQ(arguments[1].bytes[5 * 4], 0xff) << "padding is NaN";
  EXPECT_EQ(arguments[4].bytes.size(), 5u * 12 * 2);

  // Untouched: everything is unwritten, nothing between the rows.
  std::vector<uint8_t> d = arguments[4].bytes;
  auto verdict = problem->judge(d);
  EXPECT_EQ(verdict.result.unwritten, 40);
  EXPECT_FALSE(verdict.paddingChanged);
  d[(2 * 12 + 9) * 2] ^= 1;
  EXPECT_TRUE(problem->judge(d).paddingChanged);
}

namespace {
/// The manifest with operands of three dimensions.
launch::Manifest batchManifest() {
  launch::Manifest manifest = gemmManifest();
  for (launch::ArgumentSpec &argument : manifest.arguments) {
    argument.shape.insert(argument.shape.begin(), std::nullopt);
    argument.strides.insert(argument.strides.begin(), std::nullopt);
  }
  manifest.constraints.clear();
  return manifest;
}

Options batch(int64_t count, int64_t m, int64_t n, int64_t k) {
  Options options = sizes(m, n, k);
  options.batch = count;
  return options;
}
} // namespace

TEST(Problem, MakesDataForEachMatrixOfABatch) {
  auto problem = BlockwiseGemm::make(batchManifest(), batch(3, 5, 8, 160));
  ASSERT_TRUE(problem) << problem.error();
  problem->prepare();
  const auto &arguments = problem->arguments();
  EXPECT_EQ(arguments[0].value.shape, (std::vector<int64_t>{3, 5, 160}));
  EXPECT_EQ(arguments[1].value.strides, (std::vector<int64_t>{16, 8, 1}));
  auto matrix = [](const PreparedArgument &argument, int64_t index) {
    size_t bytes = argument.bytes.size() / 3;
    return std::vector<uint8_t>(argument.bytes.begin() + index * bytes,
                                argument.bytes.begin() + (index + 1) * bytes);
  };
  for (unsigned operand : {0, 1, 2, 3}) {
    EXPECT_NE(matrix(arguments[operand], 0), matrix(arguments[operand], 1));
    EXPECT_NE(matrix(arguments[operand], 1), matrix(arguments[operand], 2));
  }
  auto alone = BlockwiseGemm::make(gemmManifest(), sizes(5, 8, 160));
  alone->prepare();
  EXPECT_EQ(matrix(arguments[0], 0), alone->arguments()[0].bytes);
  EXPECT_EQ(problem->judge(arguments[4].bytes).result.unwritten, 3 * 40);
}

TEST(Problem, LaysOutMatricesAsTheManifestSays) {
  launch::Manifest manifest = batchManifest();
  manifest.arguments[4].strides = {12, 40, 1}; // d: row by row, and apart
  auto problem = BlockwiseGemm::make(manifest, batch(3, 5, 8, 160));
  ASSERT_TRUE(problem) << problem.error();
  problem->prepare();
  EXPECT_EQ(problem->arguments()[4].bytes.size(), 5u * 40 * 2);
  std::vector<uint8_t> d = problem->arguments()[4].bytes;
  d[(2 * 40 + 1 * 12 + 7) * 2] ^= 1; // the last column of a row
  auto verdict = problem->judge(d);
  EXPECT_EQ(verdict.result.unwritten, 3 * 40 - 1);
  EXPECT_FALSE(verdict.paddingChanged);
  d[(2 * 40 + 1 * 12 + 8) * 2] ^= 1; // what follows it
  EXPECT_TRUE(problem->judge(d).paddingChanged);

  manifest.arguments[4].strides = {32, 8, 1};
  EXPECT_EQ(errorOf(manifest, batch(3, 5, 8, 160)),
            "argument 'd' has matrices of 40 elements and the batch stride 32; "
            "they would overlap");
}

TEST(Problem, ResolvesTheBatch) {
  launch::Manifest manifest = batchManifest();
  EXPECT_EQ(errorOf(manifest, sizes(5, 8, 160)),
            "--batch is needed: the kernel leaves a.shape[0] open");
  manifest.arguments[2].shape[0] = 3; // b
  EXPECT_EQ(errorOf(manifest, batch(4, 5, 8, 160)),
            "--batch=4 conflicts with b.shape[0], which the kernel fixes at 3");
  EXPECT_EQ(errorOf(gemmManifest(), batch(4, 5, 8, 160)),
            "--batch is for kernels whose operands have three dimensions; the "
            "operands of this kernel are matrices");
  manifest.arguments[0].shape.pop_back();
  EXPECT_EQ(errorOf(manifest, batch(3, 5, 8, 160)),
            "argument 'a' has rank 2, but d has rank 3; in a batch both have "
            "the same rank");
  EXPECT_EQ(errorOf(batchManifest(), batch(0, 5, 8, 160)), "no error");
}

TEST(Problem, TakesTheGranularityOfScales) {
  launch::Manifest manifest = gemmManifest();
  manifest.constraints.clear();
  auto shapeOfScales = [&](int64_t block) {
    manifest.problemOptions = {{"b_block", block}};
    auto problem = BlockwiseGemm::make(manifest, sizes(5, 200, 160));
    EXPECT_TRUE(problem) << problem.error();
    return problem->arguments()[3].value.shape;
  };
  EXPECT_EQ(shapeOfScales(128), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(shapeOfScales(64), (std::vector<int64_t>{4, 2}));
  EXPECT_EQ(shapeOfScales(1), (std::vector<int64_t>{2, 200})) << "as A's";
  manifest.problemOptions = {{"b_block", 0}};
  EXPECT_EQ(errorOf(manifest, sizes(5, 200, 160)),
            "b_block is 0; 1 to 128 rows of B can share a scale");
  manifest.problemOptions = {{"a_block", 1}};
  EXPECT_EQ(
      errorOf(manifest, sizes(5, 200, 160)),
      "blockwise_gemm has no option 'a_block'; its only option is b_block");
}
