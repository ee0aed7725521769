// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instruction set: all families in one table.

#include "ISA/Families.h"

using namespace fp8::sim;

const OpcodeTable &fp8::sim::instructionSet() {
  static const OpcodeTable table = [] {
    OpcodeTable t;
#define FAMILY(folder, name) t.addFamily(#name, add##name##Opcodes);
#include "ISA/Families.def"
#undef FAMILY
    return t;
  }();
  return table;
}
