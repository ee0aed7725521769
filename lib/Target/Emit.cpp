// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a lowered module to its output files.

#include "fp8/Target/Emit.h"
#include "fp8/Target/Manifest.h"
#include "fp8/Target/OutputFiles.h"
#include "fp8/Target/PTX.h"

using namespace mlir;
using namespace mlir::fp8;

static LogicalResult report(ModuleOp module, llvm::Error error) {
  return emitError(UnknownLoc::get(module.getContext()))
         << llvm::toString(std::move(error));
}

static FailureOr<std::string> emitCubin(ModuleOp module,
                                        const KernelModule &kernel,
                                        const EmitOptions &options) {
  FailureOr<std::string> ptx = emitPTX(kernel);
  if (failed(ptx))
    return failure();
  llvm::Expected<Cubin> cubin =
      assemble(*ptx, kernel.getName(), kernel.chip->name, options.ptxas);
  if (!cubin)
    return report(module, cubin.takeError());
  llvm::errs() << cubin->warnings;
  if (options.reportResources)
    printResources(llvm::errs(), kernel.getName(), cubin->resources);
  return std::move(cubin->binary);
}

static FailureOr<std::string> emitKernel(ModuleOp module,
                                         const KernelModule &kernel,
                                         const EmitOptions &options) {
  switch (options.kind) {
  case EmitKind::LLVM:
    return emitLLVMIR(kernel);
  case EmitKind::PTX:
    return emitPTX(kernel);
  case EmitKind::Cubin:
    return emitCubin(module, kernel, options);
  case EmitKind::MLIR:
    break;
  }
  llvm_unreachable("MLIR is printed by the driver");
}

LogicalResult mlir::fp8::emit(ModuleOp module, const EmitOptions &options) {
  if (options.kind == EmitKind::Cubin && options.output == "-" &&
      options.writeFiles)
    return emitError(UnknownLoc::get(module.getContext()))
           << "a cubin is binary and is not written to the standard output; "
              "name a file with -o";
  FailureOr<KernelModule> kernel = findKernelModule(module, options.kernel);
  if (failed(kernel))
    return failure();

  // The manifest first: it is quick, and what it refuses needs no backend.
  SmallVector<OutputFile> files;
  bool hasManifest = options.writeManifest && options.kind != EmitKind::LLVM &&
                     (!options.writeFiles || !isStream(options.output));
  if (hasManifest) {
    FailureOr<std::string> manifest = emitManifest(module, *kernel);
    if (failed(manifest))
      return failure();
    files.push_back({options.output + ".json", std::move(*manifest)});
  }
  FailureOr<std::string> contents = emitKernel(module, *kernel, options);
  if (failed(contents))
    return failure();
  files.push_back({options.output, std::move(*contents)});
  if (!options.writeFiles)
    return success();
  if (llvm::Error error = writeOutputFiles(files))
    return report(module, std::move(error));
  return success();
}
