// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In which order lanes that have parted go on in a trace.

#include "Program/FlowOrder.h"

#include "Kernels.h"
#include "Program/Program.h"

using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {

/// Instructions of which some branch; `guard` lets lanes fall through.
struct Flow {
  explicit Flow(uint32_t size) { program.code.resize(size); }
  Flow &branch(uint32_t from, uint32_t to, bool guarded) {
    Inst &inst = program.code[from];
    inst.leaves = true;
    inst.guard = guarded ? 0 : -1;
    inst.targets = {uint32_t(program.lists.size()), 1};
    program.lists.push_back(to);
    return *this;
  }
  Program program;
};

TEST(FlowOrder, ABlockFarAwayIsInFrontOfWhatItGoesBackTo) {
  Flow flow(6);
  flow.branch(1, 4, true).branch(3, 3, false).branch(5, 2, false);
  EXPECT_EQ(flowOrder(flow.program), (std::vector<uint32_t>{0, 1, 4, 5, 2, 3}));
}

TEST(FlowOrder, AnExitIsBehindItsLoop) {
  Flow flow(5);
  flow.branch(1, 4, true).branch(3, 1, false);
  EXPECT_EQ(flowOrder(flow.program), (std::vector<uint32_t>{0, 1, 2, 3, 4}));
}

/// Instructions that a warp executes in a trace of a loop of eight rounds,
/// whose first instruction is `branch`, with `far` behind the code.
void expectInstructions(uint64_t count, const std::string &branch,
                        const std::string &far) {
  Device device;
  Options options;
  LaunchConfig config;
  config.block = {32, 1, 1};
  const std::string text = kernel("", R"(
  .reg .pred %p<2>; .reg .b32 %r<3>;
  mov.u32 %r0, %tid.x;
  setp.eq.u32 %p0, %r0, 0;
  mov.b32 %r1, 0;
LOOP:
)" + branch + R"(
BACK:
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p1, %r1, 8;
  @%p1 bra LOOP;
  ret;
)" + far,
                                  "sm_90a");
  options.timing = true;
  for (options.scheduleSeed = 0; options.scheduleSeed < 16;
       ++options.scheduleSeed) {
    Report report = run(device, text, {}, config, options);
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report.statistics.warpInstructions, count)
        << "seed " << options.scheduleSeed;
  }
}

TEST(FlowOrder, LanesOfATraceMeetBehindABranch) {
  expectInstructions(3 + 8 * 5 + 1, "@!%p0 bra BACK; add.u32 %r2, %r1, 1;", "");
}

TEST(FlowOrder, LanesOfATraceMeetBehindABlockFarAway) {
  expectInstructions(3 + 8 * 6 + 1, "@%p0 bra FAR;",
                     "FAR: add.u32 %r2, %r1, 1; bra BACK;");
}

} // namespace
