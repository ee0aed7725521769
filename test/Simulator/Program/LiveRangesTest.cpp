// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where registers are needed, which of them share a place, and programs whose
// numbers would be wrong if others did.

#include "Program/LiveRanges.h"

#include "DecodedKernel.h"

#include <memory>

using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {

class Decoded : public DecodedKernel {
public:
  explicit Decoded(const std::string &body, const std::string &functions = "")
      : DecodedKernel(body, functions), ranges(findLiveRanges(program)) {}

  LiveRange range(const std::string &name) const { return ranges[index(name)]; }
  bool share(const std::string &a, const std::string &b) const {
    return program.places[2 * index(a)] == program.places[2 * index(b)];
  }
  uint32_t end() const { return uint32_t(program.code.size() - 1); }

private:
  std::vector<LiveRange> ranges;

  uint32_t index(const std::string &name) const {
    for (uint32_t n = 0; n < program.registers; n += 2)
      if (program.rowNames[n] == name)
        return n / 2;
    ADD_FAILURE() << "no register " << name;
    return 0;
  }
};

void expectRange(const Decoded &decoded, const std::string &name,
                 uint32_t first, uint32_t last) {
  EXPECT_EQ(decoded.range(name).first, first) << name;
  EXPECT_EQ(decoded.range(name).last, last) << name;
}

} // namespace

TEST(LiveRanges, ReachFromTheWriteToTheLastUse) {
  Decoded d(R"(
  mov.b32 %r0, 1;           // 0
  add.u32 %r1, %r0, 1;
  add.u32 %r2, %r1, %r1;    // 2
  st.global.b32 [0], %r2;
  ret;)");
  expectRange(d, "%r0", 0, 1);
  expectRange(d, "%r1", 1, 2);
  expectRange(d, "%r2", 2, 3);
  EXPECT_TRUE(d.range("%r9").isEmpty());
  EXPECT_TRUE(d.share("%r0", "%r2"));
  EXPECT_FALSE(d.share("%r0", "%r1")); // an instruction has both
}

TEST(LiveRanges, ReachRoundALoop) {
  Decoded d(R"(
  mov.b32 %r0, 1;
  mov.b32 %r1, 2;
LOOP: add.u32 %r2, %r1, %r0;  // 2
  st.global.b32 [0], %r2;
  mov.b32 %r3, 4;
  add.u32 %r1, %r3, 1;        // 5
  setp.lt.u32 %p0, %r1, 9;
  @%p0 bra LOOP;              // 7
  ret;)");
  expectRange(d, "%r0", 0, 7);
  expectRange(d, "%r1", 1, 7);
  expectRange(d, "%r2", 2, 3);
  EXPECT_TRUE(d.share("%r2", "%r3"));
}

TEST(LiveRanges, BeginWithTheCodeIfAPathDoesNotWrite) {
  const std::string tail = "st.global.b32 [0], %r0; ret;";
  expectRange(Decoded("mov.b32 %r1, 2; @%p0 mov.b32 %r0, 1;" + tail), "%r0", 0,
              2);
  expectRange(
      Decoded("mov.b32 %r1, 2; @%p0 bra END; mov.b32 %r0, 1; END:" + tail),
      "%r0", 0, 3);
  expectRange(Decoded("mov.b32 %r1, 2; mov.b32 %r0, 1; END:" + tail), "%r0", 1,
              2);
  expectRange(Decoded("mov.b32 %r1, 2; @%p0 ret; " + tail), "%r0", 0, 2);
  // A load that is wrong writes nothing.
  expectRange(Decoded("mov.b32 %r1, 2; ld.global.b32 %r0, [0];" + tail), "%r0",
              0, 2);
}

TEST(LiveRanges, DoNotReachBehindABranchThatAllTake) {
  const std::string head = "mov.b32 %r0, 1; ",
                    tail = "bra END; st.global.b32 [0], %r0; END: ret;";
  // Nothing leads to the store.
  expectRange(Decoded(head + tail), "%r0", 0, 2);
  expectRange(Decoded("mov.b32 %r1, 1;" + head + tail), "%r0", 1, 3);
  Decoded d(R"(
  T: .branchtargets A, B;
  mov.b32 %r0, 1; mov.b32 %r1, 0;
  brx.idx %r1, T;             // 2
  st.global.b32 [0], %r0;
A: exit;
B: st.global.b32 [0], %r0;    // 5
  ret;)");
  expectRange(d, "%r0", 0, 5);
}

TEST(LiveRanges, ReachFromALoadToItsWait) {
  const std::string wait = "tcgen05.wait::ld.sync.aligned;";
  const std::string body = R"(
  mov.b32 %r0, 0;
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r0];  // 1
  mov.b32 %r2, 3;
  st.global.b32 [0], %r2;
  WAIT
  st.global.b32 [0], 1;
  ret;)";
  Decoded d(replaced(body, "WAIT", wait));
  expectRange(d, "%r1", 1, 4); // nothing reads it
  EXPECT_FALSE(d.share("%r1", "%r2"));
  expectRange(Decoded(replaced(body, "WAIT", "@%p0 " + wait)), "%r1", 1, 6);
  expectRange(Decoded(replaced(body, "WAIT", "")), "%r1", 1, 5);
}

TEST(LiveRanges, AreTheWholeCodeWhereOtherLanesRead) {
  Decoded d(R"(
  mov.b32 %r0, 1;
  mov.b32 %r1, 1;
  shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;
  st.global.b32 [0], %r2;
  ret;)");
  expectRange(d, "%r1", 0, d.end());
  expectRange(d, "%r0", 0, 0);
}

TEST(LiveRanges, AreTheWholeCodeOfProgramsWithCalls) {
  Decoded d("mov.b32 %r0, 1; call f; st.global.b32 [0], %r0; ret;",
            ".func f() { ret; }\n");
  expectRange(d, "%r0", 0, d.end());
}

TEST(LiveRanges, ALaneKeepsWhatOthersReadWhenItIsElsewhere) {
  // Lane 0 waits until the others are behind other registers. Then it reads %r0
  // of lane 1, which does not execute the shuffle: on hardware it gets
  // anything.
  Report report;
  auto out = compute(R"(
  add.u32 %r0, %t, 7;
  setp.ne.u32 %p0, %t, 0; setp.ne.u32 %p1, %t, 31;
  @%p0 bra OTHERS;
SPIN: ld.volatile.global.u32 %r6, [%out+124];
  setp.eq.u32 %p2, %r6, 0;
  @%p2 bra SPIN;
  shfl.sync.idx.b32 %r4, %r0, 1, 31, 1;
  st.global.b32 [%out], %r4;
  bra END;
OTHERS: add.u32 %r1, %t, 1000; add.u32 %r2, %r1, 1; add.u32 %r3, %r2, 1;
  @%p1 bra END;
  st.volatile.global.u32 [%out+124], %r3;
END:)",
                     32, 32, "", &report);
  EXPECT_EQ(out[0], 8u);
}
