// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the values of rows lie in a warp's memory. What is known of a row, such
// as whether it is defined, is kept by its number, and does not depend on this.

#ifndef FP8_LIB_SIMULATOR_PROGRAM_ROWPLACES_H
#define FP8_LIB_SIMULATOR_PROGRAM_ROWPLACES_H

#include "Program/Program.h"

namespace fp8::sim {

/// Gives each row of the decoded program its place.
void placeRows(Program &program);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_PROGRAM_ROWPLACES_H
