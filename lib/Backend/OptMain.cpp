// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command line of fp8-opt: mlir-opt's, and --emit.

#include "fp8/Backend/OptMain.h"
#include "fp8/Backend/CommandLine.h"
#include "fp8/Backend/Emit.h"
#include "fp8/Backend/PTX.h"
#include "fp8/Files/OutputFiles.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/Timing.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Debug.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::fp8;
namespace cl = llvm::cl;

namespace {
/// Options are objects, not globals, so that they exist in fp8-opt only.
struct CommandLine {
  // Categories are listed by name; "Generic Options" has --help.
  cl::OptionCategory category{"Emitting kernels"};
  cl::OptionCategory others{"MLIR options in common use"};
  cl::opt<EmitKind> kind{
      "emit", cl::desc("What to write after the passes"),
      cl::init(EmitKind::MLIR), cl::cat(category),
      cl::values(
          clEnumValN(EmitKind::MLIR, "mlir", "MLIR (the default)"),
          clEnumValN(EmitKind::LLVM, "llvm", "optimised LLVM IR"),
          clEnumValN(EmitKind::PTX, "ptx",
                     "PTX, and the launch manifest OUT.json"),
          clEnumValN(
              EmitKind::Cubin, "cubin",
              "a cubin (runs ptxas), and the launch manifest OUT.json"))};
  cl::opt<std::string> kernel{
      "kernel", cl::cat(category),
      cl::desc("The kernel to emit if there are several")};
  cl::opt<bool> noManifest{"no-manifest", cl::cat(category),
                           cl::desc("Do not write the launch manifest")};
  cl::opt<std::string> ptxas{
      "ptxas", cl::cat(category),
      cl::desc("The ptxas to run (default: $FP8_PTXAS, PATH, CUDA)")};
  cl::opt<bool> strict{
      "ptxas-strict", cl::cat(category),
      cl::desc("Treat register spills and warnings of ptxas as errors")};
  cl::opt<bool> resources{
      "report-resources", cl::cat(category),
      cl::desc("Print the cubin's registers, spills and shared memory")};
  // LLVM has this option only where it was built with assertions; our own
  // decisions are logged in each build.
  std::optional<cl::list<std::string>> debugOnly;

  CommandLine() {
    if (!cl::getRegisteredOptions().contains("debug-only"))
      debugOnly.emplace(
          "debug-only", cl::CommaSeparated, cl::cat(category),
          cl::value_desc("pass,..."),
          cl::desc("Print the decisions of these passes, and the reasons"));
  }

  /// Has the passes of `--debug-only` say what they decide.
  void startLogging() const {
    if (!debugOnly || debugOnly->empty())
      return;
    SmallVector<const char *> types;
    for (const std::string &type : *debugOnly)
      types.push_back(type.c_str());
    llvm::DebugFlag = true;
    llvm::setCurrentDebugTypes(types.data(), types.size());
  }

  /// An error for an option that has no effect on what is written.
  std::optional<std::string> findIdleOption() {
    using Kinds = SmallVector<StringRef>;
    const std::pair<const cl::Option *, Kinds> effects[] = {
        {&kernel, {"llvm", "ptx", "cubin"}},
        {&noManifest, {"ptx", "cubin"}},
        {&ptxas, {"cubin"}},
        {&strict, {"cubin"}},
        {&resources, {"cubin"}}};
    StringRef chosen = kind.getParser().getOption(unsigned(kind.getValue()));
    for (const auto &[option, kinds] : effects)
      if (option->getNumOccurrences() && !llvm::is_contained(kinds, chosen))
        return ("--" + option->ArgStr + " has no effect with --emit=" + chosen +
                "; drop it, or write --emit=" + llvm::join(kinds, " or "))
            .str();
    return std::nullopt;
  }

  EmitOptions getEmitOptions(StringRef output) const {
    EmitOptions options;
    options.kind = kind;
    options.output = output.str();
    options.kernel = kernel;
    options.writeManifest = !noManifest;
    options.reportResources = resources;
    options.ptxas = {ptxas, strict};
    return options;
  }
};
} // namespace

static OwningOpRef<ModuleOp> parse(std::shared_ptr<llvm::SourceMgr> sources,
                                   MLIRContext &context,
                                   const MlirOptMainConfig &config) {
  ParserConfig parserConfig(&context, config.shouldVerifyOnParsing());
  return parseSourceFile<ModuleOp>(sources, parserConfig);
}

static LogicalResult runPasses(ModuleOp module,
                               const MlirOptMainConfig &config) {
  DefaultTimingManager timing;
  applyDefaultTimingManagerCLOptions(timing);
  TimingScope scope = timing.getRootScope();
  PassManager passes(module.getContext(), ModuleOp::getOperationName());
  passes.enableVerifier(config.shouldVerifyPasses());
  if (failed(applyPassManagerCLOptions(passes)))
    return failure();
  passes.enableTiming(scope);
  if (failed(config.setupPassPipeline(passes)))
    return failure();
  return passes.run(module);
}

static LogicalResult parseAndEmit(std::shared_ptr<llvm::SourceMgr> sources,
                                  MLIRContext &context,
                                  const MlirOptMainConfig &config,
                                  const EmitOptions &options) {
  OwningOpRef<ModuleOp> module = parse(sources, context, config);
  if (!module || failed(runPasses(*module, config)))
    return failure();
  return emit(*module, options);
}

/// Parses, lowers and emits one module in a context of its own.
static LogicalResult process(std::unique_ptr<llvm::MemoryBuffer> buffer,
                             const MlirOptMainConfig &config,
                             const EmitOptions &options,
                             DialectRegistry &registry) {
  // One kernel keeps one thread busy; a thread pool costs more than it gives.
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects(config.shouldAllowUnregisteredDialects());
  // The message names the rule; the whole kernel after it would bury that.
  context.printOpOnDiagnostic(false);
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  if (!config.shouldVerifyDiagnostics()) {
    SourceMgrDiagnosticHandler diagnostics(*sources, &context);
    return parseAndEmit(sources, context, config, options);
  }
  SourceMgrDiagnosticVerifierHandler diagnostics(
      *sources, &context, config.verifyDiagnosticsLevel());
  (void)parseAndEmit(sources, context, config, options);
  return diagnostics.verify();
}

/// The contents of the file; null, with the error printed, if there are none.
static std::unique_ptr<llvm::MemoryBuffer> openInput(StringRef input) {
  if (input == "-" && llvm::sys::Process::StandardInIsUserInput())
    llvm::errs() << "(reading the standard input)\n";
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(input, &message);
  if (!buffer)
    llvm::errs() << "error: " << message << "\n";
  return buffer;
}

/// Does what mlir-opt does, but for its output: MlirOptMain would empty the
/// file before it reads the input, which may be the same.
static LogicalResult readAndPrint(StringRef input, StringRef output,
                                  const MlirOptMainConfig &config,
                                  DialectRegistry &registry) {
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInput(input);
  if (!buffer)
    return failure();
  std::string text;
  llvm::raw_string_ostream stream(text);
  LogicalResult result =
      MlirOptMain(stream, std::move(buffer), registry, config);
  // A reader of a stream sees the modules in front of one that fails.
  if (failed(result) && !::fp8::files::isStream(output.str()))
    return failure();
  if (auto error = ::fp8::files::write({{output.str(), text}})) {
    llvm::errs() << "error: " << *error << "\n";
    return failure();
  }
  return result;
}

static LogicalResult readAndEmit(StringRef input, EmitOptions options,
                                 DialectRegistry &registry) {
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  options.writeFiles = !config.shouldVerifyDiagnostics();
  if (config.shouldVerifyRoundtrip() ||
      (!config.inputSplitMarker().empty() && options.writeFiles)) {
    llvm::errs() << "error: --emit writes the files of one module; remove "
                    "--verify-roundtrip, and use --split-input-file only with "
                    "--verify-diagnostics, which writes no files\n";
    return failure();
  }
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInput(input);
  if (!buffer)
    return failure();
  return splitAndProcessBuffer(
      std::move(buffer),
      [&](std::unique_ptr<llvm::MemoryBuffer> chunk, raw_ostream &) {
        return process(std::move(chunk), config, options, registry);
      },
      llvm::nulls(), config.inputSplitMarker());
}

/// What --help shows of mlir-opt.
static constexpr StringRef kShownOptions[] = {"pass-pipeline",
                                              "split-input-file",
                                              "verify-diagnostics",
                                              "verify-each",
                                              "emit-bytecode",
                                              "mlir-print-debuginfo",
                                              "mlir-print-ir-after-all",
                                              "mlir-print-op-generic",
                                              "mlir-timing"};

/// The arguments, with what differs from mlir-opt: the operation at which an
/// error stands is not printed after it, for it may be the whole module.
static SmallVector<const char *> getArguments(int argc, char **argv) {
  constexpr StringLiteral kPrintOp = "mlir-print-op-on-diagnostic";
  SmallVector<const char *> arguments(argv, argv + argc);
  if (llvm::none_of(arguments, [&](StringRef argument) {
        return argument.ltrim('-').starts_with(kPrintOp);
      }))
    arguments.insert(arguments.begin() + 1,
                     "--mlir-print-op-on-diagnostic=false");
  return arguments;
}

int mlir::fp8::runDriver(int argc, char **argv, DialectRegistry &registry) {
  llvm::InitLLVM initialise(argc, argv);
  beginCommandLine("fp8-opt");
  CommandLine commandLine;
  std::string header = registerCLIOptions("fp8-opt: GEMM kernels from MLIR to "
                                          "PTX",
                                          registry);
  showOnly(commandLine.category, kShownOptions, commandLine.others);
  SmallVector<const char *> arguments = getArguments(argc, argv);
  auto parseArguments = [&](size_t count) {
    return parseCLIOptions(count, const_cast<char **>(arguments.data()),
                           header);
  };
  if (asksForHelp(argc, argv)) {
    parseArguments(1);
    cl::PrintHelpMessage(/*Hidden=*/false, /*Categorized=*/true);
    printOwnPasses();
    return 0;
  }
  auto [input, output] = parseArguments(arguments.size());
  if (auto error = commandLine.findIdleOption()) {
    llvm::errs() << "error: " << *error << "\n";
    return EXIT_FAILURE;
  }
  commandLine.startLogging();
  EmitOptions options = commandLine.getEmitOptions(output);
  if (options.kind != EmitKind::MLIR)
    return asMainReturnCode(readAndEmit(input, options, registry));
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses()) // no input
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  return asMainReturnCode(readAndPrint(input, output, config, registry));
}
