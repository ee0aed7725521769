// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a lowered module to its output files.

#include "fp8/Backend/Emit.h"
#include "fp8/Backend/KernelObject.h"
#include "fp8/Backend/PTX.h"
#include "fp8/Files/OutputFiles.h"

using namespace mlir;
using namespace mlir::fp8;
using ::fp8::files::OutputFile;

static LogicalResult write(ModuleOp module, const EmitOptions &options,
                           const std::vector<OutputFile> &files,
                           const std::vector<std::string> &stale = {}) {
  if (!options.writeFiles)
    return success();
  if (auto error = ::fp8::files::write(files, stale))
    return emitError(UnknownLoc::get(module.getContext())) << *error;
  return success();
}

static LogicalResult writeLLVMIR(ModuleOp module, const EmitOptions &options) {
  FailureOr<KernelModule> kernel = findKernelModule(module, options.kernel);
  if (failed(kernel))
    return failure();
  FailureOr<std::string> text = emitLLVMIR(*kernel);
  if (failed(text))
    return failure();
  return write(module, options, {{options.output, *text}});
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

  bool isStream = ::fp8::files::isStream(options.output);
  KernelObjectOptions wanted;
  wanted.kernel = options.kernel;
  wanted.wantManifest =
      options.writeManifest && (!options.writeFiles || !isStream);
  if (isCubin)
    wanted.assemble = options.ptxas;
  FailureOr<KernelObject> object = makeKernelObject(module, wanted);
  if (failed(object))
    return failure();
  if (isCubin && options.reportResources)
    printResources(llvm::errs(), object->name, object->cubin->resources);
  std::vector<OutputFile> files;
  std::vector<std::string> stale; // would be read as this kernel's
  auto addBeside = [&](StringRef suffix, StringRef contents) {
    std::string path = options.output + suffix.str();
    if (!contents.empty())
      files.push_back({path, contents});
    else if (!isStream)
      stale.push_back(path);
  };
  addBeside(".json", object->manifest);
  addBeside(".proof.json", object->certificate);
  files.push_back(
      {options.output, isCubin ? object->cubin->binary : object->ptx});
  return write(module, options, files, stale);
}
