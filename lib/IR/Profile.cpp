// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops and attributes of profiled kernels.

#include "fp8/IR/Profile.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::fp8;

#define GET_OP_CLASSES
#include "fp8/IR/Profile.cpp.inc"
