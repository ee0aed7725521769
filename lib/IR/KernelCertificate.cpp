// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The proof of a kernel, as an attribute of the kernel.

#include "fp8/IR/KernelCertificate.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::fp8;

std::optional<StringRef> mlir::fp8::getCertificate(Operation *kernel) {
  auto text = kernel->getAttrOfType<StringAttr>(kCertificateAttrName);
  if (!text)
    return std::nullopt;
  return text.getValue();
}

void mlir::fp8::setCertificate(Operation *kernel,
                               std::optional<StringRef> certificate) {
  kernel->removeAttr(kCertificateAttrName);
  if (certificate)
    kernel->setAttr(kCertificateAttrName,
                    StringAttr::get(kernel->getContext(), *certificate));
}
