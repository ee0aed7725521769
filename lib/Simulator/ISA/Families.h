// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each family of instructions defines: the function that adds its opcodes.

#ifndef FP8_LIB_SIMULATOR_ISA_FAMILIES_H
#define FP8_LIB_SIMULATOR_ISA_FAMILIES_H

#include "Program/OpcodeTable.h"

namespace fp8::sim {

#define FAMILY(folder, name) void add##name##Opcodes(OpcodeTable &table);
#include "ISA/Families.def"
#undef FAMILY

/// The opcodes of all families.
const OpcodeTable &instructionSet();

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_FAMILIES_H
