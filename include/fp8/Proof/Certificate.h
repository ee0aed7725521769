// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Skeletons and proofs as JSON, for those who check a proof without this
// library.

#ifndef FP8_PROOF_CERTIFICATE_H
#define FP8_PROOF_CERTIFICATE_H

#include "fp8/Proof/Skeleton.h"

#include "llvm/Support/JSON.h"

namespace fp8::proof {

/// The steps of a skeleton as a JSON object, for a comparison with other steps.
/// Channels, ends and processes are arrays, and what refers to one of them has
/// its number there. Blocks are arrays of statements, and those of loops and
/// branches stand inside of them.
llvm::json::Object toJSON(const Skeleton &skeleton);

/// All of a skeleton as a JSON object. Each process has a list of steps, with
/// branches and jumps, in place of its blocks. Expressions are of fewer kinds.
llvm::json::Object toPrograms(const Skeleton &skeleton);

/// The version of certificates.
constexpr int64_t kCertificateVersion = 2;

/// The certificate of a kernel for which `prove` gave the witness.
llvm::json::Object makeCertificate(const Skeleton &skeleton,
                                   int64_t clusterSize,
                                   llvm::json::Object witness);

/// The certificate on one line, without a seal.
std::string toText(const llvm::json::Object &certificate);

/// The certificate as a file has it: with a digest of what it holds, so that a
/// damaged one is recognised, and if `ptx` is given, with a digest of that
/// text.
std::string seal(llvm::json::Object certificate,
                 std::optional<llvm::StringRef> ptx = std::nullopt);

/// The same of what `toText` has made; fails if the text is something else.
llvm::Expected<std::string> seal(llvm::StringRef text, llvm::StringRef ptx);

} // namespace fp8::proof

#endif // FP8_PROOF_CERTIFICATE_H
