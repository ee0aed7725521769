// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records of waits that gave up, in words.
#include "ManifestInputs.h"
#include "fp8/Launch/Manifest.h"

#include <gtest/gtest.h>

using namespace fp8::launch;

namespace {
class WaitRecords : public testing::Test {
protected:
  WaitRecords() {
    auto read = parseManifest(readInput("valid/debug-waits.json"));
    EXPECT_TRUE(read) << read.error();
    table = *read->debugWaits;
  }
  WaitRecord &add(uint32_t warp, uint32_t offset, uint32_t parity = 0) {
    WaitRecord &record = records[count++];
    record.isWritten = 1;
    record.offset = offset;
    record.parity = parity;
    record.warp = warp;
    record.waited = 2010000000;
    return record;
  }
  std::vector<std::string> lines() const { return describe(table, records); }

  WaitTable table;
  WaitRecord records[kWaitRecords] = {};
  unsigned count = 0;
};
using Lines = std::vector<std::string>;
} // namespace

TEST_F(WaitRecords, NoneSayNothing) { EXPECT_EQ(lines(), Lines()); }

TEST_F(WaitRecords, NameRoleRingAndStage) {
  WaitRecord &record = add(4, 1048 + 16, 1);
  record.cta[0] = 3;
  record.cta[2] = 7;
  EXPECT_EQ(lines(),
            (Lines{"role 'load', warp 4 of CTA (3, 0, 7) waited 2.01 s for the "
                   "empty barrier of 'pipeline a, b', stage 2, parity 1; it "
                   "needs 1 arrival of 'mma' (tcgen05.commit)"}));
}

TEST_F(WaitRecords, NameTheBytesThatMustCome) {
  table.barriers[0].arrivals[0].count = 2;
  add(5, 1024);
  EXPECT_EQ(lines(),
            (Lines{"role 'mma', warp 5 of CTA (0, 0, 0) waited 2.01 s for the "
                   "full barrier of 'pipeline a, b', stage 0, parity 0; it "
                   "needs 2 arrivals of 'load' (one thread) and 32768 bytes"}));
}

TEST_F(WaitRecords, ThoseAlikeAreOneLine) {
  add(5, 1024 + 8);
  add(4, 1048);
  for (uint32_t cta = 1; cta < 4; ++cta)
    add(5, 1024 + 16).cta[0] = cta;
  Lines said = lines();
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0].substr(0, said[0].find(';')),
            "role 'mma', warp 5 of CTA (0, 0, 0) and 3 more warps like it "
            "waited 2.01 s for the full barrier of 'pipeline a, b', stage 1, "
            "parity 0");
  EXPECT_EQ(said[1].substr(0, 13), "role 'load', ");
}

TEST_F(WaitRecords, WhatTheTableDoesNotHave) {
  add(9, 1024 + 48, 1);
  add(9, 1000, 1);
  EXPECT_EQ(lines(),
            (Lines{"warp 9 of CTA (0, 0, 0) waited 2.01 s for the mbarrier at "
                   "shared memory offset 1072, parity 1",
                   "warp 9 of CTA (0, 0, 0) waited 2.01 s for the mbarrier at "
                   "shared memory offset 1000, parity 1"}));
}

TEST_F(WaitRecords, HalfWrittenOnesAreLeftOut) {
  add(4, 1048).isWritten = 0;
  add(5, 1024);
  EXPECT_EQ(lines().size(), 1u);
}
