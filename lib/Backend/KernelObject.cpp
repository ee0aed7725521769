// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a lowered module to PTX, launch manifest and cubin, in memory.

#include "fp8/Backend/KernelObject.h"
#include "fp8/Backend/Manifest.h"
#include "fp8/Backend/PTX.h"
#include "fp8/IR/KernelCertificate.h"
#include "fp8/Proof/Certificate.h"

using namespace mlir;
using namespace mlir::fp8;

FailureOr<KernelObject>
mlir::fp8::makeKernelObject(const KernelModule &kernel,
                            const std::optional<PtxasOptions> &ptxas) {
  KernelObject object;
  object.name = kernel.getName().str();
  object.chip = kernel.chip->name;
  FailureOr<std::string> ptx = emitPTX(kernel);
  if (failed(ptx))
    return failure();
  object.ptx = std::move(*ptx);
  if (!ptxas)
    return object;
  llvm::Expected<Cubin> cubin =
      assemble(object.ptx, object.name, object.chip, *ptxas);
  FunctionOpInterface function = kernel.function;
  if (!cubin) {
    function.emitError() << llvm::toString(cubin.takeError());
    return failure();
  }
  if (!cubin->warnings.empty())
    function.emitWarning() << cubin->warnings;
  object.cubin = std::move(*cubin);
  return object;
}

FailureOr<KernelObject>
mlir::fp8::makeKernelObject(ModuleOp module,
                            const KernelObjectOptions &options) {
  FailureOr<KernelModule> kernel = findKernelModule(module, options.kernel);
  if (failed(kernel))
    return failure();
  // The manifest first: it is quick, and what it refuses needs no backend.
  FailureOr<std::string> manifest = std::string();
  if (options.wantManifest)
    manifest = emitManifest(module, *kernel);
  if (failed(manifest))
    return failure();
  FailureOr<KernelObject> object = makeKernelObject(*kernel, options.assemble);
  if (failed(object) || !options.wantManifest)
    return object;
  object->manifest = std::move(*manifest);
  FunctionOpInterface function = kernel->function;
  std::optional<StringRef> proof = getCertificate(function);
  if (!proof)
    return object;
  llvm::Expected<std::string> certificate =
      ::fp8::proof::seal(*proof, object->ptx);
  if (!certificate)
    return function.emitOpError("attribute '")
           << kCertificateAttrName << "' is no certificate: "
           << llvm::toString(certificate.takeError());
  object->certificate = std::move(*certificate);
  return object;
}
