// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of the GEMM's operands.
#include "fp8/Gemm/Operands.h"

#include <gtest/gtest.h>
#include <set>

using namespace fp8::gemm;

TEST(Operands, RowsAreInTheOrderOfTheEnum) {
  unsigned index = 0;
  std::set<std::string_view> names;
  for (const OperandInfo &info : getOperands()) {
    EXPECT_EQ(static_cast<unsigned>(info.operand), index++) << info.name;
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
  }
}

TEST(Operands, ScalesOfBFollowTheirBlock) {
  OperandInfo blocks = getOperand(Operand::BScale, {64});
  EXPECT_EQ(blocks.rows.str(), "ceil(N/64)");
  EXPECT_EQ(blocks.columns.str(), "ceil(K/128)");
  EXPECT_FALSE(blocks.byTma);
  OperandInfo columns = getOperand(Operand::BScale, {1});
  EXPECT_EQ(columns.rows.str(), "ceil(K/128)");
  EXPECT_EQ(columns.columns.str(), "N");
  EXPECT_TRUE(columns.byTma);
}

TEST(Operands, ScalesOfMxLieInTiles) {
  for (auto [operand, rows] : {std::pair(Operand::AScale, "ceil(M/128)"),
                               std::pair(Operand::BScale, "ceil(N/128)")}) {
    OperandInfo info = getOperand(operand, Scaling::mx());
    EXPECT_EQ(info.rows.str(), rows);
    EXPECT_EQ(info.columns.str(), "ceil(K/128)");
    EXPECT_EQ(info.getRank(), 4);
    EXPECT_TRUE(info.byTma);
  }
  EXPECT_EQ(getOperand(Operand::A, Scaling::mx()).getRank(), 2);
}

TEST(Operands, ExtentsReadAsFormulas) {
  EXPECT_EQ(getOperand(Operand::D).rows.str(), "M");
  EXPECT_EQ(getOperand(Operand::Bias).rows.str(), "1");
  EXPECT_TRUE(getOperand(Operand::Beta).isNumber());
  EXPECT_FALSE(getOperand(Operand::Bias).isNumber());
}
