// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Payloads keep their value and their type.

#include "Program/Program.h"

#include <gtest/gtest.h>

using namespace fp8::sim;

namespace {
struct Pair {
  uint64_t first;
  bool second;
};
struct Other {
  uint64_t first;
};
} // namespace

TEST(Payload, StartsAsZero) {
  Inst inst;
  inst.make<Pair>() = {~uint64_t(0), true};
  EXPECT_EQ(inst.make<Pair>().first, 0u);
  EXPECT_FALSE(inst.get<Pair>().second);
}

TEST(Payload, IsCopiedWithItsInstruction) {
  Inst inst;
  inst.make<Pair>() = {7, true};
  Inst copy = inst;
  inst.make<Other>().first = 8;
  EXPECT_EQ(copy.get<Pair>().first, 7u);
  EXPECT_TRUE(copy.get<Pair>().second);
  EXPECT_EQ(inst.get<Other>().first, 8u);
}

#ifndef NDEBUG
TEST(PayloadDeathTest, IsReadAsWhatItIs) {
  Inst inst;
  inst.make<Pair>();
  EXPECT_DEATH(inst.get<Other>(), "the decoder made another payload");
}
#endif
