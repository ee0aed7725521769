// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The acme dialect, and the pass that takes it to fp8.

#ifndef ACME_H
#define ACME_H

#include "fp8/IR/Fp8.h"

#include "mlir/Pass/Pass.h"

#include <memory>

#include "AcmeDialect.h.inc"

#define GET_OP_CLASSES
#include "AcmeOps.h.inc"

namespace acme {

/// Takes acme.accumulate and acme.skip to fp8 ops, in kernels of phase 1 or 2.
std::unique_ptr<mlir::Pass> createLowerPass();

/// Takes acme.release_late to fp8 ops, in kernels that fp8 has planned.
std::unique_ptr<mlir::Pass> createLowerPlannedPass();

} // namespace acme

#endif // ACME_H
