// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fp8-fuzz-compiler: mutated MLIR, text and bytecode, into the parser, the
// verifiers, the passes and what emits PTX and launch manifests.
#include "Mutator.h"
#include "Worker.h"

#include "fp8/Backend/Manifest.h"
#include "fp8/Backend/PTX.h"
#include "fp8/Register.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Signals.h"

#include <cstring>

using namespace fp8;
using namespace fp8::fuzz;

namespace {
/// What a module that verifies goes through; one for each input.
const std::vector<std::string> kPipelines = {
    "fp8-gemm-to-ptx{chip=sm_100a}",
    "fp8-gemm-to-ptx{chip=sm_100a}",
    "fp8-gemm-to-ptx{chip=sm_100a debug-waits=100}",
    "fp8-gemm-to-ptx{chip=sm_90a}",
    "fp8-gemm-to-ptx{chip=sm_90a problem=64x7168x2048}",
    "fp8-report{chip=sm_100a output=/dev/null format=json}",
    "fp8-report{chip=sm_90a output=/dev/null}",
    "fp8-explain-config{chip=sm_90a problem=64x7168x2048 output=/dev/null}",
    "fp8-explain-config{chip=sm_100a problem=4096x4096x4096 output=/dev/null}",
    "fp8-pipeline-graph{output=/dev/null}",
    "fp8-choose-config{chip=sm_90a},fp8-structure-gemm{chip=sm_90a}",
    "fp8-structure-gemm,inline,fp8-flatten-scopes,fp8-verify-linearity",
    "fp8-flatten-scopes,canonicalize,cse,fp8-lower-tile-loops,fp8-unswitch-"
    "scales,"
    "fp8-unroll-laps",
    "convert-fp8-to-nvvm,canonicalize,cse",
    "canonicalize,cse,loop-invariant-code-motion,sccp,fp8-verify-linearity",
    "inline,symbol-dce,remove-dead-values,fp8-verify-linearity"};

class CompilerTarget : public Target {
public:
  explicit CompilerTarget(const std::string &folder) : corpus(folder, ".mlir") {
    mlir::fp8::registerFp8Tool(registry);
    // Recursion in MLIR's own parser has no limit.
    mutation.deepest = 100;
  }

  Input make(Random &random) override {
    return {{".mlir", mutate(corpus, choose(random), random, mutation)}};
  }

  /// MLIR's bytecode reader trusts what it reads, and writes where it must not.
  bool isDangerous(const Input &input) const override {
    return isBytecode(input.at(".mlir"));
  }

  std::string run(const Input &input, Random &random) override {
    // A context of its own, as of a process of its own, so that an input does
    // the same whatever ran before.
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    context.printOpOnDiagnostic(false);
    errors = 0;
    mlir::ScopedDiagnosticHandler handler(
        &context, [&](mlir::Diagnostic &diagnostic) {
          errors += diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
          // Printing it is part of what is fuzzed.
          (void)diagnostic.str();
          return mlir::success();
        });
    std::string outcome = compile(input.at(".mlir"), context, random);
    // Whoever gives up says why; but MLIR's bytecode reader does not always.
    bool isSilent = outcome.find("refused") != std::string::npos && !errors;
    if (isSilent && outcome == "parse-refused" && isBytecode(input.at(".mlir")))
      return "bytecode-refused-silently";
    if (isSilent)
      llvm::report_fatal_error("fp8-fuzz: refused without an error");
    return outcome;
  }

private:
  static bool isBytecode(const std::string &text) {
    return mlir::isBytecode(llvm::MemoryBufferRef(text, "input.mlir"));
  }

  /// What is refused as it stands comes to no pass: it is taken less often.
  const Corpus::Text &choose(Random &random) const {
    for (;;) {
      const Corpus::Text &text = random.of(corpus.texts());
      if (text.name.find("-invalid") == std::string::npos || random.chance(8))
        return text;
    }
  }

  std::string compile(const std::string &text, mlir::MLIRContext &context,
                      Random &random) {
    mlir::ParserConfig config(&context, /*verifyAfterParse=*/false);
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::parseSourceString<mlir::ModuleOp>(text, config, "input.mlir");
    if (!module)
      return "parse-refused";
    if (failed(mlir::verify(*module)))
      return "verify-refused";
    if (random.chance(10))
      return print(*module);
    mlir::PassManager passes(&context);
    if (failed(mlir::parsePassPipeline(random.of(kPipelines), passes)))
      llvm::report_fatal_error("fp8-fuzz: a pipeline is misspelt");
    if (failed(passes.run(*module)))
      return "passes-refused";
    return random.chance(30) ? emit(*module) : "lowered";
  }

  static std::string print(mlir::ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream, mlir::OpPrintingFlags().enableDebugInfo());
    if (failed(mlir::writeBytecodeToFile(module, stream)))
      return "bytecode-refused";
    return "printed";
  }

  static std::string emit(mlir::ModuleOp module) {
    auto kernel = mlir::fp8::findKernelModule(module, "");
    if (failed(kernel))
      return "kernel-refused";
    if (failed(mlir::fp8::emitManifest(module, *kernel)))
      return "manifest-refused";
    if (failed(mlir::fp8::emitPTX(*kernel)))
      return "backend-refused";
    return "emitted";
  }

  Corpus corpus;
  MutatorOptions mutation;
  mlir::DialectRegistry registry;
  unsigned errors = 0;
};
} // namespace

int main(int argc, char **argv) {
#if !defined(__SANITIZE_ADDRESS__)
  llvm::sys::PrintStackTraceOnErrorSignal(argv[0]);
#endif
  std::string folder;
  for (int i = 1; i < argc; ++i)
    if (!std::strncmp(argv[i], "--corpus=", 9))
      folder = argv[i] + 9;
  CompilerTarget target(folder);
  return runWorker(argc, argv, target);
}
