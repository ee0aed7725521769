// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C API of the compiler and of the simulator, by their shared library.
#include "fp8-c/Compiler.h"
#include "fp8-c/Simulator.h"

#include "ReadFile.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <unistd.h>

using testing::HasSubstr;

namespace {
const std::string gemm = fp8::test::readFile(FP8_EXAMPLES "/gemm.mlir");

std::string take(Fp8Text *text) {
  std::string taken(fp8TextData(text), fp8TextSize(text));
  fp8TextFree(text);
  return taken;
}

/// A context, and a module in it.
struct Compiler {
  Compiler() { EXPECT_EQ(fp8ContextCreate(&context), FP8_OK); }
  ~Compiler() {
    fp8KernelObjectFree(object);
    fp8ModuleFree(module);
    fp8ContextFree(context);
  }
  Fp8Status parse(const std::string &text) {
    return fp8ModuleParse(context, text.data(), text.size(), "gemm.mlir",
                          &module);
  }
  Fp8Status run(const char *pipeline) {
    return fp8ModuleRunPipeline(module, pipeline);
  }
  std::string print(Fp8Format format = FP8_FORMAT_TEXT) {
    Fp8Text *text;
    EXPECT_EQ(fp8ModulePrint(module, format, &text), FP8_OK) << fp8LastError();
    return take(text);
  }
  /// To PTX for the chip.
  Fp8Status compile(const char *chip) {
    EXPECT_EQ(parse(gemm), FP8_OK) << fp8LastError();
    EXPECT_EQ(run((std::string("fp8-gemm-to-ptx{chip=") + chip + "}").c_str()),
              FP8_OK)
        << fp8LastError();
    return fp8KernelObjectCreate(module, nullptr, &object);
  }

  Fp8Context *context = nullptr;
  Fp8Module *module = nullptr;
  Fp8KernelObject *object = nullptr;
};

uint8_t e4m3(int quarter) { // 0, 0.25, ... 1
  const uint8_t codes[] = {0x00, 0x28, 0x30, 0x34, 0x38};
  return codes[quarter];
}

/// D = A B^T of small quarters, with scales that differ in every row.
struct Problem {
  static constexpr int64_t m = 40, n = 72, k = 160, blocks = 2, rows = 40;
  Problem()
      : a(m * k), b(n * k), aScale(blocks * rows), bScale(blocks), d(m * n) {
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = e4m3(i * 7 % 5);
    for (size_t i = 0; i < b.size(); ++i)
      b[i] = e4m3(i * 11 % 5);
    for (size_t i = 0; i < aScale.size(); ++i)
      aScale[i] = 1 + 0.25f * (i % 9);
    for (size_t i = 0; i < bScale.size(); ++i)
      bScale[i] = 2 - 0.5f * i;
    std::memset(d.data(), 0xff, d.size() * sizeof(d[0])); // NaN
  }
  Fp8Status simulate(const Fp8KernelObject *object,
                     const Fp8SimulatorOptions *options = nullptr,
                     Fp8SimulatorStatistics *statistics = nullptr) {
    const int64_t shapes[][2] = {
        {m, k}, {blocks, m}, {n, k}, {1, blocks}, {m, n}};
    const int64_t strides[][2] = {
        {k, 1}, {rows, 1}, {k, 1}, {blocks, 1}, {n, 1}};
    const Fp8Argument arguments[] = {
        {"f8E4M3FN", uint64_t(a.data()), 2, shapes[0], strides[0]},
        {"f32", uint64_t(aScale.data()), 2, shapes[1], strides[1]},
        {"f8E4M3FN", uint64_t(b.data()), 2, shapes[2], strides[2]},
        {"f32", uint64_t(bScale.data()), 2, shapes[3], strides[3]},
        {"bf16", uint64_t(d.data()), 2, shapes[4], strides[4]}};
    const char *ptx = fp8KernelObjectPTX(object);
    return fp8Simulate(ptx, std::strlen(ptx), "gemm.ptx",
                       fp8KernelObjectManifest(object), arguments, count,
                       options, statistics);
  }
  /// The largest distance from the sum, relative to it.
  double error() const {
    double worst = 0;
    for (int64_t row = 0; row < m; ++row)
      for (int64_t column = 0; column < n; ++column) {
        double sum = 0;
        for (int64_t i = 0; i < k; ++i)
          sum += (row * k + i) * 7 % 5 * 0.25 *
                 (((column * k + i) * 11 % 5) * 0.25) *
                 aScale[i / 128 * rows + row] * bScale[i / 128];
        uint32_t bits = uint32_t(d[row * n + column]) << 16;
        float value;
        std::memcpy(&value, &bits, sizeof(value));
        double distance = std::abs(value - sum) / std::abs(sum);
        worst = std::isnan(distance) ? INFINITY : std::max(worst, distance);
      }
    return worst;
  }

  std::vector<uint8_t> a, b;
  std::vector<float> aScale, bScale;
  std::vector<uint16_t> d;
  size_t count = 5;
};

struct Heard {
  static void handle(const Fp8Diagnostic *diagnostic, void *data) {
    auto &heard = *static_cast<Heard *>(data);
    heard.text += std::string(diagnostic->file) + ":" +
                  std::to_string(diagnostic->line) + " " +
                  std::to_string(diagnostic->severity) + " " +
                  diagnostic->message + "\n";
    for (size_t i = 0; i < diagnostic->noteCount; ++i)
      handle(diagnostic->notes + i, data);
  }
  std::string text;
};

constexpr double bf16Rounding = 1.0 / 256;
} // namespace

TEST(CCompiler, ListsChips) {
  EXPECT_STREQ(fp8ChipName(0), "sm_90a");
  EXPECT_EQ(fp8ChipName(1000), nullptr);
  EXPECT_STREQ(fp8Version(), FP8_VERSION);
}

TEST(CCompiler, GoesToPTXAndManifest) {
  Compiler compiler;
  ASSERT_EQ(compiler.compile("sm_90a"), FP8_OK) << fp8LastError();
  EXPECT_STREQ(fp8KernelObjectChip(compiler.object), "sm_90a");
  EXPECT_STREQ(fp8KernelObjectName(compiler.object), "gemm_kernel");
  EXPECT_THAT(fp8KernelObjectPTX(compiler.object), HasSubstr(".target sm_90a"));
  EXPECT_THAT(fp8KernelObjectManifest(compiler.object),
              HasSubstr("\"kernel\": \"gemm_kernel\""));
  EXPECT_THAT(fp8KernelObjectCertificate(compiler.object),
              HasSubstr("\"kernel\": \"gemm_kernel\""));
  size_t bytes = 1;
  EXPECT_EQ(fp8KernelObjectCubin(compiler.object, &bytes), nullptr);
  EXPECT_EQ(bytes, 0u);
  Fp8KernelResources resources;
  EXPECT_EQ(fp8KernelObjectResources(compiler.object, &resources), 0);
}

TEST(CCompiler, SaysWhyThereIsNoAssembler) {
  Compiler compiler;
  ASSERT_EQ(compiler.compile("sm_90a"), FP8_OK) << fp8LastError();
  Fp8KernelObject *object = nullptr;
  Fp8KernelObjectOptions options = {nullptr, 1, "/none/ptxas", 0};
  EXPECT_EQ(fp8KernelObjectCreate(compiler.module, &options, &object),
            FP8_ERROR);
  EXPECT_EQ(object, nullptr);
  EXPECT_THAT(fp8LastError(),
              HasSubstr("'/none/ptxas', which is not a program"));
}

TEST(CCompiler, HandsTheAssemblersWarningsOut) {
  // In the place of NVIDIA's ptxas, one that warns.
  std::string ptxas =
      testing::TempDir() + "fp8-ptxas-that-warns-" + std::to_string(getpid());
  std::ofstream(ptxas) << "#!/bin/sh\n"
                          "echo 'ptxas warning : it is slow'\n"
                          "while [ \"$1\" != -o ]; do shift; done\n"
                          "echo cubin > \"$2\"\n";
  std::filesystem::permissions(ptxas, std::filesystem::perms::owner_all);
  Compiler compiler;
  ASSERT_EQ(compiler.compile("sm_90a"), FP8_OK) << fp8LastError();
  Heard heard;
  fp8ContextSetDiagnosticHandler(compiler.context, Heard::handle, &heard);
  Fp8KernelObject *object = nullptr;
  Fp8KernelObjectOptions options = {nullptr, 1, ptxas.c_str(), 0};
  testing::internal::CaptureStderr();
  EXPECT_EQ(fp8KernelObjectCreate(compiler.module, &options, &object), FP8_OK)
      << fp8LastError();
  EXPECT_THAT(heard.text, HasSubstr(" 1 ptxas warns about kernel "
                                    "'gemm_kernel':\n"
                                    "ptxas warning : it is slow\n"));
  heard.text.clear();
  EXPECT_EQ(fp8ModuleRunPipeline(
                compiler.module,
                ("fp8-lower-launches{emit=cubin ptxas=" + ptxas + "}").c_str()),
            FP8_OK)
      << fp8LastError();
  EXPECT_THAT(heard.text, HasSubstr(" 1 ptxas warns about kernel "));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  fp8KernelObjectFree(object);
  std::filesystem::remove(ptxas);
}

TEST(CCompiler, PrintsWhatItParses) {
  Compiler compiler;
  ASSERT_EQ(compiler.parse(gemm), FP8_OK) << fp8LastError();
  EXPECT_EQ(fp8ModuleVerify(compiler.module), FP8_OK) << fp8LastError();
  std::string text = compiler.print();
  EXPECT_THAT(text, HasSubstr("fp8.blockwise_gemm"));
  EXPECT_THAT(compiler.print(FP8_FORMAT_TEXT_WITH_LOCATIONS),
              HasSubstr("loc(\"gemm.mlir\""));
  Compiler other;
  ASSERT_EQ(other.parse(compiler.print(FP8_FORMAT_BYTECODE)), FP8_OK)
      << fp8LastError();
  EXPECT_EQ(other.print(), text);
}

TEST(CCompiler, ClonesAndReportsWithoutAChange) {
  Compiler compiler;
  ASSERT_EQ(compiler.parse(gemm), FP8_OK) << fp8LastError();
  std::string before = compiler.print();
  Fp8Text *report;
  ASSERT_EQ(fp8ModuleReport(compiler.module, "sm_100a", &report), FP8_OK)
      << fp8LastError();
  EXPECT_THAT(take(report), HasSubstr("\"tmem_columns\": 512"));
  Fp8Module *clone = nullptr;
  ASSERT_EQ(fp8ModuleClone(compiler.module, &clone), FP8_OK);
  EXPECT_EQ(fp8ModuleRunPipeline(
                clone, "builtin.module(fp8-gemm-to-ptx{phase=linear})"),
            FP8_OK)
      << fp8LastError();
  fp8ModuleFree(clone);
  EXPECT_EQ(compiler.print(), before);
}

TEST(CCompiler, ProvesWithoutAChange) {
  Compiler compiler;
  ASSERT_EQ(compiler.parse(gemm), FP8_OK) << fp8LastError();
  std::string before = compiler.print();
  Fp8Text *proofs;
  ASSERT_EQ(fp8ModuleProve(compiler.module, "sm_100a", &proofs), FP8_OK)
      << fp8LastError();
  std::string text = take(proofs);
  EXPECT_THAT(text, HasSubstr("\"verdict\": \"proved\""));
  EXPECT_THAT(text, HasSubstr("issued copies and products complete"));
  EXPECT_EQ(compiler.print(), before);
  EXPECT_EQ(fp8ModuleProve(compiler.module, "sm_1", &proofs), FP8_ERROR);
  EXPECT_EQ(proofs, nullptr);
  EXPECT_THAT(fp8LastError(), HasSubstr("sm_1"));
}

TEST(CCompiler, ChoosesAsThePassDoes) {
  for (const char *chip : {"sm_90a", "sm_100a"}) {
    Compiler asked;
    ASSERT_EQ(asked.parse(gemm), FP8_OK) << fp8LastError();
    Fp8Chooser *chooser;
    ASSERT_EQ(fp8ChooserCreate(asked.module, chip, nullptr, nullptr, "fastest",
                               &chooser),
              FP8_OK)
        << fp8LastError();
    for (int m : {1, 63, 64, 777, 8192})
      for (int n : {576, 4096}) {
        const char *config;
        ASSERT_EQ(fp8ChooserChoose(chooser, m, n, 7168, &config), FP8_OK);
        Compiler pass;
        ASSERT_EQ(pass.parse(gemm), FP8_OK);
        std::string problem = std::to_string(m) + "x" + std::to_string(n);
        ASSERT_EQ(pass.run(("fp8-choose-config{chip=" + std::string(chip) +
                            " problem=" + problem + "x7168}")
                               .c_str()),
                  FP8_OK)
            << fp8LastError();
        EXPECT_THAT(pass.print(), HasSubstr("<" + std::string(config) + ">"))
            << chip << " " << problem;
      }
    const char *config;
    ASSERT_EQ(fp8ChooserChoose(chooser, 0, 0, 0, &config), FP8_OK);
    EXPECT_STREQ(config, "") << "nothing is known";
    fp8ChooserFree(chooser);
  }
}

TEST(CCompiler, FitsConstantsToTimes) {
  std::string table = testing::TempDir() + "times.json",
              machine = testing::TempDir() + "machine.json";
  std::ofstream(table) << R"({"chip": "sm_90a", "entries": [
    {"m": 64, "n": 7168, "k": 2048, "config": "tile = 64 x 64 x 128", "us": 12},
    {"m": 64, "n": 2112, "k": 7168, "config": "tile = 64 x 32 x 128", "us": 15}
  ]})";
  Compiler compiler;
  ASSERT_EQ(compiler.parse(gemm), FP8_OK) << fp8LastError();
  Fp8Chooser *chooser;
  ASSERT_EQ(fp8ChooserCreate(compiler.module, "sm_90a", nullptr,
                             fp8MachineName(0), "fastest", &chooser),
            FP8_OK)
      << fp8LastError();
  Fp8Text *text;
  ASSERT_EQ(fp8ChooserFit(chooser, table.c_str(), "NVIDIA H0", &text), FP8_OK)
      << fp8LastError();
  std::ofstream(machine) << take(text);
  EXPECT_EQ(fp8ChooserFit(chooser, "none.json", "NVIDIA H0", &text), FP8_ERROR);
  EXPECT_EQ(text, nullptr);
  EXPECT_THAT(fp8LastError(), HasSubstr("none.json"));
  for (const char *gpu : {"", "\xff", static_cast<const char *>(nullptr)}) {
    EXPECT_EQ(fp8ChooserFit(chooser, table.c_str(), gpu, &text), FP8_ERROR);
    EXPECT_EQ(text, nullptr);
    EXPECT_THAT(fp8LastError(), HasSubstr("must be text in UTF-8"));
  }
  fp8ChooserFree(chooser);

  // What was written is a machine.
  ASSERT_EQ(fp8ChooserCreate(compiler.module, "sm_90a", nullptr,
                             machine.c_str(), "fastest", &chooser),
            FP8_OK)
      << fp8LastError();
  fp8ChooserFree(chooser);
  EXPECT_EQ(fp8ChooserCreate(compiler.module, "sm_100a", nullptr,
                             machine.c_str(), "fastest", &chooser),
            FP8_ERROR);
  EXPECT_THAT(fp8LastError(), HasSubstr("is for sm_90a"));
}

TEST(CCompiler, ChoosesForOneGemmThatPinsNothing) {
  auto refusal = [](const std::string &text, const char *chip,
                    const char *launch) {
    Compiler compiler;
    EXPECT_EQ(compiler.parse(text), FP8_OK) << fp8LastError();
    Fp8Chooser *chooser;
    EXPECT_EQ(fp8ChooserCreate(compiler.module, chip, nullptr, nullptr, launch,
                               &chooser),
              FP8_ERROR);
    EXPECT_EQ(chooser, nullptr);
    return std::string(fp8LastError());
  };
  EXPECT_THAT(refusal("module {}", "sm_90a", "fastest"),
              HasSubstr("a configuration is chosen for one GEMM, but the "
                        "module has 0"));
  EXPECT_THAT(refusal(gemm, "sm_80", "fastest"),
              HasSubstr("unknown chip 'sm_80'"));
  EXPECT_THAT(refusal(gemm, "sm_90a", "soon"),
              HasSubstr("launch must be serial, programmatic or fastest"));
  Compiler pinned;
  ASSERT_EQ(pinned.parse(gemm), FP8_OK);
  ASSERT_EQ(pinned.run("fp8-choose-config{chip=sm_90a problem=64x64x128}"),
            FP8_OK);
  EXPECT_THAT(refusal(pinned.print(), "sm_90a", "fastest"),
              HasSubstr("pins its configuration"));
}

TEST(CCompiler, HandsDiagnosticsOut) {
  Compiler compiler;
  Heard heard;
  fp8ContextSetDiagnosticHandler(compiler.context, Heard::handle, &heard);
  EXPECT_EQ(compiler.parse("func.func @f(%p: index) {\n  return %q : index\n}"),
            FP8_ERROR);
  EXPECT_EQ(compiler.module, nullptr);
  EXPECT_THAT(heard.text, HasSubstr("gemm.mlir:2 0 use of undeclared SSA"));
  EXPECT_THAT(fp8LastError(), HasSubstr("gemm.mlir:2:10: error: use of und"));
  fp8ContextSetDiagnosticHandler(compiler.context, nullptr, nullptr);
  std::string before = heard.text;
  EXPECT_EQ(compiler.parse("x"), FP8_ERROR);
  EXPECT_EQ(heard.text, before);
}

TEST(CCompiler, NoTextIsAnErrorToo) {
  Compiler compiler;
  Heard heard;
  fp8ContextSetDiagnosticHandler(compiler.context, Heard::handle, &heard);
  EXPECT_EQ(
      fp8ModuleParse(compiler.context, nullptr, 7, nullptr, &compiler.module),
      FP8_ERROR);
  EXPECT_EQ(compiler.module, nullptr);
  EXPECT_STREQ(fp8LastError(),
               "error: the module's text has 7 bytes and is NULL");
  EXPECT_THAT(heard.text, HasSubstr("the module's text has 7 bytes"));
  ASSERT_EQ(
      fp8ModuleParse(compiler.context, nullptr, 0, nullptr, &compiler.module),
      FP8_OK);
  EXPECT_THAT(compiler.print(), HasSubstr("module {"));
}

TEST(CCompiler, HandsNotesOut) {
  // A stage that is released twice.
  const char *twice = R"(
!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @f(%end: !fp8.consumer<!ring>) -> (!fp8.consumer<!ring>, !fp8.consumer<!ring>) attributes {fp8.linear} {
  %stage = fp8.acquire %end : !fp8.consumer<!ring>
  %a = fp8.release %stage : !fp8.consumer_stage<!ring>
  %b = fp8.release %stage : !fp8.consumer_stage<!ring>
  return %a, %b : !fp8.consumer<!ring>, !fp8.consumer<!ring>
})";
  Compiler compiler;
  Heard heard;
  fp8ContextSetDiagnosticHandler(compiler.context, Heard::handle, &heard);
  EXPECT_EQ(compiler.parse(twice), FP8_ERROR);
  EXPECT_THAT(heard.text, HasSubstr("gemm.mlir:4 0 consumer stage is consumed "
                                    "twice (L1)"));
  EXPECT_THAT(heard.text, HasSubstr("gemm.mlir:5 3 consumed here\n"));
  EXPECT_THAT(fp8LastError(),
              HasSubstr("\ngemm.mlir:6:8: note: consumed again"));
}

TEST(CCompiler, RefusesPipelinesThatThereAreNot) {
  Compiler compiler;
  ASSERT_EQ(compiler.parse(gemm), FP8_OK) << fp8LastError();
  EXPECT_EQ(compiler.run("fp8-none"), FP8_ERROR);
  EXPECT_THAT(fp8LastError(), HasSubstr("'fp8-none' does not refer to a"));
  EXPECT_EQ(compiler.run(""), FP8_OK) << fp8LastError();
  EXPECT_EQ(compiler.run(nullptr), FP8_ERROR);
  EXPECT_STREQ(fp8LastError(), "error: the pipeline is NULL; an empty one is "
                               "\"\"");
  EXPECT_EQ(compiler.run("fp8-gemm-to-ptx{chip=sm_12}"), FP8_ERROR);
  EXPECT_THAT(fp8LastError(), HasSubstr("sm_12"));
}

TEST(CCompiler, AFullDiskIsAnErrorOfThePipeline) {
  Compiler compiler;
  ASSERT_EQ(compiler.parse(gemm), FP8_OK) << fp8LastError();
  for (std::string pass : {"fp8-report{chip=sm_90a output=/dev/full}",
                           "fp8-pipeline-graph{chip=sm_90a output=/dev/full}",
                           "fp8-explain-config{chip=sm_90a output=/dev/full}",
                           "fp8-prove{chip=sm_90a json=/dev/full}"}) {
    EXPECT_EQ(fp8ModuleRunPipeline(compiler.module, pass.c_str()), FP8_ERROR);
    EXPECT_THAT(fp8LastError(),
                HasSubstr("cannot write '/dev/full': No space left on device"))
        << pass;
  }
}

TEST(CCompiler, NamesWhatIsMissingFromAModuleThatIsNotLowered) {
  Compiler compiler;
  ASSERT_EQ(compiler.parse(gemm), FP8_OK) << fp8LastError();
  EXPECT_EQ(fp8KernelObjectCreate(compiler.module, nullptr, &compiler.object),
            FP8_ERROR);
  EXPECT_THAT(fp8LastError(), HasSubstr("expected a kernel to emit"));
}

TEST(CSimulator, ComputesOnArraysOfTheHost) {
  Compiler compiler;
  ASSERT_EQ(compiler.compile("sm_90a"), FP8_OK) << fp8LastError();
  Problem problem;
  Fp8SimulatorStatistics statistics;
  ASSERT_EQ(problem.simulate(compiler.object, nullptr, &statistics), FP8_OK)
      << fp8LastError();
  EXPECT_LE(problem.error(), bf16Rounding);
  EXPECT_GT(statistics.warpInstructions, 0u);
  EXPECT_EQ(statistics.ctas, 1u);
}

TEST(CSimulator, WritesNothingOfARunThatItsCallerEnds) {
  Compiler compiler;
  ASSERT_EQ(compiler.compile("sm_90a"), FP8_OK) << fp8LastError();
  Problem problem;
  Fp8SimulatorOptions options;
  fp8SimulatorOptionsInit(&options);
  uint64_t calls = 0;
  options.progressData = &calls;
  options.progress = [](uint64_t, uint64_t ctas, void *data) {
    EXPECT_EQ(ctas, 1u);
    return ++*static_cast<uint64_t *>(data) ? 1 : 0;
  };
  EXPECT_EQ(problem.simulate(compiler.object, &options), FP8_ERROR);
  EXPECT_THAT(fp8LastError(), HasSubstr("the caller ended the run"));
  EXPECT_EQ(calls, 1u);
  for (uint16_t bits : problem.d)
    ASSERT_EQ(bits, 0xffff);
}

TEST(CSimulator, RefusesWhatDoesNotFitTheManifest) {
  Compiler compiler;
  ASSERT_EQ(compiler.compile("sm_90a"), FP8_OK) << fp8LastError();
  Problem problem;
  problem.count = 4;
  EXPECT_EQ(problem.simulate(compiler.object), FP8_ERROR);
  EXPECT_THAT(fp8LastError(), HasSubstr("takes 5 arguments"));
  EXPECT_EQ(fp8Simulate("x", 1, nullptr, "{}", nullptr, 0, nullptr, nullptr),
            FP8_ERROR);
  EXPECT_THAT(fp8LastError(), HasSubstr("launch manifest: "));
  const char *manifest = fp8KernelObjectManifest(compiler.object);
  EXPECT_EQ(
      fp8Simulate("x", 1, nullptr, manifest, nullptr, 0, nullptr, nullptr),
      FP8_ERROR);
  EXPECT_THAT(fp8LastError(), HasSubstr("is not valid PTX"));
  EXPECT_EQ(
      fp8Simulate(nullptr, 7, nullptr, manifest, nullptr, 0, nullptr, nullptr),
      FP8_ERROR);
  EXPECT_STREQ(fp8LastError(), "the PTX has 7 bytes and is NULL");
  const char *ptx = fp8KernelObjectPTX(compiler.object);
  EXPECT_EQ(fp8Simulate(ptx, std::strlen(ptx), nullptr, manifest, nullptr, 5,
                        nullptr, nullptr),
            FP8_ERROR);
  EXPECT_STREQ(fp8LastError(),
               "there are 5 arguments, and their array is NULL");
}

TEST(CCompiler, CompilesInAsManyThreadsAsYouLike) {
  std::string alone;
  {
    Compiler compiler;
    ASSERT_EQ(compiler.compile("sm_90a"), FP8_OK) << fp8LastError();
    alone = fp8KernelObjectPTX(compiler.object);
  }
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      Compiler compiler;
      if (i == 3) { // One fails, and its error is its own.
        bool failed = compiler.parse("no mlir") == FP8_ERROR;
        right += failed && std::strstr(fp8LastError(), "gemm.mlir:1:1");
        return;
      }
      bool made = compiler.compile("sm_90a") == FP8_OK &&
                  alone == fp8KernelObjectPTX(compiler.object);
      Problem problem;
      right += made && problem.simulate(compiler.object) == FP8_OK &&
               problem.error() <= bf16Rounding;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 4);
}
