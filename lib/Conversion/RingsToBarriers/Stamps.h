// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stamps of profiled kernels, where rings become barriers.

#ifndef FP8_LIB_CONVERSION_RINGSTOBARRIERS_STAMPS_H
#define FP8_LIB_CONVERSION_RINGSTOBARRIERS_STAMPS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::fp8 {

/// Where the stamps lie, by the `fp8.profile` of the module, and what they
/// mean: names of roles, rings and barriers, for the launch manifest. Rings are
/// not lowered yet.
DictionaryAttr makeProfileTable(FunctionOpInterface kernel,
                                DictionaryAttr profile);

/// Has the roles of a kernel whose rings are barriers write stamps.
void insertStamps(FunctionOpInterface kernel);

} // namespace mlir::fp8

#endif // FP8_LIB_CONVERSION_RINGSTOBARRIERS_STAMPS_H
