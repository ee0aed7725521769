// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The launch manifest, OUT.json: all that a launcher needs to know.

#ifndef FP8_BACKEND_MANIFEST_H
#define FP8_BACKEND_MANIFEST_H

#include "fp8/Backend/KernelModule.h"
#include <string>

namespace mlir::fp8 {

/// The manifest of `launch`, which launches `kernel` (schema:
/// docs/manifest.schema.json), pretty-printed JSON that ends in a newline; the
/// same IR gives the same bytes.
///
/// It is the symbolic export of the function that the launch is in. That
/// function may do nothing else: sizes computed by arith from memref sizes,
/// strides and device properties, cf.assert (a constraint, its message the
/// rule), and gpu.launch_func. Sizes are non-negative, so signed and unsigned
/// forms of an operator mean the same. Whatever a manifest cannot express is an
/// error at its op.
///
/// Attributes read: on the function `fp8.problem` (string); on its arguments
/// `fp8.name` (string, default "arg0", ...) and `fp8.access` ("read", "write"
/// or "readwrite", the default).
FailureOr<std::string> emitManifest(gpu::LaunchFuncOp launch,
                                    const KernelModule &kernel);

/// The same of the one launch of `kernel` in `module`; an error if there are
/// none or several.
FailureOr<std::string> emitManifest(ModuleOp module,
                                    const KernelModule &kernel);

} // namespace mlir::fp8

#endif // FP8_BACKEND_MANIFEST_H
