// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The generated definitions of the ops; each family's own code is in the file
// of its name.

#include "BindingRegion.h"

using namespace mlir;
using namespace mlir::fp8;

#define GET_OP_CLASSES
#include "fp8/IR/Fp8Ops.cpp.inc"
