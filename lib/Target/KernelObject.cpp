// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a lowered module to PTX, launch manifest and cubin, in memory.

#include "fp8/Target/KernelObject.h"
#include "fp8/Target/Manifest.h"
#include "fp8/Target/PTX.h"

using namespace mlir;
using namespace mlir::fp8;

FailureOr<KernelObject>
mlir::fp8::makeKernelObject(ModuleOp module,
                            const KernelObjectOptions &options) {
  FailureOr<KernelModule> kernel = findKernelModule(module, options.kernel);
  if (failed(kernel))
    return failure();
  KernelObject object;
  object.name = kernel->getName().str();
  object.chip = kernel->chip->name.str();
  // The manifest first: it is quick, and what it refuses needs no backend.
  if (options.wantManifest) {
    FailureOr<std::string> manifest = emitManifest(module, *kernel);
    if (failed(manifest))
      return failure();
    object.manifest = std::move(*manifest);
  }
  FailureOr<std::string> ptx = emitPTX(*kernel);
  if (failed(ptx))
    return failure();
  object.ptx = std::move(*ptx);
  if (!options.assemble)
    return object;
  llvm::Expected<Cubin> cubin =
      assemble(object.ptx, object.name, object.chip, *options.assemble);
  if (!cubin) {
    emitError(UnknownLoc::get(module.getContext()))
        << llvm::toString(cubin.takeError());
    return failure();
  }
  object.cubin = std::move(*cubin);
  return object;
}
