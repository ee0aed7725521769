// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The file of a pass that prints something beside the module.

#ifndef FP8_LIB_TRANSFORMS_OUTPUTFILE_H
#define FP8_LIB_TRANSFORMS_OUTPUTFILE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::fp8 {

/// Writes a file, or with the name "-" to standard output, all or nothing; an
/// error that names `pass` and the reason if it cannot be written.
LogicalResult writeOutput(ModuleOp module, StringRef pass, StringRef output,
                          function_ref<void(raw_ostream &)> print);

} // namespace mlir::fp8

#endif // FP8_LIB_TRANSFORMS_OUTPUTFILE_H
