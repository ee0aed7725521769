// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Enumerations, interfaces and attributes.

#include "fp8/IR/Fp8.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fp8;

#include "fp8/IR/Fp8Enums.cpp.inc"
#include "fp8/IR/Fp8OpInterfaces.cpp.inc"
#include "fp8/IR/Fp8TypeInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "fp8/IR/Fp8Attrs.cpp.inc"

void Fp8Dialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "fp8/IR/Fp8Attrs.cpp.inc"
      >();
}

LogicalResult GemmConfigAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t tileM, int64_t tileN,
                                     int64_t tileK, int64_t stages, int64_t accumulators, SchedulerKind) {
  if (tileM != 128)
    return emitError() << "tile M must be 128, but got " << tileM;
  if (tileN < 16 || tileN > 256 || tileN % 16)
    return emitError() << "tile N must be a multiple of 16 in 16..256, but got " << tileN;
  if (tileK != 128)
    return emitError() << "tile K must be 128, the depth of a scale block, but got " << tileK;
  if (stages < 0 || accumulators < 0)
    return emitError() << "stages and accumulators must not be negative";
  return success();
}
