// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The launch manifest, OUT.json: everything that a launcher needs.

#ifndef FP8_BACKEND_MANIFEST_H
#define FP8_BACKEND_MANIFEST_H

#include "fp8/Backend/KernelModule.h"
#include <string>

namespace mlir::fp8 {

/// The manifest of `launch`, which launches `kernel` (schema:
/// docs/manifest.schema.json), pretty-printed JSON that ends in a newline; the
/// same IR gives the same bytes.
///
/// The manifest is a symbolic export of the function that contains the launch.
/// That function may contain only sizes computed by arith from memref sizes,
/// strides and device properties, cf.assert (a constraint, whose message is the
/// rule), and gpu.launch_func. Sizes are non-negative, so signed and unsigned
/// forms of an operator are equivalent. An op that a manifest cannot express is
/// an error at the op.
///
/// Attributes read: on the function `fp8.problem` (string); on its arguments
/// `fp8.name` (string, default "arg0", ...) and `fp8.access` ("read", "write",
/// "readwrite", the default, or "constant").
FailureOr<std::string> emitManifest(gpu::LaunchFuncOp launch,
                                    const KernelModule &kernel);

/// The manifest of the only launch of `kernel` in `module`; an error if there
/// is none, or more than one.
FailureOr<std::string> emitManifest(ModuleOp module,
                                    const KernelModule &kernel);

} // namespace mlir::fp8

#endif // FP8_BACKEND_MANIFEST_H
