// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Skeletons and proofs as JSON, for those who check a proof without this
// library.

#ifndef FP8_PROOF_CERTIFICATE_H
#define FP8_PROOF_CERTIFICATE_H

#include "fp8/Proof/Skeleton.h"

#include "llvm/Support/JSON.h"

namespace fp8::proof {

/// The skeleton as a JSON object. Expressions, parameters, channels, ends and
/// processes are arrays, and what refers to one of them has its number there.
llvm::json::Object toJSON(const Skeleton &skeleton);

/// The version of certificates.
constexpr int64_t kCertificateVersion = 1;

/// The certificate of a kernel for which `prove` gave the witness.
llvm::json::Object makeCertificate(const Skeleton &skeleton,
                                   int64_t clusterSize,
                                   llvm::json::Object witness);

/// Seals the certificate with a digest of what it holds, so that a damaged one
/// is recognised. If `ptx` is given, with a digest of that text, too.
void seal(llvm::json::Object &certificate,
          std::optional<llvm::StringRef> ptx = std::nullopt);

} // namespace fp8::proof

#endif // FP8_PROOF_CERTIFICATE_H
