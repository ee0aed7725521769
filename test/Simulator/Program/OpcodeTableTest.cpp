// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opcodes belong to one family each.

#include "Program/OpcodeTable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace fp8::sim;
using testing::ElementsAre;

static bool decodeOne(Decoder &, Inst &) { return true; }
static bool decodeOther(Decoder &, Inst &) { return false; }

TEST(OpcodeTable, FindsWhatAFamilyAdds) {
  OpcodeTable table;
  table.addFamily("One", [](OpcodeTable &t) { t.add("add", decodeOne); });
  table.addFamily("Other", [](OpcodeTable &t) { t.add("sub", decodeOther); });
  EXPECT_EQ(table.find("add"), decodeOne);
  EXPECT_EQ(table.find("sub"), decodeOther);
  EXPECT_EQ(table.find("mul"), nullptr);
  EXPECT_TRUE(table.conflicts().empty());
}

TEST(OpcodeTable, RefusesAnOpcodeOfTwoFamilies) {
  OpcodeTable table;
  table.addFamily("One", [](OpcodeTable &t) { t.add("add", decodeOne); });
  table.addFamily("Other", [](OpcodeTable &t) { t.add("add", decodeOther); });
  EXPECT_EQ(table.find("add"), decodeOne);
  EXPECT_THAT(
      table.conflicts(),
      ElementsAre(
          "opcode 'add' of family Other is already registered by family One; "
          "let one family decode it and call the other"));
}

TEST(OpcodeTable, RefusesAnOpcodeThatAFamilyAddsTwice) {
  OpcodeTable table;
  table.addFamily("One", [](OpcodeTable &t) {
    t.add("add", decodeOne);
    t.add("add", decodeOther);
  });
  EXPECT_EQ(table.find("add"), decodeOne);
  EXPECT_EQ(table.conflicts().size(), 1u);
}
