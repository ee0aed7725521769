// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's optimiser and NVPTX backend, in process.

#include "fp8/Backend/PTX.h"
#include "BackendErrors.h"
#include "LLVMModule.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::fp8;

/// Registers the NVPTX backend, once in a process, and selects 32-bit pointers
/// to shared memory: half the registers for every shared address. LLVM 22
/// offers that as a command-line option only, which the target machine turns
/// into its data layout; we copy that layout to the module.
static const llvm::Target *getTarget(std::string &error) {
  static bool initialised = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    auto &options = llvm::cl::getRegisteredOptions();
    auto option = options.find("nvptx-short-ptr");
    if (option != options.end())
      static_cast<llvm::cl::opt<bool> *>(option->second)->setValue(true);
    return true;
  }();
  (void)initialised;
  return llvm::TargetRegistry::lookupTarget(llvm::Triple("nvptx64-nvidia-cuda"),
                                            error);
}

static std::unique_ptr<llvm::TargetMachine>
createTargetMachine(const KernelModule &kernel) {
  std::string error;
  const llvm::Target *target = getTarget(error);
  FunctionOpInterface function = kernel.function;
  if (!target) {
    function.emitError("this LLVM has no NVPTX backend: ") << error;
    return nullptr;
  }
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      llvm::Triple("nvptx64-nvidia-cuda"), kernel.chip->name,
      kernel.chip->llvmFeatures, llvm::TargetOptions(), llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    function.emitError("the NVPTX backend does not know ") << kernel.chip->name;
  return machine;
}

static void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
}

/// PTX with a call to a function that nothing defines assembles, and fails when
/// it is loaded. The CUDA driver itself brings a few.
static LogicalResult checkCallees(const KernelModule &kernel,
                                  llvm::Module &module) {
  static constexpr StringLiteral driverFunctions[] = {"vprintf", "malloc",
                                                      "free", "__assertfail"};
  for (llvm::Function &callee : module) {
    if (!callee.isDeclaration() || callee.isIntrinsic() || callee.use_empty() ||
        llvm::is_contained(driverFunctions, callee.getName()))
      continue;
    FunctionOpInterface function = kernel.function;
    return function.emitError("kernel '")
           << kernel.getName() << "' calls '" << callee.getName()
           << "', which its gpu.module does not define";
  }
  return success();
}

/// Whether PTX takes it as the name of a function or variable (PTX ISA 4.4).
static bool isIdentifier(StringRef name) {
  auto follows = [](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '$';
  };
  if (name.empty() || !llvm::all_of(name, follows) || name == "WARP_SZ")
    return false;
  return llvm::isAlpha(name[0]) || (!llvm::isDigit(name[0]) && name.size() > 1);
}

/// The backend renames what is private to the module, and LLVM's own names do
/// not reach PTX.
static LogicalResult checkNames(const KernelModule &kernel,
                                llvm::Module &module) {
  for (llvm::GlobalValue &value : module.global_values()) {
    StringRef name = value.getName();
    if (value.hasLocalLinkage() || name.starts_with("llvm.") ||
        isIdentifier(name))
      continue;
    Operation *named = SymbolTable::lookupSymbolIn(kernel.gpuModule, name);
    if (!named)
      named = kernel.function;
    return emitError(named->getLoc())
           << "PTX cannot have a "
           << (name == kernel.getName()           ? "kernel"
               : isa<llvm::GlobalVariable>(value) ? "variable"
                                                  : "function")
           << " of the name '" << name
           << "': an identifier has letters, digits, '_' and '$', begins with "
              "no digit, and is neither '_' nor 'WARP_SZ'; rename it";
  }
  return success();
}

/// Translates and optimises `kernel`, then gives the module to `use`.
static LogicalResult withOptimisedModule(
    const KernelModule &kernel,
    llvm::function_ref<void(llvm::Module &, llvm::TargetMachine &)> use) {
  std::unique_ptr<llvm::TargetMachine> machine = createTargetMachine(kernel);
  if (!machine)
    return failure();
  BackendContext backend(kernel);
  std::unique_ptr<llvm::Module> module =
      translateKernel(kernel, backend.getContext());
  if (!module)
    return failure();
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());

  LogicalResult isValid = success();
  LogicalResult result = backend.run([&] {
    optimise(*module, *machine);
    isValid = success(succeeded(checkCallees(kernel, *module)) &&
                      succeeded(checkNames(kernel, *module)));
    if (succeeded(isValid))
      use(*module, *machine);
  });
  if (failed(result))
    (void)module.release(); // belongs to the context that run() left behind
  return failure(failed(result) || failed(isValid));
}

FailureOr<std::string> mlir::fp8::emitLLVMIR(const KernelModule &kernel) {
  std::string text;
  if (failed(withOptimisedModule(
          kernel, [&](llvm::Module &module, llvm::TargetMachine &) {
            llvm::raw_string_ostream stream(text);
            module.print(stream, nullptr);
          })))
    return failure();
  return text;
}

FailureOr<std::string> mlir::fp8::emitPTX(const KernelModule &kernel) {
  llvm::SmallString<0> text;
  bool canEmit = true;
  if (failed(withOptimisedModule(
          kernel, [&](llvm::Module &module, llvm::TargetMachine &machine) {
            llvm::raw_svector_ostream stream(text);
            llvm::legacy::PassManager passes;
            canEmit = !machine.addPassesToEmitFile(
                passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile);
            if (canEmit)
              passes.run(module);
          })))
    return failure();
  if (!canEmit) {
    FunctionOpInterface function = kernel.function;
    return function.emitError("the NVPTX backend cannot print assembly");
  }
  return text.str().str();
}
