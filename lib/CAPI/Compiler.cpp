// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C API of the compiler, over the C++ one.
#include "fp8-c/Compiler.h"

#include "Common.h"
#include "Diagnostics.h"
#include "fp8/Backend/KernelObject.h"
#include "fp8/Chip/Chip.h"
#include "fp8/Chip/Machine.h"
#include "fp8/Register.h"
#include "fp8/Transforms/GemmChooser.h"
#include "fp8/Transforms/Passes.h"
#include "fp8/Transforms/ProveKernels.h"
#include "fp8/Transforms/ReportKernels.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::fp8;
using ::fp8::capi::bytesOf;
using ::fp8::capi::fail;
using ::fp8::capi::textOf;

struct Fp8Context {
  explicit Fp8Context(const DialectRegistry &registry)
      : context(registry, MLIRContext::Threading::DISABLED) {
    // The message names the rule; the whole kernel after it would bury that.
    context.printOpOnDiagnostic(false);
  }

  MLIRContext context;
  Fp8DiagnosticHandler handler = nullptr;
  void *data = nullptr;
};

struct Fp8Module {
  Fp8Context *context;
  OwningOpRef<ModuleOp> module;
};

struct Fp8Chooser {
  Fp8Context *context;
  std::unique_ptr<GemmChooser> chooser;
  std::string chosen;
};

struct Fp8KernelObject {
  KernelObject object;
};

/// Passes are registered once in a process, dialects with each context.
static const DialectRegistry &getRegistry() {
  static const DialectRegistry registry = [] {
    DialectRegistry made;
    registerFp8Tool(made);
    return made;
  }();
  return registry;
}

/// Runs `work`, which emits diagnostics where it fails.
static Fp8Status collect(Fp8Context *context,
                         llvm::function_ref<LogicalResult()> work) {
  ::fp8::capi::DiagnosticCollector collector(context->context, context->handler,
                                             context->data);
  if (succeeded(work()))
    return FP8_OK;
  return fail(collector.takeErrors());
}

//===----------------------------------------------------------------------===//
// Chips, contexts
//===----------------------------------------------------------------------===//

const char *fp8ChipName(size_t index) {
  ::fp8::chip::Table<::fp8::chip::Chip> chips = ::fp8::chip::getChips();
  return index < chips.size() ? chips[index].name : nullptr;
}

Fp8Status fp8ContextCreate(Fp8Context **context) {
  *context = new Fp8Context(getRegistry());
  return FP8_OK;
}

void fp8ContextFree(Fp8Context *context) { delete context; }

void fp8ContextSetDiagnosticHandler(Fp8Context *context,
                                    Fp8DiagnosticHandler handler, void *data) {
  context->handler = handler;
  context->data = data;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

Fp8Status fp8ModuleParse(Fp8Context *context, const char *text, size_t bytes,
                         const char *name, Fp8Module **module) {
  *module = nullptr;
  return collect(context, [&]() -> LogicalResult {
    auto given = bytesOf(text, bytes, "the module's text");
    if (!given)
      return emitError(UnknownLoc::get(&context->context)) << given.error();
    // A copy, for the parser wants a NUL behind the text.
    auto sources = std::make_shared<llvm::SourceMgr>();
    sources->AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(
                                    *given, name ? name : "module.mlir"),
                                llvm::SMLoc());
    ParserConfig config(&context->context);
    OwningOpRef<ModuleOp> parsed = parseSourceFile<ModuleOp>(sources, config);
    if (!parsed)
      return failure();
    *module = new Fp8Module{context, std::move(parsed)};
    return success();
  });
}

void fp8ModuleFree(Fp8Module *module) { delete module; }

Fp8Status fp8ModuleClone(const Fp8Module *module, Fp8Module **clone) {
  ModuleOp original = *module->module;
  *clone = new Fp8Module{module->context, original.clone()};
  return FP8_OK;
}

Fp8Status fp8ModuleVerify(const Fp8Module *module) {
  return collect(module->context, [&]() -> LogicalResult {
    if (failed(verify(*module->module)))
      return failure();
    PassManager passes(&module->context->context);
    passes.addPass(createFp8VerifyLinearity());
    return passes.run(*module->module);
  });
}

/// "builtin.module(...)" around what is not so already.
static std::string anchored(StringRef pipeline) {
  pipeline = pipeline.trim();
  if (pipeline.starts_with("builtin.module(") || pipeline.starts_with("any("))
    return pipeline.str();
  return ("builtin.module(" + pipeline + ")").str();
}

Fp8Status fp8ModuleRunPipeline(Fp8Module *module, const char *pipeline) {
  return collect(module->context, [&]() -> LogicalResult {
    MLIRContext *context = &module->context->context;
    if (!pipeline)
      return emitError(UnknownLoc::get(context))
             << "the pipeline is NULL; an empty one is \"\"";
    std::string message;
    llvm::raw_string_ostream stream(message);
    FailureOr<OpPassManager> parsed =
        parsePassPipeline(anchored(pipeline), stream);
    if (failed(parsed))
      return emitError(UnknownLoc::get(context)) << StringRef(message).rtrim();
    PassManager passes(context, parsed->getOpAnchorName());
    static_cast<OpPassManager &>(passes) = std::move(*parsed);
    return passes.run(*module->module);
  });
}

static LogicalResult print(ModuleOp module, Fp8Format format,
                           llvm::raw_ostream &os) {
  switch (format) {
  case FP8_FORMAT_TEXT:
    module.print(os);
    return success();
  case FP8_FORMAT_TEXT_WITH_LOCATIONS:
    module.print(os, OpPrintingFlags().enableDebugInfo());
    return success();
  case FP8_FORMAT_BYTECODE:
    return writeBytecodeToFile(module, os);
  }
  return module.emitError("there is no format ")
         << int(format) << "; see Fp8Format";
}

Fp8Status fp8ModulePrint(const Fp8Module *module, Fp8Format format,
                         Fp8Text **text) {
  *text = nullptr;
  return collect(module->context, [&]() -> LogicalResult {
    std::string printed;
    llvm::raw_string_ostream stream(printed);
    if (failed(print(*module->module, format, stream)))
      return failure();
    *text = new Fp8Text{std::move(printed)};
    return success();
  });
}

Fp8Status fp8ModuleReport(const Fp8Module *module, const char *chip,
                          Fp8Text **json) {
  *json = nullptr;
  return collect(module->context, [&]() -> LogicalResult {
    FailureOr<SmallVector<KernelReport, 0>> reports =
        reportKernels(*module->module, textOf(chip));
    if (failed(reports))
      return failure();
    llvm::json::Array array;
    for (const KernelReport &report : *reports)
      array.push_back(report.toJSON());
    *json = new Fp8Text{
        llvm::formatv("{0:2}", llvm::json::Value(std::move(array))).str()};
    return success();
  });
}

Fp8Status fp8ModuleProve(const Fp8Module *module, const char *chip,
                         Fp8Text **json) {
  *json = nullptr;
  return collect(module->context, [&]() -> LogicalResult {
    FailureOr<SmallVector<KernelProof, 0>> proofs =
        proveKernels(*module->module, textOf(chip));
    if (failed(proofs))
      return failure();
    *json = new Fp8Text{llvm::formatv("{0:2}", toJSON(*proofs)).str()};
    return success();
  });
}

//===----------------------------------------------------------------------===//
// Configurations
//===----------------------------------------------------------------------===//

Fp8Status fp8ChooserCreate(const Fp8Module *module, const char *chip,
                           const char *tuned, const char *machine,
                           const char *launch, Fp8Chooser **chooser) {
  *chooser = nullptr;
  return collect(module->context, [&]() -> LogicalResult {
    FailureOr<std::unique_ptr<GemmChooser>> made =
        GemmChooser::create(*module->module, textOf(chip), textOf(tuned),
                            textOf(machine), textOf(launch));
    if (failed(made))
      return failure();
    *chooser = new Fp8Chooser{module->context, std::move(*made), {}};
    return success();
  });
}

void fp8ChooserFree(Fp8Chooser *chooser) { delete chooser; }

Fp8Status fp8ChooserChoose(Fp8Chooser *chooser, int64_t m, int64_t n, int64_t k,
                           const char **config) {
  *config = nullptr;
  return collect(chooser->context, [&]() -> LogicalResult {
    chooser->chosen = chooser->chooser->choose(m, n, k);
    *config = chooser->chosen.c_str();
    return success();
  });
}

Fp8Status fp8ChooserFit(Fp8Chooser *chooser, const char *measured,
                        const char *gpu, Fp8Text **json) {
  *json = nullptr;
  return collect(chooser->context, [&]() -> LogicalResult {
    FailureOr<std::string> fitted =
        chooser->chooser->fit(textOf(measured), textOf(gpu));
    if (failed(fitted))
      return failure();
    *json = new Fp8Text{std::move(*fitted)};
    return success();
  });
}

const char *fp8MachineName(size_t index) {
  auto machines = ::fp8::chip::getMachines();
  return index < machines.size() ? machines[index]->name : nullptr;
}

//===----------------------------------------------------------------------===//
// Kernel objects
//===----------------------------------------------------------------------===//

Fp8Status fp8KernelObjectCreate(const Fp8Module *module,
                                const Fp8KernelObjectOptions *options,
                                Fp8KernelObject **object) {
  *object = nullptr;
  return collect(module->context, [&]() -> LogicalResult {
    KernelObjectOptions chosen;
    if (options) {
      chosen.kernel = textOf(options->kernel);
      if (options->assemble)
        chosen.assemble = PtxasOptions{std::string(textOf(options->ptxas)),
                                       options->strict != 0};
    }
    FailureOr<KernelObject> made = makeKernelObject(*module->module, chosen);
    if (failed(made))
      return failure();
    *object = new Fp8KernelObject{std::move(*made)};
    return success();
  });
}

void fp8KernelObjectFree(Fp8KernelObject *object) { delete object; }

const char *fp8KernelObjectName(const Fp8KernelObject *object) {
  return object->object.name.c_str();
}

const char *fp8KernelObjectChip(const Fp8KernelObject *object) {
  return object->object.chip.c_str();
}

const char *fp8KernelObjectPTX(const Fp8KernelObject *object) {
  return object->object.ptx.c_str();
}

const char *fp8KernelObjectManifest(const Fp8KernelObject *object) {
  return object->object.manifest.c_str();
}

const char *fp8KernelObjectCertificate(const Fp8KernelObject *object) {
  const std::string &certificate = object->object.certificate;
  return certificate.empty() ? nullptr : certificate.c_str();
}

const void *fp8KernelObjectCubin(const Fp8KernelObject *object, size_t *bytes) {
  const std::optional<Cubin> &cubin = object->object.cubin;
  *bytes = cubin ? cubin->binary.size() : 0;
  return cubin ? cubin->binary.data() : nullptr;
}

int fp8KernelObjectResources(const Fp8KernelObject *object,
                             Fp8KernelResources *resources) {
  const std::optional<Cubin> &cubin = object->object.cubin;
  if (!cubin)
    return 0;
  const KernelResources &from = cubin->resources;
  *resources = {from.registers, from.spillStoreBytes, from.spillLoadBytes,
                from.stackBytes, from.sharedMemoryBytes};
  return 1;
}
