// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instruction set as a whole.

#include "ISA/Families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace fp8::sim;

TEST(Families, ShareNoOpcode) {
  EXPECT_THAT(instructionSet().conflicts(), testing::IsEmpty());
}

TEST(Families, AddTheirOpcodes) {
#define FAMILY(folder, name)                                                   \
  {                                                                            \
    OpcodeTable table;                                                         \
    table.addFamily(#name, add##name##Opcodes);                                \
    EXPECT_GT(table.size(), 0u) << #name;                                      \
  }
#include "ISA/Families.def"
#undef FAMILY
}
