// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The proof of a kernel, as an attribute of the kernel.

#ifndef FP8_IR_KERNELCERTIFICATE_H
#define FP8_IR_KERNELCERTIFICATE_H

#include "mlir/IR/Operation.h"

namespace mlir::fp8 {

/// On a kernel: the certificate of its proof, a string of JSON (docs/Proof.md,
/// "The certificate"). `--fp8-verify-protocol` writes it, and it travels to the
/// files beside the PTX.
inline constexpr llvm::StringLiteral kCertificateAttrName = "fp8.certificate";

/// The kernel's certificate; none if it has none.
std::optional<StringRef> getCertificate(Operation *kernel);

/// Sets the kernel's certificate; removes it if there is none.
void setCertificate(Operation *kernel, std::optional<StringRef> certificate);

} // namespace mlir::fp8

#endif // FP8_IR_KERNELCERTIFICATE_H
