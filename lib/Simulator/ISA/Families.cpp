// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instruction set: all families in one table.

#include "ISA/Families.h"

#include <string_view>

using namespace fp8::sim;

/// The folder of the families that compute.
static constexpr std::string_view kComputing = "Alu";

const OpcodeTable &fp8::sim::instructionSet() {
  static const OpcodeTable table = [] {
    OpcodeTable t;
#define FAMILY(folder, name)                                                   \
  t.addFamily(#name, add##name##Opcodes, #folder == kComputing);
#include "ISA/Families.def"
#undef FAMILY
    return t;
  }();
  return table;
}
