// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a lowered module to its output files.

#include "fp8/Backend/Emit.h"
#include "fp8/Backend/KernelObject.h"
#include "fp8/Backend/OutputFiles.h"
#include "fp8/Backend/PTX.h"

using namespace mlir;
using namespace mlir::fp8;

static LogicalResult write(ModuleOp module, const EmitOptions &options,
                           ArrayRef<OutputFile> files) {
  if (!options.writeFiles)
    return success();
  if (llvm::Error error = writeOutputFiles(files))
    return emitError(UnknownLoc::get(module.getContext()))
           << llvm::toString(std::move(error));
  return success();
}

static LogicalResult writeLLVMIR(ModuleOp module, const EmitOptions &options) {
  FailureOr<KernelModule> kernel = findKernelModule(module, options.kernel);
  if (failed(kernel))
    return failure();
  FailureOr<std::string> text = emitLLVMIR(*kernel);
  if (failed(text))
    return failure();
  return write(module, options, {{options.output, std::move(*text)}});
}

LogicalResult mlir::fp8::emit(ModuleOp module, const EmitOptions &options) {
  assert(options.kind != EmitKind::MLIR && "MLIR is printed by the driver");
  if (options.kind == EmitKind::LLVM)
    return writeLLVMIR(module, options);
  bool isCubin = options.kind == EmitKind::Cubin;
  if (isCubin && options.output == "-" && options.writeFiles)
    return emitError(UnknownLoc::get(module.getContext()))
           << "a cubin is binary and is not written to the standard output; "
              "name a file with -o";

  KernelObjectOptions wanted;
  wanted.kernel = options.kernel;
  wanted.wantManifest = options.writeManifest &&
                        (!options.writeFiles || !isStream(options.output));
  if (isCubin)
    wanted.assemble = options.ptxas;
  FailureOr<KernelObject> object = makeKernelObject(module, wanted);
  if (failed(object))
    return failure();
  if (isCubin && options.reportResources)
    printResources(llvm::errs(), object->name, object->cubin->resources);
  SmallVector<OutputFile> files;
  if (wanted.wantManifest)
    files.push_back({options.output + ".json", std::move(object->manifest)});
  if (!object->certificate.empty())
    files.push_back(
        {options.output + ".proof.json", std::move(object->certificate)});
  files.push_back({options.output, isCubin ? std::move(object->cubin->binary)
                                           : std::move(object->ptx)});
  return write(module, options, files);
}
