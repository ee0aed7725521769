// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The description of the GEMM, as those read it who are not C++.
#include "fp8-c/Gemm.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using nlohmann::json;

extern "C" const char *fp8ElementTypesFromC(void);

TEST(CGemm, ListsOperandsInTheOpsOrder) {
  std::string names;
  for (const json &operand : json::parse(fp8GemmOperands(128)))
    names += operand["name"].get<std::string>() + " ";
  EXPECT_EQ(names, "a a_scale b b_scale c beta bias d d_scale ");
}

TEST(CGemm, DescribesAnOperand) {
  EXPECT_EQ(json::parse(fp8GemmOperands(128))[1], json::parse(R"({
    "name": "a_scale", "dtypes": ["f32", "bf16"],
    "rows": {"axis": "K", "block": 128}, "columns": {"axis": "M", "block": 1},
    "optional": false, "batched": true, "by_tma": true, "written": false,
    "rule": "G2"})"));
}

TEST(CGemm, ScalesOfBFollowTheirBlock) {
  auto rows = [](int64_t block) {
    return json::parse(fp8GemmOperands(block))[3]["rows"];
  };
  EXPECT_EQ(rows(128), json::parse(R"({"axis": "N", "block": 128})"));
  EXPECT_EQ(rows(64), json::parse(R"({"axis": "N", "block": 64})"));
  EXPECT_EQ(rows(1), json::parse(R"({"axis": "K", "block": 128})"));
  EXPECT_EQ(fp8GemmOperands(32), nullptr);
}

TEST(CGemm, ScalesOfMxLieInTiles) {
  json operands = json::parse(fp8GemmMxOperands());
  EXPECT_EQ(operands[1], json::parse(R"({
    "name": "a_scale", "dtypes": ["f8E8M0FNU"], "rows": {"axis": "M", "block": 128},
    "columns": {"axis": "K", "block": 128}, "optional": false, "batched": true,
    "by_tma": true, "written": false, "rule": "G11", "tile": [32, 16]})"));
  EXPECT_EQ(operands[3]["rows"]["axis"], "N");
  EXPECT_FALSE(operands[0].contains("tile"));
}

TEST(CGemm, DescribesElementTypes) {
  json types = json::parse(fp8ElementTypesFromC());
  ASSERT_EQ(types.size(), 6u) << "floating-point types alone";
  EXPECT_EQ(types[2], json::parse(R"({
    "dtype": "bf16", "name": "bfloat16", "bytes": 2, "exponent_bits": 8,
    "mantissa_bits": 7, "has_infinity": true, "saturates": false,
    "largest": 3.3895313892515355e38,
    "floors": {"float32": 2e-4, "fourteen_bits": 1e-3, "tanh": 1.4e-3}})"));
  EXPECT_EQ(types[5]["dtype"], "f64");
  EXPECT_TRUE(types[5]["floors"].is_null()) << "D is no f64";
  EXPECT_EQ(fp8MagnitudeShare(), 0x1p-11);
}
